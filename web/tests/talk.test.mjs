// Messages, questions, attention, search, integrations: one acts, the other
// sees it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialog, goTo, useWorld } from "./world.mjs";

const world = useWorld();

test("a message to a person opens a thread, reaches them live and is acknowledged", async () => {
  const ben = await world.page("ben", "/messages");
  const ana = await world.page("ana", "/messages");
  await ana.getByRole("button", { name: "New message" }).click();
  await dialog(ana).getByRole("combobox", { name: "To" }).fill("Ben");
  await ana.getByRole("option", { name: "Ben Okafor", exact: true }).click();
  await dialog(ana).getByLabel("Subject").fill("Release at noon");
  await dialog(ana).getByLabel(/^Message/).fill("Please hold merges from 11:30.");
  await dialog(ana).getByLabel("Wants an acknowledgement").click();
  await dialog(ana).getByRole("button", { name: "Send" }).click();
  await ana.waitForURL(/\/messages\/[0-9a-f-]{36}$/);
  await ben.getByRole("navigation", { name: "Conversations" }).getByText("Please hold merges").click();
  const post = ben.locator(".post").filter({ hasText: "Please hold merges from 11:30." });
  await post.getByRole("button", { name: "Acknowledge" }).click();
  await ana.locator(".post").filter({ hasText: "Please hold merges" }).getByText("Ben").last().waitFor();
  await ben.getByRole("textbox", { name: "Message" }).fill("Held.");
  await ben.keyboard.press("Control+Enter");
  await ana.locator(".post").filter({ hasText: "Held." }).waitFor();
});

test("a channel post is seen by everybody", async () => {
  const team = (await world.clients.ana.get("/v1/conversations?kind=channel&limit=50")).items.find((c) => !c.repo);
  const chen = await world.page("chen", `/messages/${team.id}`);
  const dara = await world.page("dara", `/messages/${team.id}`);
  await dara.getByRole("textbox", { name: "Message" }).fill("Freeze starts <b>now</b>.");
  await dara.getByRole("button", { name: "Send" }).click();
  await chen.locator(".post").filter({ hasText: "Freeze starts <b>now</b>." }).waitFor();
});

test("a question is answered from its thread", async () => {
  const about = (await world.clients.ana.get("/v1/conversations?kind=direct&limit=50")).items.find((c) => c.about?.kind === "question");
  assert.ok(about, "the demo asks no question");
  const page = await world.page("ana", `/messages/${about.id}`);
  await page.getByRole("textbox", { name: "Answer" }).fill("The claim is called tid.");
  await page.getByRole("button", { name: "Answer" }).click();
  await page.locator(".post").filter({ hasText: "The claim is called tid." }).waitFor();
});

test("what needs somebody can be dismissed and stays away", async () => {
  const page = await world.page("ana", "/");
  const item = page.locator(".need-kind").filter({ hasText: "fatima@" });
  await item.getByRole("button", { name: /^Dismiss/ }).click();
  await item.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await item.getByRole("button", { name: /^Dismiss/ }).click();
  await item.waitFor({ state: "detached" });
  const told = page.waitForResponse(/attention\/dismiss/);
  await page.locator(".toast").getByRole("button", { name: "Dismiss" }).click();
  await told;
  await goTo(page, world.url + "/");
  await page.locator(".need").first().waitFor();
  assert.equal(await item.count(), 0);
});

test("the history finds an intent by a word of its summary", async () => {
  const page = await world.page("ana", "/history");
  await page.getByRole("textbox", { name: "Search" }).fill("Redis");
  await page.waitForURL(/q=Redis/);
  await page.getByRole("link", { name: /Move sessions to the new store/ }).click();
  await page.waitForURL(/\/intents\/INT-/);
});

test("the activity shows what happens as it happens", async () => {
  const page = await world.page("ben", "/activity");
  await page.locator('.connection[data-state="live"]').first().waitFor({ state: "attached" });
  await world.tokens.chen.post("/v1/intents", { title: "Seen in the feed", repo: "northwind/mobile", branch: "feed", scope: { paths: ["app/feed/**"] } });
  await page.locator(".happening").filter({ hasText: "Seen in the feed" }).waitFor();
});

test("a webhook shows its secret once and is deleted", async () => {
  const page = await world.page("ana", "/settings/webhooks");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await dialog(page).getByLabel("Address").fill("https://hooks.northwind.example/svc");
  await dialog(page).getByLabel("What it is for").fill("Release board");
  await dialog(page).getByRole("button", { name: "Add" }).click();
  assert.match(await dialog(page).locator("code").textContent(), /^whsec_/);
  await dialog(page).getByRole("button", { name: "I have it" }).click();
  const row = page.locator(".row-item").filter({ hasText: "Release board" });
  await row.getByRole("button", { name: "Deliveries" }).click();
  await page.locator(".deliveries").waitFor();
  await row.getByRole("button", { name: /^More for/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await dialog(page).getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
});

test("the digest is switched on and previewed", async () => {
  const page = await world.page("ana", "/settings/digest");
  await page.getByLabel("Send it every week").click();
  await page.getByText(/Next/).waitFor();
  await page.getByRole("button", { name: "Preview" }).click();
  await dialog(page).locator("pre").waitFor();
  assert.match(await dialog(page).locator("pre").textContent(), /Northwind/);
});

test("who looks elsewhere is told by the browser what newly needs them, if they asked for it", async () => {
  const context = await world.profile(world.clients.chen, { permissions: ["notifications"], viewport: { width: 1280, height: 900 } });
  const page = await world.pageOf(context);
  await page.addInitScript(() => {
    window.notices = [];
    window.Notification = class {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, options) {
        Object.assign(this, { title, body: options.body });
        window.notices.push(this);
      }
      close() {}
    };
  });
  await goTo(page, world.url + "/stats");
  const ask = (text) => world.tokens.dara.post("/v1/questions", { to: "user:chen@northwind.example", question: text, repo: "northwind/shop-api" });
  const told = (n) => page.waitForFunction((n) => window.notices.length === n, n);
  const hide = (hidden) => page.evaluate((hidden) => Object.defineProperty(document, "hidden", { value: hidden, configurable: true }), hidden);
  const waiting = () => page.title().then((t) => Number(/^\((\d+)\)/.exec(t)?.[1] ?? 0));
  await hide(true);
  let before = await waiting();
  await ask("Not asked for: may I?");
  await page.waitForFunction((n) => Number(/^\((\d+)\)/.exec(document.title)?.[1] ?? 0) > n, before);
  await told(0);
  await page.getByRole("button", { name: /account menu/ }).click();
  await page.getByRole("menuitem", { name: /Notify me/ }).click();
  before = await waiting();
  await ask("May the cache be dropped?");
  await told(1);
  assert.match(await page.evaluate(() => window.notices[0].title), /Dara Singh/);
  await hide(false);
  await page.evaluate(() => window.notices[0].onclick());
  await page.waitForURL(/\/messages\//);
  await ask("Seen, so not told: or?");
  await page.waitForFunction((n) => Number(/^\((\d+)\)/.exec(document.title)?.[1] ?? 0) > n + 1, before);
  await told(1);
});
