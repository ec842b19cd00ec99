// Nothing that somebody typed is lost, whatever others do meanwhile; and the
// page says what is wrong, and recovers, when the server or a part of it is
// not there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialog, goTo, said, useWorld, walkTo } from "./world.mjs";

const world = useWorld();

test("the second of two who edit an intent sees both versions and overwrites nothing", async () => {
  const { ref } = world.agents.refresh.intent;
  const [ana, ben] = [await world.page("ana", `/intents/${ref}`), await world.page("ben", `/intents/${ref}`)];
  for (const page of [ana, ben]) {
    await page.getByRole("button", { name: "Edit" }).click();
    await dialog(page).getByLabel("Title").waitFor();
  }
  await ben.getByRole("dialog").getByLabel("Title").fill("Ben's title");
  await ben.getByRole("dialog").getByLabel("Summary").fill("Ben's summary");
  await ben.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await dialog(ben).waitFor({ state: "detached" });
  await dialog(ana).getByLabel("Title").fill("Ana's title");
  await dialog(ana).getByRole("button", { name: "Save" }).click();
  const clash = dialog(ana).getByRole("group", { name: "Title" });
  await clash.getByText("Ben's title").waitFor();
  await clash.getByText("Ana's title").waitFor();
  assert.equal((await world.clients.ana.get(`/v1/intents/${ref}`)).title, "Ben's title");
  await clash.getByRole("button", { name: "Keep yours" }).click();
  assert.equal(await dialog(ana).getByLabel("Summary").inputValue(), "Ben's summary");
  await dialog(ana).getByRole("button", { name: "Save" }).click();
  await dialog(ana).waitFor({ state: "detached" });
  const after = await world.clients.ana.get(`/v1/intents/${ref}`);
  assert.deepEqual([after.title, after.summary], ["Ana's title", "Ben's summary"]);
  world.forgive(/status of 412/);
});

test("somebody else's policy leaves what one has not put in force yet", async () => {
  const page = await world.page("ana", "/settings/policies");
  await page.getByRole("radiogroup", { name: "Editing without a declared intent" }).getByText("Warn").click();
  await world.clients.ben.put("/v1/policies", { rules: { session_idle_minutes: 7 } });
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some((i) => i.value === "7 minutes"));
  await page.getByText("You have changes that are not in force yet.").waitFor();
  await page.getByRole("button", { name: "Put in force" }).click();
  await said(page, "in force");
  assert.deepEqual((await world.clients.ana.get("/v1/policies")).org, { session_idle_minutes: 7, require_intent: "warn" });
  world.forgive(/status of 412/);
});

test("a note stays when the conflict is resolved meanwhile, and can still be sent", async () => {
  const live = (await world.clients.ana.get("/v1/conflicts?status=live&limit=50")).items;
  const conflict = live.find((c) => ["ana", "ben"].every((k) => c.parties.some((p) => p.user?.email === `${k}@northwind.example`)));
  const page = await world.page("ana", `/conflicts/${conflict.ref}`);
  await page.getByRole("button", { name: "Mark resolved" }).click();
  await dialog(page).getByLabel("Note").fill("We agreed on the phone.");
  await world.clients.ben.post(`/v1/conflicts/${conflict.ref}/actions`, { action: "resolved" });
  await dialog(page).getByText(/became resolved meanwhile/).waitFor();
  assert.equal(await dialog(page).getByLabel("Note").inputValue(), "We agreed on the phone.");
  await dialog(page).getByRole("button", { name: "Send as a message" }).click();
  await dialog(page).waitFor({ state: "detached" });
});

test("an override's reason outlives Escape and a reload", async () => {
  const conflict = (await world.clients.ana.get("/v1/conflicts?status=live&limit=50")).items[0];
  const page = await world.page("ana", `/conflicts/${conflict.ref}`);
  const open = () => page.getByRole("button", { name: "Override", exact: true }).click();
  await open();
  await dialog(page).getByLabel("Reason").fill("Both land today.");
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  await goTo(page, page.url());
  await open();
  assert.equal(await dialog(page).getByLabel("Reason").inputValue(), "Both land today.");
});

test("a message that was begun is there when one comes back, and gone once it is sent", async () => {
  const team = (await world.clients.ana.get("/v1/conversations?kind=channel&limit=50")).items.find((c) => !c.repo);
  const page = await world.page("ana", `/messages/${team.id}`);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Half a thought");
  await walkTo(page, "/intents");
  await walkTo(page, `/messages/${team.id}`);
  assert.equal(await box.inputValue(), "Half a thought");
  await page.keyboard.press("Escape");
  await box.press("Control+Enter");
  await page.locator(".post").filter({ hasText: "Half a thought" }).waitFor();
  await page.waitForFunction(() => document.querySelector(".reply textarea").value === ""); // others may see it before the sender's answer comes
  await walkTo(page, "/intents");
  await walkTo(page, `/messages/${team.id}`);
  assert.equal(await box.inputValue(), "");
});

test("a reader keeps the place in a thread when something new comes", async () => {
  const api = (await world.clients.ana.get("/v1/conversations?kind=channel&limit=50")).items.find((c) => c.repo?.full_name === "northwind/shop-api");
  for (let i = 0; i < 14; i++) await world.tokens.dara.post("/v1/messages", { to: "channel:northwind/shop-api", body: `Line ${i}\n`.repeat(6) });
  const page = await world.page("ana", `/messages/${api.id}`);
  const log = page.getByRole("log");
  await log.evaluate((el) => (el.scrollTop = 100));
  await world.tokens.chen.post("/v1/messages", { to: "channel:northwind/shop-api", body: "Something new, see INT-1 and `code`" });
  await page.getByRole("button", { name: /1 new message below/ }).click();
  const post = page.locator(".post").filter({ hasText: "Something new" });
  await post.getByRole("link", { name: "INT-1" }).waitFor();
  assert.equal(await post.locator("code").textContent(), "code");
});

test("a part of the dashboard that fails to load is fetched again", async () => {
  const page = await world.page("ben", "/");
  let failures = 0;
  await page.route(/\/assets\/History-[^?]*\.js$/, (route) => (failures++ ? route.continue() : route.abort()));
  await walkTo(page, "/history");
  await page.getByText("What are you looking for?").waitFor();
  assert.equal(failures, 1);
  await page.unrouteAll();

  // Fails for good, as after an upgrade: the page is loaded anew, once the file is there.
  let gone = true;
  await page.route(/\/assets\/Activity-.*\.js/, (route) => (gone ? route.abort() : route.continue()));
  await page.evaluate(() => sessionStorage.clear());
  const reloaded = page.waitForEvent("load");
  await page.evaluate(() => history.pushState(null, "", "/activity"));
  await reloaded;
  const again = page.getByRole("button", { name: "Try again" });
  await again.waitFor();
  assert.equal(await page.getByText(/hit a bug/).count(), 0);
  gone = false;
  await again.click();
  await page.getByText("Everything as it happens.").waitFor();
  await page.unrouteAll();
  world.forgive(/ERR_FAILED|dynamically imported module|preload CSS|Failed to load/);
});

test("a server that is down is called so, and the page recovers by itself", async () => {
  const page = await world.page("ben", "/intents");
  await world.server.down();
  await page.evaluate(() => history.pushState(null, "", "/conflicts/CF-1"));
  await page.getByText("The server cannot be reached").first().waitFor();
  assert.equal(await page.getByText(/hit a bug/).count(), 0);
  await world.server.restart();
  await page.getByRole("heading", { name: /^CF-1 / }).waitFor();
  world.forgive(/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|dynamically imported module|preload CSS|Failed to load/);
});

test("after the sign-in has ended the page asks to sign in", async () => {
  const page = await world.page("chen", "/intents");
  await page.locator('.connection[data-state="live"]').first().waitFor({ state: "attached" });
  await world.clients.chen.post("/v1/auth/sign-out");
  await page.waitForURL(/\/sign-in\?next=/);
});
