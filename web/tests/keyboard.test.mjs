// The main actions without a mouse.
import assert from "node:assert/strict";
import { test } from "node:test";
import { moveTo, tabTo } from "./hand.mjs";
import { dialog, goTo, said, useWorld } from "./world.mjs";

const world = useWorld();

const arrowTo = (page, locator) => moveTo(page, locator, "ArrowDown");

async function press(page, locator, key = "Enter") {
  await tabTo(page, locator);
  await page.keyboard.press(key);
}

/** Opens a menu and waits until the focus is in it: until then its keys go to the button. */
async function openMenu(page, button) {
  await press(page, button);
  await page.waitForFunction(() => document.activeElement?.closest('[role="menu"]'));
}

/** Opens the list of a box and types until what is wanted is marked: Enter takes it. */
async function find(page, box, text, wanted) {
  await tabTo(page, box);
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option", { name: wanted, exact: true }).waitFor();
  await page.keyboard.type(text);
  await page.locator("[data-combobox-selected]").filter({ hasText: new RegExp(`^${wanted}$`) }).waitFor();
}

test("the keyboard reaches everything: palette, shortcuts, rows", async () => {
  const page = await world.page("ana", "/");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or go to" }).fill("audit");
  await page.keyboard.press("Enter");
  await page.waitForURL(/settings\/audit/);
  await page.getByRole("heading", { name: "Audit log" }).click();
  await Promise.all([page.keyboard.press("g"), page.keyboard.press("i")]); // sent together: there is a time limit between them
  await page.waitForURL(/\/intents$/);
  await page.locator("[data-row]").first().waitFor();
  await page.locator("[data-row]").first().focus();
  await page.keyboard.press("j");
  const second = await page.evaluate(() => document.activeElement.getAttribute("href"));
  assert.match(second, /^\/intents\/INT-/);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(second + "$"));
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or go to" }).fill("cf-1");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/conflicts\/CF-1$/);
});

test("an intent is opened, edited and closed", async () => {
  const { ref } = world.agents.ledger.intent;
  const page = await world.page("ben", "/intents?repo=northwind%2Fpayments");
  await press(page, page.locator("[data-row]").first());
  await page.waitForURL(new RegExp(ref + "$"));
  await press(page, page.getByRole("button", { name: "Edit" }));
  await tabTo(page, dialog(page).getByLabel("Title"));
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Split the ledger, then merge it");
  await press(page, dialog(page).getByRole("button", { name: "Save" }));
  await page.getByRole("heading", { name: "Split the ledger, then merge it" }).waitFor();
  await dialog(page).waitFor({ state: "detached" });

  await openMenu(page, page.getByRole("button", { name: "Close", exact: true }));
  await arrowTo(page, page.getByRole("menuitem", { name: "It is merged" }));
  await page.keyboard.press("Enter");
  await press(page, dialog(page).getByRole("button", { name: "Close as merged" }));
  await page.locator(".page-sub").getByText("Merged").waitFor();
});

test("a dialog takes the focus and gives it back", async () => {
  const page = await world.page("ana", `/intents/${world.agents.refresh.intent.ref}`);
  await press(page, page.getByRole("button", { name: "Edit" }));
  await dialog(page).waitFor();
  await page.waitForFunction(() => document.querySelector('[role="dialog"]')?.contains(document.activeElement));
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.textContent === "Edit");
});

test("a conflict is acknowledged", async () => {
  const conflict = (await world.clients.ana.get("/v1/conflicts?status=open&limit=50")).items.find((c) => c.parties.some((p) => p.user?.email === "ana@northwind.example"));
  const page = await world.page("ana", `/conflicts/${conflict.ref}`);
  await press(page, page.getByRole("button", { name: "Acknowledge" }), " ");
  await tabTo(page, dialog(page).getByLabel("Note"));
  await page.keyboard.type("Seen, without a mouse.");
  await press(page, dialog(page).getByRole("button", { name: "Acknowledge" }));
  await page.getByText("Seen, without a mouse.").waitFor();
});

test("a message is written and sent", async () => {
  const page = await world.page("chen", "/messages");
  await press(page, page.getByRole("button", { name: "New message" }));
  await find(page, dialog(page).getByRole("combobox", { name: "To" }), "Dara", "Dara Singh");
  await page.keyboard.press("Enter");
  await tabTo(page, dialog(page).getByLabel(/^Message/));
  await page.keyboard.type("By keyboard.");
  await press(page, dialog(page).getByRole("button", { name: "Send" }));
  await page.waitForURL(/\/messages\/[0-9a-f-]{36}$/);
  await page.locator(".post").filter({ hasText: "By keyboard." }).waitFor();
});

test("the person who is marked in a list is the one who is chosen, however late the page's timers run", async () => {
  const page = await world.page("chen", "/messages");
  await press(page, page.getByRole("button", { name: "New message" }));
  const to = dialog(page).getByRole("combobox", { name: "To" });
  await tabTo(page, to);
  await page.keyboard.press("ArrowDown");
  await page.getByRole("option", { name: "Dara Singh", exact: true }).waitFor(); // answers have come: they need timers themselves
  await page.keyboard.press("Tab");
  await page.evaluate(() => {
    // Chromium puts timers behind input and the next frame, which a busy machine is slow to draw.
    const real = window.setTimeout;
    const late = [];
    window.setTimeout = (then, ms, ...rest) => (ms ? real(then, ms, ...rest) : late.push(then));
    window.runTimers = () => ((window.setTimeout = real), late.forEach((then) => then()));
  });
  await find(page, to, "Dara", "Dara Singh");
  await page.evaluate(() => window.runTimers());
  await page.keyboard.press("Enter");
  assert.equal(await to.inputValue(), "Dara Singh");
});

test("what needs somebody is dismissed, a contract chosen in the graph, a policy set", async () => {
  const page = await world.page("ana", "/");
  const item = page.locator(".need-kind").filter({ hasText: "fatima@" });
  await press(page, item.getByRole("button", { name: /^Dismiss/ }));
  await item.waitFor({ state: "detached" });

  await goTo(page, world.url + "/repos");
  await press(page, page.getByRole("link", { name: "Skip to content" }));
  const bond = page.getByRole("button", { name: /shop-api uses 1 contract of payments/ });
  await press(page, bond, " ");
  await page.locator(".bond-head").filter({ hasText: "payments" }).waitFor();
  await press(page, page.locator(".bond-item").first());
  await page.waitForURL(/\/contracts\?/);

  await goTo(page, world.url + "/settings/policies");
  await press(page, page.getByRole("link", { name: "Skip to content" }));
  const choice = page.getByRole("radiogroup", { name: "Editing without a declared intent" }).getByRole("radio", { checked: true });
  await tabTo(page, choice);
  await page.keyboard.press("ArrowRight");
  await press(page, page.getByRole("button", { name: "Put in force" }));
  await said(page, "in force");
  assert.equal((await world.clients.ana.get("/v1/policies")).effective.require_intent, "warn");
});

test("the org menu and the account menu open and close", async () => {
  const page = await world.page("ana", "/");
  await openMenu(page, page.getByRole("button", { name: /^Org Northwind/ }));
  await page.getByRole("menuitem", { name: /Northwind/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("menuitem").first().waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.matches(".org-button"));
  await openMenu(page, page.getByRole("button", { name: /account menu/ }));
  await arrowTo(page, page.getByRole("menuitem", { name: "Dark" }));
  await page.keyboard.press("Enter");
  await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
});
