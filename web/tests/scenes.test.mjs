// A lead and sixteen agents in one repository of many parts, with names that are
// long or run from right to left, and agents that stopped with a question: what
// the pages say is so, and says it with names.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "../demo/client.mjs";
import { seedMonorepo } from "../demo/monorepo.mjs";
import { Agent, fact, fileOf } from "../demo/seed.mjs";
import { goTo, said, settled, useWorld } from "./world.mjs";

const world = useWorld({ demo: seedMonorepo });
const rowOf = (page, name) => page.locator(".agent").filter({ hasText: name });

test("time saved opens to what it is made of, and an org can change or hide it", async () => {
  const page = await world.page("ana", "/stats");
  await page.getByRole("link", { name: /^Time saved, estimated 30 minutes/ }).click();
  const row = page.locator(".saved-row");
  assert.equal(await row.count(), 1);
  assert.match(await row.textContent(), new RegExp(`^\\+30 minSame lines: .*Noam.* rebase .*${world.saved}$`));
  await world.clients.ana.put("/v1/policies", { rules: { "time_saved.minutes": 20, "time_saved.minute_worth": 3, "time_saved.currency": "EUR" } });
  await goTo(page, world.url + "/stats");
  await page.getByText("20 minutes · €60").waitFor();
  await world.clients.ana.put("/v1/policies", { rules: { "time_saved.minutes": 0 } });
  await goTo(page, world.url + "/stats");
  await page.locator(".tile").first().waitFor();
  assert.equal(await page.getByText("Time saved").count(), 0);
  await world.clients.ana.put("/v1/policies", { rules: {} });
});

test("who waits for a person is counted, listed by filter, and says what it asks", async () => {
  const page = await world.page("ana", "/");
  const counts = page.getByRole("group", { name: "Filter by state" });
  await counts.getByRole("button", { name: "3 wait for their person" }).click();
  await page.waitForURL(/state=waits_for_person/);
  await page.waitForFunction(() => document.querySelectorAll(".agent").length === 3);
  await rowOf(page, "Noam").getByText("Do you want me to keep the old flag?").waitFor();
  await rowOf(page, "منى").getByText("هل أحذف العمود القديم؟").waitFor();
  const listed = await world.clients.ana.get("/v1/sessions?state=waits_for_person");
  assert.equal(listed.items.length, 3);
});

test("an agent that ended its turn is not at work, and is again with the next prompt", async () => {
  const page = await world.page("ana", "/");
  await rowOf(page, "Sofía").getByText("Stopped").waitFor();
  await world.agents.sofia.hook("prompt", { prompt_excerpt: "And now the tests." });
  await rowOf(page, "Sofía").getByText("Working").waitFor();
  await world.agents.sofia.hook("stop", { status: { excerpt: "The tests pass.", files: [] } });
  await rowOf(page, "Sofía").getByText("Stopped").waitFor();
});

test("a blocked agent's row names who holds what, and only its number may be cut", async () => {
  const page = await world.page("ana", "/");
  const row = rowOf(page, "Kofi").first(); // trouble comes first
  assert.match(await row.locator(".agent-says").textContent(), /Maximiliane Wolfeschlegelsteinhausenbergerdorff holds “Tax migration”: tax\.sql\s+CF-\d+/);
  assert.match(await row.locator(".agent-intent").textContent(), /^Round prices by market\s+INT-\d+$/);
  await row.locator(".agent-link").click();
  await page.waitForURL(/\/agents\//);
  await page.getByText(/Maximiliane Wolfeschlegelsteinhausenbergerdorff holds “Tax migration”/).first().waitFor();
});

test("one claim that stops three is one row of the conflicts, and opens to them", async () => {
  const page = await world.page("ana", "/conflicts");
  const cause = page.getByRole("button", { name: /^Maximiliane Wolfeschlegelsteinhausenbergerdorff holds “Tax migration”: 3 agents are stopped/ });
  await cause.click();
  assert.equal(await page.locator(".cause .work-row").count(), 3);
  await page.locator(".page-sub").getByText("3 pairs").waitFor();
  await page.getByText("Closed", { exact: true }).click();
  await page.locator(".page-sub").getByText("Conflicts that are over").waitFor();
});

test("an agent's page tells what it did with files and words, by kind, each with an address", async () => {
  const page = await world.page("ana", `/agents/${world.agents.noam.session}`);
  const done = page.getByRole("list", { name: "What it did" });
  await done.getByText("changed libs/flags/flags.go").waitFor();
  await done.getByText("Do you want me to keep the old flag?").first().waitFor();
  await done.getByText("asked its person").first().waitFor();
  assert.match(await done.locator("a[href^='#e']").first().getAttribute("href"), /^#e\d+$/);
  await goTo(page, `${world.url}/agents/${world.agents.kofi.session}?did=conflicts`);
  await done.getByText(/was stopped before an edit \(exclusive claim, CF-\d+\)/).first().waitFor();
  assert.equal(await done.getByText("changed services/billing/prices.go").count(), 0);
});

test("one claim that stops three is asked about, and overridden for all three, from its row", async () => {
  const page = await world.page("ana", "/conflicts");
  await page.getByRole("button", { name: /holds “Tax migration”: 3 agents are stopped/ }).click();
  await page.getByRole("button", { name: "Ask to release" }).click();
  assert.match(await page.getByRole("textbox", { name: "Message" }).inputValue(), /^3 agents wait for what you hold/);
  await page.getByRole("textbox", { name: "Message" }).press("Control+Enter"); // the dialog takes the focus a moment after it opens
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const got = await world.clients.max.get("/v1/attention");
  assert.ok(got.items.some((i) => i.kind === "message" && i.detail.includes("3 agents wait")), "the holder is not asked");
  await page.getByRole("button", { name: "Override all" }).click();
  await page.getByRole("textbox", { name: "Reason" }).fill("The migration is done; it only waits for review.");
  await page.getByRole("dialog").getByRole("button", { name: "Override all" }).click();
  await said(page, "3 conflicts overridden."); // the row, and its dialog, go before the last is
  const left = await world.clients.ana.get("/v1/conflicts?kind=exclusive_claim&status=live");
  assert.deepEqual(left.items.filter((c) => c.severity === "block"), []);
});

test("a claim that stops two is shared from its row, and who holds it is told", async () => {
  const at = (who, branch) => new Agent(world.tokens[who], { tool: "codex", repo: world.repo, branch });
  const [holder, ...others] = [at("max", "seats"), at("noam", "seats-a"), at("sofia", "seats-b")];
  await holder.hook("session_start");
  const intent = await holder.declare({ title: "Seat plan", mode: "exclusive", scope: { paths: ["services/seats/plan.sql"] } });
  for (const a of others) await a.hook("pre_edit", { paths: ["services/seats/plan.sql"] });
  const page = await world.page("ana", "/conflicts");
  const cause = page.locator(".cause").filter({ hasText: "holds “Seat plan”: 2 agents are stopped" });
  await cause.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByRole("textbox", { name: "Reason" }).fill("Each of you has a part of it.");
  await page.getByRole("dialog").getByRole("button", { name: "Share", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.equal((await world.clients.ana.get(`/v1/intents/${intent.ref}`)).mode, "shared");
  for (const a of others) assert.equal((await a.hook("pre_edit", { paths: ["services/seats/plan.sql"] })).decision, "allow");
  assert.match((await holder.hook("prompt", { prompt_excerpt: "go on" })).inject_context, new RegExp(`edit what ${intent.ref} held exclusively`));
});

test("what is muted no longer asks, in the menu as on the page, and can be asked again", async () => {
  await world.tokens.kofi.post("/v1/messages", { to: "user:ana@acme.example", body: "Lunch?" });
  const page = await world.page("ana", "/");
  const needs = page.getByRole("region", { name: "What needs you" });
  const menu = page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link", { name: /Messages/ });
  const asks = (await world.clients.ana.get("/v1/attention")).by_kind;
  const count = (asks.message ?? 0) + (asks.ack ?? 0) + (asks.question ?? 0);
  await menu.getByLabel(`${count} messages for you`).waitFor();
  await needs.getByRole("button", { name: /^Mute: \d+ unread message/ }).click();
  await page.getByRole("menuitem", { name: "unread messages, anywhere" }).click();
  await needs.getByText("Lunch?").waitFor({ state: "detached" });
  if (count === asks.message) await menu.locator(".nav-count").waitFor({ state: "detached" });
  await needs.getByText(/^1 mute, \d+ things? not shown$/).click();
  await needs.getByRole("button", { name: "Ask me again: unread messages" }).click();
  await needs.getByText("Lunch?").waitFor();
  await needs.getByText("Lunch?").click();
  await page.waitForURL(/\/messages\//);
  const thread = page.getByRole("button", { name: "Mute this thread" });
  await thread.click();
  await page.locator("[aria-label='Mute this thread'][aria-pressed=true]").waitFor();
  await thread.click();
  await page.locator("[aria-label='Mute this thread'][aria-pressed=false]").waitFor();
});

test("who has no agent yet is told how to connect one, and sees the first hook arrive", async () => {
  const invite = await world.clients.ana.post("/v1/invites", { role: "member", email: "new@acme.example" });
  const guest = await world.pageOf(await world.profile(null));
  await guest.goto(`${world.url}/invite#${invite.url.split("#")[1]}`);
  await guest.getByLabel("Your name").fill("Nia New");
  await guest.getByLabel(/^Password/).fill("correct-horse-battery");
  await guest.getByRole("button", { name: "Join", exact: true }).click();
  const steps = guest.locator(".card").filter({ hasText: "Connect your agent" });
  await steps.getByText(`svc login --server ${world.url}`).waitFor();
  await guest.locator(".agent").first().waitFor(); // the team's are below
  await settled(guest);
  const { token } = await world.clients.ana.post("/v1/tokens", { name: "cli · laptop", user_email: "new@acme.example" });
  const agent = new Agent(new Client(world.url, { token }), { tool: "codex", model: "m-1", repo: world.repo, branch: "first" });
  await agent.hook("session_start");
  await agent.hook("prompt", { prompt_excerpt: "Hello." });
  await guest.getByRole("heading", { name: "Your agent is connected" }).waitFor();
  assert.equal(await guest.locator(".step-done").count(), 3);
  await guest.getByRole("button", { name: "Done" }).click();
  await guest.getByRole("heading", { name: "Your agent is connected" }).waitFor({ state: "detached" });
});

test("a viewer may write, and is offered it everywhere alike", async () => {
  const page = await world.page("vera", "/messages");
  assert.equal(await page.getByText(/Connect your/).count(), 0);
  await page.getByRole("button", { name: "New message" }).click();
  await page.getByRole("combobox", { name: "To" }).fill("Kofi");
  await page.getByRole("option", { name: "Kofi Mensah", exact: true }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("I only read along.");
  await page.keyboard.press("Control+Enter");
  await page.waitForURL(/\/messages\/./);
  await page.getByRole("textbox", { name: "Message" }).fill("And write.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("log").getByText("And write.").waitFor();
});

test("what is over says on which day it ended, and yesterday is one step away", async () => {
  const page = await world.page("ana", "/");
  await page.getByRole("link", { name: "Yesterday's near misses" }).click();
  await page.waitForURL(/age=yesterday/);
  await page.getByText("No conflict matches").waitFor(); // all of this world is of today
  await goTo(page, world.url + "/conflicts?status=resolved,overridden,stale&age=24");
  assert.match(await page.locator(".work-row").first().textContent(), /today \d/);
});

test("a day is played back, scrubbed, shared by its address and saved as a page", async () => {
  const page = await world.page("ana", "/?view=lanes");
  await page.getByRole("link", { name: "Play back" }).click();
  await page.waitForURL(/\/play\?from=/);
  await page.locator(".lanes-svg .lane-mark").first().waitFor();
  const moment = page.getByRole("slider", { name: "Moment" });
  const log = page.getByRole("log", { name: "What happened" });
  await log.getByText("Nothing yet.").waitFor(); // the head is just before the first
  const end = await moment.getAttribute("max");
  await moment.fill(end);
  await log.locator(".happening").first().waitFor();
  await page.getByRole("button", { name: /^(services|tools).*: \d+ piece/ }).first().waitFor(); // the ground under the head
  await page.waitForURL((u) => Date.parse(u.searchParams.get("at")) === Number(end));
  const shared = page.url();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a page" }).click()]);
  const written = join(await mkdtemp(join(tmpdir(), "svc-play-")), "day.html");
  await file.saveAs(written);
  const other = await world.page("max", null);
  await goTo(other, shared);
  assert.equal(await other.getByRole("slider", { name: "Moment" }).inputValue(), await moment.inputValue());
  await moment.fill(await moment.getAttribute("min"));
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await log.getByText("Nothing yet.").waitFor({ state: "detached" });
  const alone = await (await world.browser.newContext({ offline: true })).newPage();
  await alone.setContent(await readFile(written, "utf8"));
  await alone.getByRole("list", { name: "What happened" }).getByRole("listitem").first().waitFor();
  await alone.getByRole("slider", { name: "Moment" }).fill(await moment.getAttribute("min"));
  assert.equal(await alone.getByRole("listitem").count(), 0);
  await alone.context().close();
});

test("what a contract's break hits is the same in the graph and on its page: the repos that a project links", async () => {
  const { ana } = world.clients;
  const names = ["acme/orders", "acme/shop", "acme/app", "acme/elsewhere"];
  for (const full_name of names) await ana.post("/v1/repos", { full_name });
  await ana.post("/v1/projects", { name: "Store", repos: names.slice(0, 3) });
  const key = "http:GET /v3/orders/{id}";
  const people = [null, "kofi@acme.example", "sofia@acme.example", "sofia@acme.example"];
  for (const [i, name] of names.entries()) {
    const authors = i ? [{ line: 7, author: createHash("sha256").update(people[i]).digest("hex") }] : [];
    await world.tokens.ana.post(`/v1/repos/${encodeURIComponent(name)}/index`, { files: [{ path: "api.ts", language: "typescript", contracts: [fact(key, i ? "uses" : "provides", 7)], authors }] });
  }
  const page = await world.page("ana", "/repos");
  await page.getByRole("button", { name: "shop uses 1 contract of orders" }).waitFor();
  assert.equal(await page.locator(".edge").count(), 2);
  await page.getByText("Not checked, since no project links them: elsewhere uses 1 contract of orders.").waitFor();
  await goTo(page, `${world.url}/contracts?${new URLSearchParams({ key, repo: names[0] })}`);
  await page.getByText("2 users in 2 repos").waitFor();
  const server = new Agent(world.tokens.kofi, { tool: "codex", repo: names[0], branch: "shipments" });
  await server.edit(fileOf("api.ts", 5, [[5, 4]], { contracts: [{ ...fact(key, "provides", 7), change: "removed", compatibility: "breaking", detail: "was removed" }] }));
  await goTo(page, `${world.url}/contracts?${new URLSearchParams({ key, repo: names[0] })}`);
  await page.getByText("2 fail", { exact: true }).waitFor();
  const app = new Agent(world.tokens.sofia, { tool: "codex", repo: names[2], branch: "no-orders" });
  await app.edit(fileOf("api.ts", 7, [[7, 1]], { contracts: [{ ...fact(key, "uses", 7), change: "removed" }] }));
  await goTo(page, `${world.url}/contracts?${new URLSearchParams({ key, repo: names[0] })}`);
  await page.getByText("1 fails, 1 on its way", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Message all 2" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("The old orders go on Friday.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  for (const who of ["kofi", "sofia"]) {
    const got = (await world.tokens[who].get("/v1/messages")).items.filter((m) => m.body === "The old orders go on Friday.");
    assert.equal(got.length, 1, who);
    assert.equal(got[0].about.kind, "contract");
  }
  await goTo(page, world.url + "/messages");
  await page.getByRole("link", { name: /About http:GET \/v3\/orders/ }).click();
  await page.getByRole("link", { name: "http:GET /v3/orders/{}", exact: true }).first().click();
  await page.waitForURL(/\/contracts\?/);
});

test("a file shows who is at work on which of its lines, and hears of the next", async () => {
  const page = await world.page("ana", `/agents/${world.agents.kofi.session}`);
  await page.getByRole("link", { name: "services/billing/migrations/tax.sql" }).or(page.getByRole("link", { name: "services/billing/prices.go" })).first().click();
  await page.waitForURL(/\/file\?/);
  await goTo(page, `${world.url}/file?${new URLSearchParams({ repo: world.repo, path: "tools/shared/retry.go" })}`);
  const list = page.getByRole("list", { name: "Who is where" });
  await list.getByText(/lines? 40/).waitFor();
  await world.agents.kofi.edit(fileOf("tools/shared/retry.go", 900, [[70, 2]], { new_blob: "c".repeat(40) }));
  await list.getByText(/lines 70–71/).waitFor();
  await list.getByText("Kofi Mensah").waitFor();
});

test("the landing order of a repo is moved by a button, priced, and given back", async () => {
  const page = await world.page("ana", `/repos/${world.repo}`);
  let answer;
  const asked = new Promise((resolve) => (answer = resolve));
  const order = page.getByRole("list", { name: "Landing order" });
  const first = (await order.locator(".ref").first().textContent()).trim();
  await page.getByText(/^The order that costs least: /).waitFor();
  await page.route("**/landing?if=**", async (route) => (await asked, route.continue()));
  await order.getByRole("button", { name: `${first} later` }).click();
  await page.getByText("Counting what this order costs…").waitFor(); // not the price of the order before
  assert.notEqual((await order.locator(".ref").first().textContent()).trim(), first);
  answer();
  await page.getByText(/^Your order: .*; the cheapest: /).waitFor();
  await page.waitForURL(/if=INT-/);
  assert.notEqual((await order.locator(".ref").first().textContent()).trim(), first);
  await page.getByRole("button", { name: "The cheapest again" }).click();
  await page.getByText(/^The order that costs least: /).waitFor();
  assert.equal((await order.locator(".ref").first().textContent()).trim(), first);
});

test("Ctrl Enter sends what is written in a dialog", async () => {
  const page = await world.page("ana", "/messages");
  await page.getByRole("button", { name: "New message" }).click();
  await page.getByRole("combobox", { name: "To" }).fill("Kofi");
  await page.getByRole("option", { name: "Kofi Mensah", exact: true }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("The table is yours after lunch.");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await goTo(page, world.url + "/activity?kind=talk");
  assert.doesNotMatch(await page.locator(".happening").first().textContent(), /\(direct\)|a message\s+a message/);
});

test("an agent's page is no wider than its window, however long a name is", async () => {
  for (const width of [1440, 1024, 390]) {
    const page = await world.page("ana", `/agents/${world.agents.sofia.session}`, { viewport: { width, height: 800 } });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, `at ${width} pixels`);
  }
});

test("what landed is told with who has to rebase because of it", async () => {
  const { ana, kofi } = world.tokens;
  const [first, second] = [[ana, "Retry with a limit"], [kofi, "Retry with a pause"]].map(([token, title], i) => Object.assign(new Agent(token, { tool: "codex", model: "m-1", repo: world.repo, branch: `retry-${i}` }), { title }));
  for (const a of [first, second]) {
    await a.hook("session_start");
    await a.declare({ title: a.title, scope: { paths: ["libs/retry.go"] } });
  }
  await first.edit(fileOf("libs/retry.go", 40, [[10, 6]]));
  await second.edit(fileOf("libs/retry.go", 40, [[12, 6]], { new_blob: "d".repeat(40) }));
  const page = await world.page("ana", "/");
  await ana.post(`/v1/intents/${first.intent.ref}/close`, { outcome: "merged" });
  const landed = page.getByRole("region", { name: "Landed" });
  await landed.getByRole("link", { name: "Retry with a limit" }).waitFor();
  await landed.getByText("1 has to rebase").waitFor();
  await landed.getByRole("link", { name: "Kofi Mensah" }).click();
  await page.waitForURL(/\/conflicts\/CF-\d+$/);
  await page.getByText("Retry with a pause").first().waitFor();
});
