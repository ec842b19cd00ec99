// Every page and dialog in every look, with a crowd at work: axe finds nothing
// serious, and nothing is wider than the window.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { seedCrowd } from "../demo/crowd.mjs";
import { crowdPlaces } from "./places.mjs";
import { useWorld, walkTo } from "./world.mjs";

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const world = useWorld({ demo: seedCrowd });

async function serious(page, rules, part) {
  const violations = await page.evaluate(async ([rules, part]) => {
    const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
    const found = (await window.axe.run(part ? document.querySelector(part) : document, options)).violations;
    return found.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4).map((n) => `${n.target} ${n.any[0]?.message ?? ""}`) }));
  }, [rules, part]);
  return violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes.join(" | ")}`);
}
const tooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// Of what axe looks at, only the contrast depends on the colours.
const looks = {
  "light, 1440": { colorScheme: "light" },
  "dark, 1024": { colorScheme: "dark", viewport: { width: 1024, height: 768 }, rules: ["color-contrast"] },
  "light, 390": { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
};

// How to open each kind of dialog.
const dialogs = (world) => ({
  "message to an agent": [`/agents/${world.list[1].session}`, (p) => p.getByRole("button", { name: "Message" }).first()],
  "end of a session": [`/agents/${world.list[0].session}`, (p) => p.getByRole("button", { name: "End session" })],
  "new message": ["/messages", (p) => p.getByRole("button", { name: "New message" })],
  "edit of an intent": [`/intents/${world.list[10].intent.ref}`, (p) => p.getByRole("button", { name: "Edit" })],
  handoff: [`/intents/${world.list[10].intent.ref}`, (p) => p.getByRole("button", { name: "Hand off" })],
  override: [`/conflicts/${world.claim.ref}`, (p) => p.getByRole("button", { name: "Override", exact: true })],
  "action on a conflict": [`/conflicts/${world.overlap.ref}`, (p) => p.getByRole("button", { name: "Mark resolved" })],
  invite: ["/settings/members", (p) => p.getByRole("button", { name: "Invite" })],
  token: ["/settings/tokens", (p) => p.getByRole("button", { name: "New token" })],
  keys: ["/", (p) => p.getByRole("button", { name: "Keys" }).first()],
});

for (const [look, { rules, ...options }] of Object.entries(looks)) {
  test(`every page and dialog is accessible and fits (${look})`, async () => {
    const page = await world.page("ana", "/", options);
    await page.evaluate(axe); // by the debugger, which the page's policy does not bind
    const found = {};
    const look = async (name, part) => {
      const wrong = await serious(page, rules, part);
      const over = await tooWide(page);
      if (over > 0) wrong.push(`wider than the window by ${over} pixels`);
      // The marks around what others chose are for models.
      if (await page.getByText("⟦").count()) wrong.push("marks that are not for people");
      if (wrong.length) found[name] = wrong;
    };
    for (const [name, path] of Object.entries(crowdPlaces(world))) {
      await walkTo(page, path);
      assert.equal(await page.getByText(/That did not load|hit a bug/).count(), 0, name);
      await look(name);
    }
    for (const [name, [path, opener]] of Object.entries(dialogs(world))) {
      if (name === "keys" && options.hasTouch) continue; // who touches has no keys
      await walkTo(page, path);
      await opener(page).click();
      await page.getByRole("dialog").waitFor();
      await page.waitForFunction(() => !document.querySelector(".loading"));
      await look(name, "[role=dialog]");
      await page.getByRole("dialog").getByRole("button", { name: "Close", exact: true }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    assert.deepEqual(found, {});
  });
}
