// Takes a picture of every page, light and dark, wide and narrow.
import { mkdirSync } from "node:fs";
import { useFixtures } from "../demo/fixtures.mjs";
import { seed, seedPeople } from "../demo/seed.mjs";
import { startServer } from "../demo/server.mjs";
import { beSignedIn, launch, newContext } from "./browser.mjs";

const out = new URL("../screenshots/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const only = process.argv[2];

const server = await startServer();
const fresh = await startServer();
const browser = await launch();
try {
  const world = await seed(server.url, server.code);
  const conflicts = (await world.clients.ana.get("/v1/conflicts?limit=50")).items;
  const conflict = conflicts.find((c) => c.evidence.some((e) => e.before)) ?? conflicts[0];
  const pages = {
    "now": "/",
    "conflicts": "/conflicts",
    "conflict": `/conflicts/${conflict?.ref}`,
    "intents": "/intents",
    "intent": `/intents/${world.agents.session.intent.ref}`,
    "messages": "/messages",
    "thread": null,
    "activity": "/activity",
    "history": "/history?q=session",
    "repos": "/repos",
    "repo": "/repos/northwind/shop-api",
    "contract": "/contracts?repo=northwind%2Fshop-api&key=" + encodeURIComponent("http:GET /v2/orders/{id}"),
    "stats": "/stats",
    ...Object.fromEntries(["profile", "tokens", "members", "policies", "data", "billing", "audit", "github", "slack", "digest", "webhooks"].map((t) => [`settings-${t}`, `/settings/${t}`])),
    "not-found": "/nowhere".replace("nowhere", "settings/nowhere"),
    "sign-in": "/sign-in",
    "device": "/device",
  };
  const empty = await seedPeople(fresh.url, fresh.code);
  for (const scheme of ["light", "dark"]) {
    for (const width of [1440, 390]) {
      const context = await newContext(browser, { viewport: { width, height: width === 390 ? 844 : 900 }, colorScheme: scheme });
      await useFixtures(context);
      await beSignedIn(context, server.url, world.clients.ana);
      const page = await context.newPage();
      const shoot = async (name, url, full = true) => {
        if (only && !name.startsWith(only)) return;
        await page.goto(url);
        await page.waitForLoadState("load");
        await page.locator("h1").first().waitFor();
        await page.waitForFunction(() => !document.querySelector(".loading"));
        await page.waitForTimeout(250);
        await page.screenshot({ path: `${out}${name}-${scheme}-${width}.png`, fullPage: full });
      };
      for (const [name, path] of Object.entries(pages)) {
        if (path) await shoot(name, server.url + path, !["messages", "activity"].includes(name));
        else if (!only || name.startsWith(only)) {
          const list = await page.request.get(server.url + "/v1/conversations?limit=20", { headers: { "X-Svc-Org": world.org } });
          const id = list.ok() ? (await list.json()).items.find((c) => c.repo)?.id : "c2";
          await shoot(name, `${server.url}/messages/${id ?? "c2"}`, false);
        }
      }
      if (!only || "palette".startsWith(only)) {
        await page.goto(server.url + "/");
        await page.locator("h1").first().waitFor();
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox", { name: "Search or go to" }).fill("se");
        await page.waitForTimeout(500);
        await page.screenshot({ path: `${out}palette-${scheme}-${width}.png` });
      }
      // Cookies know no ports: the other server needs another jar.
      await context.clearCookies();
      await beSignedIn(context, fresh.url, empty.clients.ana);
      await shoot("now-empty", fresh.url + "/");
      await shoot("intents-empty", fresh.url + "/intents");
      if (context.faults.length) console.error(`${scheme} ${width}:\n  ` + context.faults.join("\n  "));
      await context.close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
  await fresh.stop();
}
