// Every page in every look: axe finds nothing serious, and it fits the window.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { places } from "./places.mjs";
import { useWorld, walkTo } from "./world.mjs";

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const world = useWorld();

async function serious(page, rules) {
  const violations = await page.evaluate(async (rules) => {
    const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
    const found = (await window.axe.run(document, options)).violations;
    return found.map((v) => ({ id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4).map((n) => `${n.target} ${n.any[0]?.message ?? ""}`) }));
  }, rules);
  return violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes.join(" | ")}`);
}

// Of what axe looks at, only the contrast depends on the colours.
const looks = {
  "light, wide": { colorScheme: "light" },
  "dark, wide": { colorScheme: "dark", rules: ["color-contrast"] },
  "light, phone": { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
};

for (const [look, { rules, ...options }] of Object.entries(looks)) {
  test(`every page is accessible and fits (${look})`, async () => {
    const page = await world.page("ana", "/", options);
    await page.evaluate(axe); // by the debugger, which the page's policy does not bind
    const found = {};
    for (const [name, path] of Object.entries(places(world))) {
      await walkTo(page, path);
      const wrong = await serious(page, rules);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (over > 0) wrong.push(`wider than the window by ${over} pixels`);
      if (wrong.length) found[name] = wrong;
    }
    assert.deepEqual(found, {});
  });
}
