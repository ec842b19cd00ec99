// Every page shows for everybody who may see it, and what holds on all of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { places } from "./places.mjs";
import { choose, goTo, useWorld, walkTo } from "./world.mjs";

const world = useWorld();

test("every page opens", async () => {
  const page = await world.page("ana", "/");
  for (const [name, path] of Object.entries(places(world))) {
    await walkTo(page, path);
    assert.equal(await page.getByText(/That did not load|hit a bug/).count(), 0, name);
  }
});

test("a page opens by its address", async () => {
  const page = await world.page("ben", null);
  for (const name of ["intent", "conflict", "contract", "settings members", "a page that is not there"]) {
    await goTo(page, world.url + places(world)[name]);
    assert.equal(await page.getByText(/That did not load|hit a bug/).count(), 0, name);
  }
});

test("pages that a viewer may not change offer no actions", async () => {
  const page = await world.page("elif", "/settings/members");
  await page.getByText("ana@northwind.example").waitFor();
  assert.equal(await page.getByRole("button", { name: "Invite" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Remove" }).count(), 0);
  await goTo(page, `${world.url}/intents/${world.agents.session.intent.ref}`);
  assert.equal(await page.getByRole("button", { name: "Hand off" }).count(), 0);
});

test("what people write never becomes HTML", async () => {
  const evil = '<img src=x onerror="document.title=\'owned\'"> <script>document.title="owned"</script>';
  const { intent } = await world.tokens.ana.post("/v1/intents", { title: evil, summary: evil, plan_md: evil + "\n```\n" + evil + "\n```", repo: "northwind/shop-api", branch: "evil", scope: { paths: ["evil/**"] }, external_ref: { kind: "x", url: "javascript:document.title='owned'" } }).catch(() => world.tokens.ana.post("/v1/intents", { title: evil, summary: evil, repo: "northwind/shop-api", branch: "evil", scope: { paths: ["evil/**"] } }));
  const page = await world.page("ana", `/intents/${intent.ref}`);
  await page.getByRole("heading", { name: evil }).waitFor();
  assert.equal(await page.locator("img[src=x]").count(), 0);
  assert.equal(await page.locator("a[href^=javascript]").count(), 0);
  assert.doesNotMatch(await page.title(), /^owned/);
  await goTo(page, world.url + "/intents");
  await page.getByText(evil).first().waitFor();
});

test("filters live in the address and can be shared", async () => {
  const page = await world.page("ana", "/intents");
  await page.getByRole("combobox", { name: "Repo" }).click();
  await page.getByRole("option", { name: "northwind/payments" }).click();
  await page.waitForURL(/repo=northwind%2Fpayments/);
  const rows = page.locator(".work-row");
  await page.waitForFunction(() => document.querySelectorAll(".work-row").length === 1);
  const shared = await world.page("ben", new URL(page.url()).pathname + new URL(page.url()).search);
  await shared.getByText("Split the ledger by currency").waitFor();
  assert.equal(await rows.count(), 1);
});

test("what answers the question before is not shown as the answer", async () => {
  const { session, refresh } = world.agents;
  const page = await world.page("ana", `/intents/${session.intent.ref}`);
  const hold = async (url) => {
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route(url, async (route) => (await held, route.continue()));
    return answer;
  };
  const record = await hold(`**/v1/intents/${refresh.intent.ref}`);
  await page.evaluate((to) => history.pushState(null, "", to), `/intents/${refresh.intent.ref}`);
  await page.getByRole("heading", { name: session.intent.title }).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: refresh.intent.ref }).waitFor();
  record();
  await page.getByRole("heading", { name: refresh.intent.title }).waitFor();

  await goTo(page, world.url + "/intents");
  const list = await hold("**/v1/intents?*repo=*");
  await choose(page, page.getByRole("combobox", { name: "Repo" }), "northwind/payments");
  await page.locator("section[aria-busy=true]").waitFor();
  list();
  await page.locator("section[aria-busy=true]").waitFor({ state: "detached" });
  await page.unrouteAll();
});

test("what the API does not have is never answered with a page", async () => {
  for (const path of ["/v1/nope", "/.well-known/nope", "/nope", "/assets/nope.js"]) {
    const res = await fetch(world.url + path);
    assert.equal(res.status, 404, path);
    assert.doesNotMatch(await res.text(), /<div id="root">/, path);
  }
});

test("a repo says how much of it could not be read, and where", async () => {
  const page = await world.page("ana", "/repos/northwind/mobile");
  const gaps = page.locator("section").filter({ has: page.getByRole("heading", { name: "Not understood" }) });
  await gaps.waitFor();
  const file = (path, unread) => ({ path, contracts: [], unread });
  await world.tokens.ana.post("/v1/repos/northwind%2Fmobile/index", { files: [file("src/few.ts", 1), file("src/many.ts", 4)], removed: [], complete: false });
  await goTo(page, world.url + "/repos/northwind/mobile");
  await gaps.getByText("5 places").waitFor();
  assert.match(await gaps.locator("li").first().innerText(), /src\/many\.ts\s*4 places/);
});
