// Several orgs on one server: signing up, changing between them, and what a page of one shows of another.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { svc, svcd } from "../demo/server.mjs";
import { goTo, useWorld, walkTo } from "./world.mjs";

const world = useWorld({ flags: ["--sign-up", "invite"] });

/** The link of svcd org invite. */
function invite(address) {
  const said = execFileSync(svcd, ["org", "invite", address, "--database", world.server.database, "--public-url", world.url], { encoding: "utf8" });
  return /http\S+#\S+/.exec(said)[0];
}

/** Makes Ana's second org, once. */
let second;
const southwind = () =>
  (second ??= (async () => {
    const page = await world.page("ana", null);
    await page.goto(invite("ana@northwind.example"));
    await page.getByRole("heading", { name: "You have an account here" }).waitFor();
    await page.getByRole("link", { name: "Go on" }).click();
    await page.getByLabel("Name of the org").fill("Southwind");
    await page.getByRole("button", { name: "Make the org" }).click();
    await page.getByRole("button", { name: "Org Southwind, menu" }).waitFor();
    return page;
  })());

test("somebody with a link makes an account and its org", async () => {
  const page = await (await world.profile(null)).newPage();
  await page.goto(invite("zoe@example.com"));
  await page.getByLabel("Name of the org").fill("Zoe & Co");
  await page.getByLabel("Your name").fill("Zoe");
  await page.getByLabel("Password").first().fill("a long enough one");
  await page.getByRole("button", { name: "Make the org" }).click();
  await page.getByRole("button", { name: "Org Zoe & Co, menu" }).waitFor();
});

test("a link begins its page anew where that is open already", async () => {
  const page = await (await world.profile(null)).newPage();
  await page.goto(`${world.url}/sign-up`);
  await page.getByRole("heading", { name: "Make your org" }).waitFor();
  await page.goto(invite("yan@example.com"));
  await page.getByLabel("Name of the org").fill("Yan & Co");
  await page.goto(invite("yuri@example.com")); // what was written for the one is not the other's
  await page.locator('input[value="yuri@example.com"]').waitFor();
  assert.equal(await page.getByLabel("Name of the org").inputValue(), "");
});

test("no page of one org shows anything of another", async () => {
  const page = await southwind();
  const { clients } = world;
  const [repos, intents, members] = await Promise.all(["/v1/repos?limit=100", "/v1/intents?limit=100", "/v1/members?limit=100"].map(async (path) => (await clients.ana.get(path)).items));
  const theirs = [...repos.map((r) => r.full_name), ...intents.map((i) => i.title), ...members.filter((m) => m.email !== "ana@northwind.example").map((m) => m.email)];
  assert.ok(theirs.length > 10, "the demo has little to show");
  const [conflict, session, project, thread] = await Promise.all(
    ["/v1/conflicts?limit=1", "/v1/sessions?limit=1", "/v1/projects?limit=1", "/v1/conversations?limit=1"].map(async (path) => (await clients.ana.get(path)).items[0]),
  );
  const tabs = ["profile", "members", "tokens", "policies", "data", "audit", "webhooks", "github", "slack", "digest", "mail", "billing"];
  const repo = repos[0].full_name;
  const paths = [
    ...["/", "/?view=lanes", "/?view=territory", "/intents", "/conflicts", "/messages", "/history?q=session", "/activity", "/value", "/stats", "/play", "/repos"],
    ...[`/intents/${intents[0].ref}`, `/conflicts/${conflict.ref}`, `/messages/${thread.id}`, `/agents/${session.id}`, `/people/${members[1].id}`, `/repos/${repo}`, `/projects/${project.id}`],
    ...[`/contracts?repo=${encodeURIComponent(repo)}&key=${encodeURIComponent("http:GET /v2/orders/{id}")}`, `/file?repo=${encodeURIComponent(repo)}&path=src/orders.ts`],
    ...tabs.map((t) => `/settings/${t}`),
  ];
  const [, signedIn] = readFileSync(new URL("../src/App.tsx", import.meta.url), "utf8").split("function SignedIn()");
  for (const [, route] of signedIn.matchAll(/<Route path="([^"]+)"/g)) {
    const page = new RegExp(`^${route.replace(/\/:\w+\?/g, "(/[^/?]+)?").replace(/:\w+/g, "[^/?]+")}(\\?|$)`);
    assert.ok(route === "/settings" || paths.some((p) => page.test(p)), `no page ${route} is walked`);
  }
  await goTo(page, world.url);
  for (const path of paths) {
    await walkTo(page, path);
    const text = (await page.locator("main").innerText()).replaceAll(path.includes("repo") ? repo : "\0", ""); // what was asked for
    for (const mark of theirs) assert.ok(!text.includes(mark), `${path} shows ${mark} of Northwind:\n${text}`);
  }
  world.forgive(/404|Not Found/);
  // She changes, and sees the other.
  await goTo(page, `${world.url}/`);
  await page.getByRole("button", { name: "Org Southwind, menu" }).click();
  await page.getByRole("menuitem", { name: /Northwind/ }).click();
  await page.getByRole("button", { name: "Org Northwind, menu" }).waitFor();
  await goTo(page, `${world.url}/repos`);
  await page.getByText(repos[0].full_name).first().waitFor();
});

/** Runs svc login and approves it; returns what it says. */
async function login(page, args, choose) {
  const home = mkdtempSync(join(tmpdir(), "svc-login-"));
  const env = { PATH: process.env.PATH, HOME: home, SVC_CONFIG_DIR: join(home, "config"), SVC_NO_BROWSER: "1", SVC_NO_UPDATE_CHECK: "1" };
  const child = spawn(svc, ["login", "--server", world.url, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  try {
    const ended = new Promise((resolve) => child.on("close", resolve));
    const code = await new Promise((resolve, reject) => {
      let err = "";
      child.on("close", () => reject(new Error(`svc login ended: ${err}`)));
      child.stderr.on("data", (b) => {
        err += b;
        if (/Waiting for approval/.test(err)) resolve(/Type\s+(\S+)/.exec(err)[1]);
      });
      child.stdout.on("data", (b) => (out += b));
    });
    await goTo(page, `${world.url}/device`);
    await page.getByLabel("Code").fill(code);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Connect this device?" }).waitFor();
    await choose();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "Device connected" }).waitFor();
    await ended;
  } finally {
    child.kill();
    rmSync(home, { recursive: true, force: true });
  }
  return out;
}

test("svc login is of the org that it asks for, or that the person chooses", async () => {
  const page = await southwind();
  const asked = await login(page, ["--org", "southwind"], () => page.getByText("It will act as you, ana@northwind.example, in Southwind.").waitFor());
  assert.match(asked, /as ana@northwind\.example, Southwind \(owner\)/);
  const chosen = await login(page, [], () => page.getByLabel("In which org").selectOption("Northwind"));
  assert.match(chosen, /as ana@northwind\.example, Northwind \(owner\)/);
});
