// The first load of the first page, from an empty cache, as it travels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, useWorld } from "./world.mjs";

const world = useWorld();
const limit = 250 * 1024;

test("the first load transfers at most 250 KB", async (t) => {
  const page = await world.page("ana", null);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  const sizes = new Map();
  const names = new Map();
  cdp.on("Network.responseReceived", (e) => names.set(e.requestId, new URL(e.response.url).pathname));
  cdp.on("Network.loadingFinished", (e) => sizes.set(e.requestId, e.encodedDataLength));
  await page.goto(world.url + "/");
  await settled(page);
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  const files = [...sizes].map(([id, size]) => ({ name: names.get(id) ?? "", size })).filter((f) => !f.name.startsWith("/v1/"));
  const total = files.reduce((n, f) => n + f.size, 0);
  const largest = files.sort((a, b) => b.size - a.size).slice(0, 5).map((f) => `${f.name} ${Math.round(f.size / 1024)}`);
  t.diagnostic(`${(total / 1024).toFixed(1)} KB in ${files.length} files; ${largest.join(", ")}`);
  assert.ok(files.some((f) => f.name.endsWith(".woff2")), "the font was not counted");
  assert.ok(total <= limit, `${total} bytes`);
});
