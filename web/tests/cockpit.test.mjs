// Forty agents of twelve people: the first screen says who is in trouble, what
// needs the reader and what everybody does, and costs little while they work.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crowd, seedCrowd } from "../demo/crowd.mjs";
import { rig } from "../demo/server.mjs";
import { fileOf } from "../demo/seed.mjs";
import { dialog, goTo, useWorld } from "./world.mjs";

const world = useWorld({ demo: seedCrowd });

const widths = [
  { viewport: { width: 1440, height: 900 }, atLeast: 40 },
  { viewport: { width: 1024, height: 768 }, atLeast: 10 },
  { viewport: { width: 390, height: 844 }, atLeast: 10, hasTouch: true },
];

/** How many agents can be seen whole, without scrolling. */
const inView = (page) =>
  page.evaluate(() => {
    const below = document.querySelector(".tabs")?.getBoundingClientRect();
    const floor = below && below.height > 0 ? below.top : innerHeight;
    return [...document.querySelectorAll(".agent")].filter((a) => a.getBoundingClientRect().top >= 0 && a.getBoundingClientRect().bottom <= floor).length;
  });

async function count(path) {
  let [n, cursor] = [0, ""];
  do {
    const page = await world.clients.ana.get(`${path}&limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    [n, cursor] = [n + page.items.length, page.next_cursor];
  } while (cursor);
  return n;
}

test("the crowd is a crowd", async () => {
  assert.equal((await world.clients.ana.get("/v1/members?limit=200")).items.length, 12);
  assert.equal(await count("/v1/sessions?status=live"), 40);
  assert.equal(await count("/v1/intents?owner="), 300);
  assert.ok((await count("/v1/conflicts?repo=")) >= 150);
  assert.equal(Number(rig("said", world.server.database)), 2000);
  const texts = crowd.map((p) => p.name).join("");
  for (const script of [/\p{Script=Han}/u, /\p{Script=Arabic}/u, /\p{Script=Hebrew}/u, /\S{30}/]) assert.match(texts, script);
});

for (const { viewport, atLeast, ...options } of widths) {
  test(`the first ${atLeast} agents are in view without scrolling at ${viewport.width} pixels`, async () => {
    const page = await world.page("ana", "/", { viewport, ...options });
    await page.locator(".agent").first().waitFor();
    const seen = await inView(page);
    assert.ok(seen >= atLeast, `${seen} are`);
    const states = await page.locator(".agent-state").allTextContents();
    const order = ["Blocked", "Asks", "Collides", "Waits", "Silent", "Working", "Stopped"];
    assert.deepEqual(states.map((s) => order.indexOf(s)), states.map((s) => order.indexOf(s)).sort(), "trouble does not come first");
  });
}

test("there is one count of conflicts, and what is for information is folded away", async () => {
  const page = await world.page("ana", "/");
  const badge = Number(await page.locator(".side .nav-item").filter({ hasText: "Conflicts" }).locator(".nav-count").textContent());
  assert.ok(badge > 0);
  const waiting = await page.locator(".needs-card .count-badge").textContent();
  await page.waitForFunction((title) => document.title === title, `(${waiting}) Now · svc`);
  await page.locator(".page-sub").getByText(`, ${badge} conflicts`).waitFor();
  await goTo(page, world.url + "/conflicts");
  await page.locator(".page-sub").getByText(`${badge} pairs`).waitFor();
  assert.ok(Number(await page.locator('[aria-label="Conflicts"]').getAttribute("data-count")) <= badge, "there are more rows than pairs");
  assert.equal(await page.locator(".work-row .pill-info").count(), 0);
  await page.getByRole("button", { name: "Show them" }).click();
  await page.waitForURL(/severity=all/);
  await goTo(page, world.url + "/conflicts?severity=block");
  const blocking = Number(await page.locator('[aria-label="Conflicts"]').getAttribute("data-count"));
  assert.ok(blocking > 0 && blocking < badge, `${blocking} of ${badge} block`);
});

test("agents are grouped and filtered, and the address keeps it", async () => {
  const page = await world.page("ana", "/?group=person&person=max%40northwind.example");
  await page.locator(".agent-group").filter({ hasText: "Wolfeschlegelsteinhausenbergerdorff" }).waitFor();
  assert.equal(await page.locator(".agent-group").count(), 1);
  await page.getByRole("group", { name: "Filter by state" }).getByRole("button").first().click();
  await page.waitForURL(/state=/);
});

test("an agent's row leads to its page, where it is answered and its session ended", async () => {
  const page = await world.page("ben", "/?person=me");
  await page.locator(".agent-link").first().click();
  await page.waitForURL(/\/agents\//);
  await page.getByText("Said last").waitFor();
  await page.getByRole("button", { name: "End session" }).click();
  await dialog(page).getByRole("button", { name: "End it" }).click();
  await page.locator(".page-sub").getByText("Ended").waitFor();
});

test("thirty acknowledgements are one line and one click; a question is answered in place", async () => {
  const page = await world.page("ana", "/");
  const row = page.locator(".need-kind").filter({ hasText: "30 to acknowledge" });
  await row.getByRole("button", { name: "All 30 to acknowledge" }).click();
  await row.waitFor({ state: "detached" });
  const question = page.locator(".need").filter({ hasText: "Which claim in the access token" });
  await question.getByRole("button", { name: /^Answer/ }).click();
  await question.getByRole("textbox").fill("It is called tid.");
  await question.getByRole("button", { name: "Answer", exact: true }).click();
  await question.waitFor({ state: "detached" });
});

test("lanes are used by keyboard and read as a table", async () => {
  const page = await world.page("ana", "/?view=lanes&span=168");
  const chart = page.getByRole("group", { name: /^Lanes of/ });
  await chart.focus();
  await page.keyboard.press("ArrowDown");
  const first = await page.locator(".lanes-moment").textContent();
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction((t) => document.querySelector(".lanes-moment").textContent !== t, first);
  await page.keyboard.press("+");
  await page.getByRole("button", { name: /show all/ }).waitFor();
  await page.getByRole("button", { name: "As a table" }).click();
  await page.locator(".lane-table tbody").getByText(/collide in CF-\d+/).first().waitFor();
  const box = await (await world.page("ana", "/?view=lanes&span=168")).locator(".lanes-svg").boundingBox();
  assert.ok(box.height < 900, `the lanes are ${box.height} pixels high`);
});

test("a folder of the territory is entered by keyboard and says who is there", async () => {
  const page = await world.page("ana", "/?view=territory&repo=northwind%2Fstorefront");
  const box = page.locator("[data-box]").first();
  await box.focus();
  const before = await box.getAttribute("aria-label");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((t) => document.activeElement.getAttribute("aria-label") !== t && document.activeElement.hasAttribute("data-box"), before);
  await page.keyboard.press("Enter");
  await page.waitForURL(/folder=/);
  for (const part of ["Here now", "Claims", "Conflicts", "History"]) await page.getByRole("heading", { name: part }).waitFor();
  const phone = await world.page("ana", "/?view=territory&repo=northwind%2Fstorefront", { viewport: { width: 390, height: 844 } });
  await phone.getByRole("list", { name: "Folders" }).getByRole("listitem").first().waitFor();
  await phone.locator("[data-box]").first().waitFor({ state: "detached" }); // once its width is measured
});

test("a conflict shows both sides on a ruler, and who is on neither side promises nothing", async () => {
  const { ref } = world.overlap;
  const page = await world.page("elif", `/conflicts/${ref}`);
  await page.locator(".ruler-both").first().waitFor();
  await page.getByText(/both: lines 52–57/).waitFor();
  for (const verb of ["I will rebase", "Acknowledge", "Propose this order"]) assert.equal(await page.getByRole("button", { name: verb }).count(), 0, verb);
  assert.doesNotMatch(await page.locator("main").textContent(), /intent_update|conflict_respond|wait_for|scope_remove/);
  const key = world.overlap.parties[0].user.email.split("@")[0];
  assert.ok(key);
});

test("70 edits cost an open Now less than 150 KB", async (t) => {
  const page = await world.page("ana", "/");
  await page.locator('.connection[data-state="live"]').first().waitFor({ state: "attached" });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  const cost = { bytes: 0, requests: 0 };
  cdp.on("Network.dataReceived", (e) => (cost.bytes += e.encodedDataLength));
  cdp.on("Network.requestWillBeSent", () => cost.requests++);
  const began = Date.now();
  for (let i = 0; i < 70; i++) {
    const a = world.list[(i * 7) % 40];
    await a.edit(fileOf(a.file, 300 + i, [[200 + i, 2]], { new_blob: "c".repeat(38) + (10 + i) }));
    // As an agent would, not all at once: the page gathers what comes together.
    await new Promise((r) => setTimeout(r, Math.max(0, began + (i + 1) * 100 - Date.now())));
  }
  await world.list[0].hook("stop", { status: { excerpt: "All seventy are done", files: [] } });
  await page.waitForFunction(() => [...document.querySelectorAll(".agent-says")].some((e) => e.title.includes("All seventy are done")));
  t.diagnostic(`${(cost.bytes / 1024).toFixed(1)} KB in ${cost.requests} requests over ${Math.round((Date.now() - began) / 1000)} s`);
  assert.ok(cost.bytes < 150 * 1024, `${cost.bytes} bytes`);
  assert.ok(cost.requests < 60, `${cost.requests} requests`);
});
