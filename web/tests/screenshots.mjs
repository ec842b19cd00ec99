// Takes a picture of every page, light and dark, at three widths: of a small
// team, of a crowd and of an empty org. The README's are among them.
import { copyFileSync, mkdirSync } from "node:fs";
import { seedCrowd } from "../demo/crowd.mjs";
import { seed, seedPeople } from "../demo/seed.mjs";
import { startServer } from "../demo/server.mjs";
import { beSignedIn, launch, newContext } from "./browser.mjs";
import { crowdPlaces } from "./places.mjs";

const out = new URL("../screenshots/", import.meta.url).pathname;
mkdirSync(out, { recursive: true });
const docs = new URL("../../docs/pictures/", import.meta.url).pathname;
const only = process.argv[2];

/** What an agent of Claude Code reads when svc stops its edit, as its terminal shows it. */
const terminal = (file, reason) => `<style>
  body { margin: 0; background: #1e1e1e; color: #d4d4d4; font: 15px/1.55 "DejaVu Sans Mono", monospace }
  main { width: 900px; padding: 22px 26px; white-space: pre-wrap; overflow-wrap: anywhere }
  .result { display: grid; grid-template-columns: 4ch 1fr } .said { color: #f48771 } .dot { color: #f14c4c }
</style><main><div><span class="dot">●</span> <b>Update</b>(${file})</div><div class="result"><span>  └ </span><span class="said">Error: PreToolUse:Edit hook error: ${reason}</span></div></main>`;

/** The demo is minutes old; its figures are drawn as if it were a month. */
async function aMonth(route) {
  const answer = await route.fetch();
  const stats = await answer.json();
  const weekday = (date) => (new Date(date).getUTCDay() + 6) % 7;
  const wave = (i, n) => Math.round(Math.abs(Math.sin(i * 1.7) + Math.sin(i * 0.45)) * n);
  for (const [i, d] of stats.daily.entries()) {
    const busy = weekday(d.date) < 5 ? 1 + i / 40 : 0.15;
    Object.assign(d, { sessions: wave(i, 9 * busy) + Math.round(6 * busy), conflicts: wave(i + 2, 4 * busy), resolved: wave(i + 1, 3 * busy), blocked: wave(i + 5, 1.2 * busy), intents: wave(i, 6 * busy), messages: wave(i, 12 * busy), warned: wave(i + 3, 3 * busy) });
  }
  for (const key of ["sessions", "conflicts", "resolved", "blocked", "intents", "messages", "warned"]) stats.totals[key] = stats.daily.reduce((n, d) => n + (d[key] ?? 0), 0);
  stats.heatmap = stats.heatmap.map((row, d) => row.map((_, h) => (d > 4 ? 0.12 : 1) * Math.max(0, Math.round(9 * Math.exp(-((h - 10) ** 2) / 9) + 11 * Math.exp(-((h - 15) ** 2) / 8) + wave(d + h, 1.6)))).map(Math.round));
  return route.fulfill({ response: answer, json: stats });
}

const server = await startServer();
const fresh = await startServer();
const full = await startServer();
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
    ...Object.fromEntries(["profile", "tokens", "members", "policies", "data", "billing", "audit", "github", "slack", "mail", "digest", "webhooks"].map((t) => [`settings-${t}`, `/settings/${t}`])),
    "not-found": "/nowhere".replace("nowhere", "settings/nowhere"),
    "sign-in": "/sign-in",
    "device": "/device",
  };
  if (!only || "warned".startsWith(only)) {
    const file = "internal/session/middleware.go";
    const { decision, reason } = await world.agents.audit.hook("pre_edit", { paths: [file] });
    if (decision !== "block") throw new Error(`the edit is not stopped but answered ${decision}`);
    const page = await (await browser.newContext({ deviceScaleFactor: 2 })).newPage();
    await page.setContent(terminal(file, reason.replaceAll("&", "&amp;").replaceAll("<", "&lt;")));
    await page.locator("main").screenshot({ path: `${docs}warned.png` });
    await page.context().close();
  }
  const empty = await seedPeople(fresh.url, fresh.code);
  const crowd = (!only || only.startsWith("crowd")) && (await seedCrowd(full.url, full.code, full.database));
  for (const scheme of ["light", "dark"]) {
    for (const width of [1440, 1024, 390]) {
      const height = width === 390 ? 844 : 900;
      const context = await newContext(browser, { viewport: { width, height }, colorScheme: scheme });
      await context.route((url) => url.pathname === "/v1/stats", aMonth);
      await beSignedIn(context, server.url, world.clients.ana);
      const page = await context.newPage();
      const shoot = async (name, url, whole = true) => {
        if (only && !name.startsWith(only)) return;
        await page.goto(url);
        await page.waitForLoadState("load");
        await page.locator("h1").first().waitFor();
        await page.waitForFunction(() => !document.querySelector(".loading"));
        await page.waitForTimeout(250);
        // A taller window instead of a full-page picture: what sticks to an
        // edge stays there.
        const tall = whole ? await page.evaluate(() => document.documentElement.scrollHeight) : height;
        await page.setViewportSize({ width, height: Math.max(height, tall) });
        await page.waitForTimeout(150);
        await page.screenshot({ path: `${out}${name}-${scheme}-${width}.png` });
        if (name === "now" && scheme === "light" && width === 1440) copyFileSync(`${out}now-light-1440.png`, `${docs}now.png`);
        await page.setViewportSize({ width, height });
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
      // Cookies know no ports: the other servers need other jars.
      await context.clearCookies();
      if (crowd) {
        await beSignedIn(context, full.url, crowd.clients.ana);
        for (const [name, path] of Object.entries(crowdPlaces(crowd))) if (!/^settings|device|not there/.test(name)) await shoot(`crowd-${name.replaceAll(" ", "-")}`, full.url + path, !/^(messages|thread|activity|all|closed|intents)/.test(name));
        await context.clearCookies();
      }
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
  await full.stop();
}
