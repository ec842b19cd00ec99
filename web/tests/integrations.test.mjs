// Slack, webhooks and the digest, with a server that hears them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startReceiver } from "./receiver.mjs";
import { dialog, goTo, said, useWorld } from "./world.mjs";

const world = useWorld({ flags: ["--outbound-allow", "127.0.0.0/8"] });
let there;
before(async () => (there = await startReceiver()));
after(() => there?.stop());

test("a digest with nowhere to go says what to do", async () => {
  const page = await world.page("ana", "/settings/digest");
  await page.getByRole("button", { name: "Send now" }).click();
  await said(page, "nowhere to send the digest");
});

test("Slack is connected by an address that works, tested, and disconnected", async () => {
  const page = await world.page("ana", "/settings/slack");
  await page.getByLabel("Incoming webhook address").fill("ftp://hooks.slack.com/x");
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText("must begin with https://").waitFor();
  assert.equal((await world.clients.ana.get("/v1/integrations/slack")).connected, false);

  await page.getByLabel("Incoming webhook address").fill(there.url + "/slack");
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText("Connected", { exact: true }).waitFor();
  await page.getByText("Nothing was posted yet.").waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  assert.match((await there.hears("/slack")).body, /Northwind/);
  await page.getByText("Last post").waitFor();

  there.answer = 403;
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("Slack no longer takes posts at this address").waitFor();
  there.answer = 200;
});

test("a repo has a channel of its own, and quiet hours are kept", async () => {
  const page = await world.page("ana", "/settings/slack");
  await page.getByRole("combobox", { name: "Repo" }).click();
  await page.getByRole("option", { name: "northwind/mobile" }).click();
  await page.getByLabel("Its channel's webhook address").fill(there.url + "/mobile");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  const row = page.locator(".row").filter({ hasText: "northwind/mobile" });
  await row.getByRole("button", { name: "Send a test" }).click();
  assert.match((await there.hears("/mobile")).body, /northwind\/mobile/);

  await page.getByLabel("At most one post every").fill("30");
  await page.getByLabel("Quiet hours").check();
  await page.getByLabel("Time zone").fill("Mars/Olympus");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("is no time zone that is known here").waitFor();
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  const saved = page.waitForResponse((r) => r.request().method() === "PATCH" && r.url().endsWith("/v1/integrations/slack") && r.ok());
  await page.getByRole("button", { name: "Save" }).click();
  await saved; // "Saved." was said of the channel, too
  const kept = await world.clients.ana.get("/v1/integrations/slack");
  assert.equal(kept.every_minutes, 30);
  assert.deepEqual(kept.quiet, { from: "19:00", until: "08:00", zone: "Europe/Berlin", weekends: true });

  await row.getByRole("button", { name: "Disconnect" }).click();
  await dialog(page).getByRole("button", { name: "Disconnect" }).click();
  await row.waitFor({ state: "detached" });
});

test("a server without mail says so", async () => {
  const page = await world.page("ana", "/settings/mail");
  await page.getByText("This server sends no mail").waitFor();
});

test("the digest goes to Slack at once, and Slack can be disconnected", async () => {
  const page = await world.page("ana", "/settings/digest");
  const heard = there.heard.filter((h) => h.path === "/slack").length;
  await page.getByRole("button", { name: "Send now" }).click();
  await said(page, "The digest is on its way.");
  const post = await there.hears("/slack", heard + 1);
  assert.match(post.body, /Northwind/);
  await page.getByText("Last sent").waitFor();

  await page.goto(world.url + "/settings/slack");
  await page.getByRole("button", { name: "Disconnect" }).click();
  await dialog(page).getByRole("button", { name: "Disconnect" }).click();
  await page.getByLabel("Incoming webhook address").waitFor();
  assert.equal((await world.clients.ana.get("/v1/integrations/slack")).connected, false);
});

test("a webhook is tested, its deliveries are shown, and one is sent again", async () => {
  const page = await world.page("ana", "/settings/webhooks");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await dialog(page).getByLabel("Address").fill(there.url + "/hook");
  await dialog(page).getByLabel("What it is for").fill("Release board");
  await dialog(page).getByRole("combobox", { name: "Events" }).click();
  await page.getByRole("option", { name: "intent.declared" }).click();
  await page.keyboard.press("Escape");
  await dialog(page).getByRole("button", { name: "Add", exact: true }).click();
  await dialog(page).getByRole("button", { name: "I have it" }).click();

  const row = page.locator("li").filter({ hasText: "Release board" });
  await row.getByRole("button", { name: "Test" }).click();
  const first = await there.hears("/hook");
  for (const h of ["webhook-id", "webhook-timestamp", "webhook-signature"]) assert.ok(first.headers[h], h);
  const deliveries = row.getByRole("table", { name: "Deliveries" });
  await deliveries.getByText(/^200 in/).waitFor();

  await deliveries.getByRole("button", { name: /again$/ }).first().click();
  const second = await there.hears("/hook", 2);
  assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
  assert.equal(second.body, first.body);

  // What fails is tried again by itself; the page says so.
  there.answer = 500;
  await world.tokens.chen.post("/v1/intents", { title: "Heard by the board", repo: "northwind/mobile", branch: "board", scope: { paths: ["app/board/**"] } });
  const third = await there.hears("/hook", 3);
  assert.equal(JSON.parse(third.body).type, "intent.declared");
  await deliveries.getByText("again in").waitFor();
  there.answer = 200;
});

test("a webhook is paused, changed, given a new secret, sent again and deleted", async () => {
  const page = await world.page("ana", "/settings/webhooks");
  const row = page.locator("li").filter({ hasText: "Release board" });
  const more = async (name) => {
    await row.getByRole("button", { name: /^More for/ }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await more("Pause");
  await row.getByText("paused").waitFor();
  const heard = () => there.heard.filter((h) => h.path === "/hook").length;
  const before = heard();
  await world.tokens.chen.post("/v1/intents", { title: "Told later", repo: "northwind/mobile", branch: "later", scope: { paths: ["app/later/**"] } });

  await more("Edit");
  await dialog(page).getByLabel("Address").fill(there.url + "/moved");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await row.getByText("/moved").waitFor();
  await more("New secret");
  await dialog(page).getByRole("button", { name: "Replace" }).click();
  await dialog(page).getByRole("button", { name: "I have it" }).click();
  await row.getByText("two secrets").waitFor();
  assert.equal(heard(), before, "nothing is sent while it is paused");

  await more("Resume");
  const told = await there.hears("/moved");
  assert.equal(told.headers["webhook-signature"].split(" ").length, 2, "signed with both secrets");

  await more("Send again");
  await dialog(page).getByLabel("Only what did not arrive").uncheck();
  await dialog(page).getByRole("button", { name: "Send again" }).click();
  await page.getByText(/on their way again/).waitFor();
  await there.hears("/moved", 3);

  await more("Delete");
  await dialog(page).getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
});

test("GitHub has no app yet and the button leads to making one for this org", async () => {
  const page = await world.page("ana", "/settings/github");
  const href = await page.getByRole("link", { name: "Make the app" }).getAttribute("href");
  assert.match(href, /^\/v1\/github\/app\/manifest\?format=html&org=northwind$/);
  const answer = await page.request.get(world.url + href);
  assert.equal(answer.status(), 200);
  assert.match(await answer.text(), /action="https:\/\/github\.com\//);
});

test("GitLab is let in with a secret shown once, and shut out", async () => {
  const page = await world.page("ana", "/settings/github");
  await page.getByRole("button", { name: "Connect GitLab" }).click();
  await page.getByText("This is the only time it is shown.").waitFor();
  await page.getByText("nothing heard of it yet").waitFor();
  await goTo(page, world.url + "/settings/github");
  await page.getByText("Connected", { exact: true }).waitFor();
  assert.equal(await page.getByText("This is the only time it is shown.").count(), 0);
  await page.getByRole("button", { name: "Disconnect" }).click();
  await dialog(page).getByRole("button", { name: "Disconnect" }).click();
  await page.getByRole("button", { name: "Connect GitLab" }).waitFor();
});

test("a server without billing says so", async () => {
  const page = await world.page("ana", "/settings/billing");
  await page.getByText("This server runs without billing").waitFor();
  assert.equal(await page.getByRole("button", { name: /Upgrade/ }).count(), 0);
});
