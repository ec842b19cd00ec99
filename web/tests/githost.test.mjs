// Making the GitHub app, connecting GitLab and buying a plan, against servers
// that stand in for GitHub and Stripe.
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { seedPeople } from "../demo/seed.mjs";
import { dialog, goTo, settled, useWorld } from "./world.mjs";

const text = async (request) => {
  let all = "";
  for await (const part of request) all += part;
  return all;
};

// GitHub: takes a manifest as a browser posts it, and hands over the app.
const pem = generateKeyPairSync("rsa", { modulusLength: 2048, privateKeyEncoding: { type: "pkcs1", format: "pem" }, publicKeyEncoding: { type: "pkcs1", format: "pem" } }).privateKey;
let manifest;
let subscriptions = [];
const price = (id, interval, unit_amount) => ({ id, object: "price", active: true, type: "recurring", billing_scheme: "per_unit", currency: "usd", created: 1, unit_amount, unit_amount_decimal: String(unit_amount), metadata: id.endsWith("year") ? { svc_plan: "team" } : {}, recurring: { interval, interval_count: 1, usage_type: "licensed" } });
const prices = [price("price_team", "month", 2000), price("price_team_year", "year", 20000), price("price_business", "month", 9950)];
const there = createServer(async (request, response) => {
  const url = new URL(request.url, "http://there");
  const body = await text(request);
  const json = (value) => response.setHeader("Content-Type", "application/json").end(JSON.stringify(value));
  if (url.pathname === "/settings/apps/new") {
    manifest = JSON.parse(new URLSearchParams(body).get("manifest"));
    response.writeHead(302, { Location: `${manifest.redirect_url}?code=abc&state=${encodeURIComponent(url.searchParams.get("state"))}` }).end();
  } else if (url.pathname === "/api/v3/app-manifests/abc/conversions") {
    json({ id: 7, slug: "svc-northwind", name: "svc northwind", owner: { login: "northwind" }, html_url: here() + "/github-apps/svc-northwind", pem, webhook_secret: "hush", client_id: "x", client_secret: "y" });
  } else if (url.pathname === "/lab/api/v4/personal_access_tokens/self") {
    response.statusCode = request.headers["private-token"] === "glpat-good-good" ? 200 : 401;
    json({ name: "svc", active: true, scopes: ["api"], expires_at: "2027-03-01" });
  } else if (url.pathname === "/v1/customers") json({ id: "cus_1", object: "customer" });
  else if (url.pathname === "/v1/checkout/sessions") json({ id: "cs_1", object: "checkout.session", url: here() + "/pay" });
  else if (url.pathname === "/v1/billing_portal/sessions") json({ id: "bps_1", object: "billing_portal.session", url: here() + "/portal" });
  else if (url.pathname === "/v1/prices") json({ object: "list", data: prices, has_more: false, url: "/v1/prices" });
  else if (url.pathname === "/v1/subscriptions") json({ object: "list", data: subscriptions, has_more: false, url: "/v1/subscriptions" });
  else response.setHeader("Content-Type", "text/html").end(`<!doctype html><html lang="en"><head><link rel="icon" href="data:,"><title>${url.pathname}</title></head><body><h1>${url.pathname}</h1></body></html>`);
});
const here = () => `http://127.0.0.1:${there.address().port}`;
after(() => (there.close(), there.closeAllConnections()));

const flags = async () => {
  await new Promise((ready) => there.listen(0, "127.0.0.1", ready));
  return ["--outbound-allow", "127.0.0.0/8", "--github-url", here(), "--stripe-key", "sk_test_1", "--stripe-webhook-secret", "whsec_x", "--stripe-price-team", "price_team", "--stripe-price-business", "price_business", "--stripe-url", here()];
};
const world = useWorld({ demo: seedPeople, flags }); // the whole demo has more repos than the free plan

test("the GitHub app is made by going to GitHub and back", async () => {
  const page = await world.page("ana", "/settings/github");
  await page.getByRole("link", { name: "Make the app" }).click();
  await page.getByRole("heading", { name: "Make the GitHub app" }).waitFor();
  await page.getByRole("button", { name: /Go on to/ }).click();
  await page.getByText("The app is made.").waitFor();
  await page.getByText("svc northwind").waitFor();
  await settled(page);
  assert.equal(await page.getByRole("link", { name: "Install on repos" }).getAttribute("href"), here() + "/github-apps/svc-northwind/installations/new");
  assert.equal(manifest.hook_attributes.url, world.url + "/v1/github/webhook");

  // It is installed, which GitHub tells and the page shows by itself.
  const now = new Date().toISOString();
  const body = JSON.stringify({ action: "created", installation: { id: 77, app_id: 7, account: { login: "northwind" }, repository_selection: "selected", created_at: now, updated_at: now }, repositories: [{ full_name: "northwind/shop-api" }, { full_name: "northwind/shop-web" }] });
  const headers = { "Content-Type": "application/json", "X-GitHub-Event": "installation", "X-GitHub-Delivery": "d1", "X-Hub-Signature-256": "sha256=" + createHmac("sha256", "hush").update(body).digest("hex") };
  assert.equal((await fetch(world.url + "/v1/github/webhook", { method: "POST", headers, body })).status, 200);
  await page.getByText("Installed on northwind").waitFor();
  await page.getByText("2 repos").waitFor();
  await page.getByRole("link", { name: "Install on more repos" }).waitFor();
});

test("what fails on the way to GitHub and back is a page that leads on", async () => {
  const page = await world.page("ana", null);
  assert.equal((await page.goto(world.url + "/v1/github/app/callback?code=abc&state=forged")).status(), 403);
  await page.getByRole("heading", { name: "The GitHub app was not made" }).waitFor();
  await page.getByRole("link", { name: "Back to the settings" }).click();
  await page.getByText("svc northwind").waitFor();
});

test("the GitHub app is forgotten", async () => {
  const page = await world.page("ana", "/settings/github");
  await page.getByRole("button", { name: "Forget" }).click();
  await dialog(page).getByText("On GitHub the app stays").waitFor();
  await dialog(page).getByRole("button", { name: "Forget the app" }).click();
  await page.getByText("No GitHub app yet").waitFor();
  assert.equal(await page.getByText("Installed on").count(), 0);
});

test("GitLab is connected, its secret shown once, and disconnected", async () => {
  const page = await world.page("ana", "/settings/github");
  await page.getByRole("button", { name: "Connect GitLab" }).click();
  const secret = await page.getByText(/^whsec_/).textContent();
  const address = await page.getByText("/v1/gitlab/webhook?hook=").textContent();
  const sent = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json", "X-Gitlab-Token": secret }, body: '{"object_kind":"note"}' });
  assert.equal(sent.status, 200);
  await page.reload();
  await page.getByText("last heard of").waitFor();
  assert.equal(await page.getByText(/^whsec_/).count(), 0);

  // A token lets svc write there, if GitLab takes it.
  await page.getByRole("button", { name: "Add a token" }).click();
  await dialog(page).getByRole("textbox", { name: "GitLab" }).fill(here() + "/lab");
  await dialog(page).getByLabel("Token").fill("glpat-wrong-wrong");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).getByText("GitLab does not take it").waitFor();
  await dialog(page).getByLabel("Token").fill("glpat-good-good");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByText("good until").waitFor();
  await page.getByRole("button", { name: "Forget" }).click();
  await dialog(page).getByRole("button", { name: "Forget it" }).click();
  await page.getByRole("button", { name: "Add a token" }).waitFor();

  await page.getByRole("button", { name: "Disconnect" }).click();
  await dialog(page).getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("button", { name: "Connect GitLab" }).waitFor();
});

test("a plan is bought and then managed", async () => {
  const page = await world.page("ana", "/settings/billing");
  await page.getByText("250 active developers a month, 250 repos").waitFor();
  await page.getByText("$20 a month, or $200 a year").waitFor();
  await page.getByText("$99.50 a month").waitFor();
  await page.getByRole("button", { name: "Upgrade to Team, yearly" }).click();
  await page.getByRole("heading", { name: "/pay" }).waitFor();

  subscriptions = [{ id: "sub_1", object: "subscription", status: "active", created: 1, items: { object: "list", data: [{ id: "si", price: prices[1], quantity: 1, current_period_end: 1800000000 }] } }];
  const body = JSON.stringify({ id: "evt_1", object: "event", type: "customer.subscription.created", created: 1, data: { object: { id: "sub_1", customer: "cus_1" } } });
  const now = Math.floor(Date.now() / 1000);
  const signature = `t=${now},v1=${createHmac("sha256", "whsec_x").update(`${now}.${body}`).digest("hex")}`;
  await goTo(page, world.url + "/settings/billing");
  assert.equal((await fetch(world.url + "/v1/billing/webhook", { method: "POST", headers: { "Content-Type": "application/json", "Stripe-Signature": signature }, body })).status, 200);
  await page.getByText("renewed on").waitFor(); // the page hears of it by itself
  await page.getByText("of 25").first().waitFor();
  await page.getByText("$200 a year").waitFor();
  await page.getByRole("button", { name: "Plan, invoices and tax" }).click();
  await page.getByRole("heading", { name: "/portal" }).waitFor();
});
