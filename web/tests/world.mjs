// What most tests start from: a real server with a team at work, and a browser.
import { after, afterEach, before } from "node:test";
import assert from "node:assert/strict";
import { seed } from "../demo/seed.mjs";
import { startServer } from "../demo/server.mjs";
import { beSignedIn, launch, newContext } from "./browser.mjs";

/** Sets up server, demo and browser around the tests of a file. A person keeps
 * one browser profile throughout the file, and pages of it, which each test
 * loads anew: that costs half of a new one. Demo may be another way to seed,
 * flags a function that gives them. */
export function useWorld({ demo = true, flags = [] } = {}) {
  const world = { profiles: new Map() };
  before(async () => {
    world.server = await startServer(typeof flags === "function" ? await flags() : flags);
    world.url = world.server.url;
    [world.browser] = await Promise.all([launch(), demo && (demo === true ? seed : demo)(world.server.url, world.server.code, world.server.database).then((w) => Object.assign(world, w))]);
  });
  after(async () => {
    await world.browser?.close();
    await world.server?.stop();
  });
  afterEach(async () => {
    const profiles = [...world.profiles.values()];
    for (const p of profiles) p.idle = p.pages();
    assert.deepEqual(profiles.flatMap((p) => p.faults.splice(0)), [], "the browser complained");
  });

  /** The browser profile of somebody: a client with a cookie, or nobody. */
  world.profile = async (client, options = {}) => {
    const key = (client?.cookie ?? "") + JSON.stringify(options);
    if (client && world.profiles.has(key)) return world.profiles.get(key);
    const context = await newContext(world.browser, options);
    world.profiles.set(client ? key : Symbol("a stranger"), context);
    if (client) await beSignedIn(context, world.url, client);
    return context;
  };

  /** A page that the test does not use yet. */
  world.pageOf = (profile) => profile.idle?.shift() ?? profile.newPage();

  /** A page of somebody of the demo, settled unless path is null. */
  world.page = async (who = "ana", path = "/", options = {}) => {
    const page = await world.pageOf(await world.profile(world.clients[who], options));
    if (path !== null) await goTo(page, world.url + path);
    return page;
  };

  /** Takes back complaints that a test provoked. */
  world.forgive = (pattern) => {
    for (const p of world.profiles.values()) p.faults.splice(0, Infinity, ...p.faults.filter((f) => !pattern.test(f)));
  };
  return world;
}

export async function goTo(page, url) {
  await page.goto(url);
  await settled(page);
}

/** Waits until a page shows its content, not that of the question before, and hears of what happens next. */
export async function settled(page) {
  await page.locator("h1").first().waitFor();
  const busy = ".loading, [aria-busy=true], .connection:not([data-state=live])";
  await page.waitForFunction((busy) => !document.querySelector(busy), busy, { polling: 40 }); // at each frame it would have them drawn
}

/** Goes to another page of the dashboard without loading it anew. */
export async function walkTo(page, path) {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    return new Promise((drawn) => window.nextFrame(() => window.nextFrame(drawn)));
  }, path);
  await settled(page);
}

export const dialog = (page) => page.getByRole("dialog");

/** Waits until a page has shown a notice, even if it is gone again. */
export const said = (page, text) => page.waitForFunction((t) => window.notices.some((n) => n.includes(t)), text);

/** Picks an option of a drop-down. */
export async function choose(page, box, option) {
  await box.click();
  await page.getByRole("option", { name: option }).click();
}
