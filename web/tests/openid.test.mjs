// Signing in through an OpenID provider that others wrote (oidc-provider, a
// certified one), with thin tokens, as it makes them by itself (the address is
// in userinfo alone), and with fat ones.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import Provider from "oidc-provider";
import { useWorld } from "./world.mjs";

const http = createServer();
let issuer;
const knows = { email: "", email_verified: true, name: "Chen of the provider" };

const world = useWorld({
  flags: async () => {
    await new Promise((up) => http.listen(0, "127.0.0.1", up));
    issuer = `http://127.0.0.1:${http.address().port}`;
    return ["--oidc-issuer", issuer, "--oidc-client-id", "svc", "--oidc-client-secret", "hush-hush-hush", "--oidc-name", "Acme ID"];
  },
});
/** Starts the provider, once it is known where svcd is. */
function serve(more) {
  http.removeAllListeners("request");
  const provider = new Provider(issuer, {
    ...more,
    clients: [{ client_id: "svc", client_secret: "hush-hush-hush", redirect_uris: [`${world.url}/v1/auth/oidc/callback`], post_logout_redirect_uris: [`${world.url}/sign-in?out=1`] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...knows }) }),
    cookies: { keys: ["of the test"] },
  });
  http.on("request", provider.callback());
}
after(() => http.close());

/** Answers what the provider asks: who one is, and whether svc may know. */
async function atProvider(page, login) {
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=password]").fill("anything");
  await page.locator("button[type=submit]").click();
  await page.getByText("Authorize").first().waitFor();
  await page.locator("button[type=submit]").click();
}

test("a thin token signs in by userinfo, the name follows, and sign-out reaches the provider", async () => {
  serve();
  const members = async () => (await world.clients.ana.get("/v1/members")).items;
  const chen = (await members()).find((m) => m.name.startsWith("Chen"));
  knows.email = chen.email;
  const page = await world.pageOf(await world.profile(null));
  await page.goto(`${world.url}/sign-in`);
  await page.getByRole("link", { name: "Continue with Acme ID" }).click();
  await atProvider(page, "chen-at-provider");
  await page.waitForURL(`${world.url}/`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  assert.equal((await members()).find((m) => m.id === chen.id).name, knows.name);

  await page.goto(`${world.url}/sign-in?out=1`);
  assert.match(await page.getByRole("link", { name: "Continue with Acme ID" }).getAttribute("href"), /choose=true/);
  await page.getByRole("link", { name: "Sign out of Acme ID, too" }).click();
  await page.waitForURL(/\/session\/end/);
  world.forgive(/NAME_NOT_RESOLVED|INTERNET_DISCONNECTED/); // its pages want a font of the web
});

test("a fat token signs in by itself", async () => {
  serve({ conformIdTokenClaims: false, features: { userinfo: { enabled: false } } });
  const members = async () => (await world.clients.ana.get("/v1/members")).items;
  const ben = (await members()).find((m) => m.name.startsWith("Ben"));
  Object.assign(knows, { email: ben.email, name: "Ben of the provider" });
  const page = await world.pageOf(await world.profile(null));
  await page.goto(`${world.url}/sign-in`);
  await page.getByRole("link", { name: "Continue with Acme ID" }).click();
  await atProvider(page, "ben-at-provider");
  await page.waitForURL(`${world.url}/`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  assert.equal((await members()).find((m) => m.id === ben.id).name, knows.name);
  world.forgive(/NAME_NOT_RESOLVED|INTERNET_DISCONNECTED/); // its pages want a font of the web
});
