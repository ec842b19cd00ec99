// What most tests start from: a real server with a team at work, and a browser.
import { after, afterEach, before } from "node:test";
import assert from "node:assert/strict";
import { useFixtures } from "../demo/fixtures.mjs";
import { seed } from "../demo/seed.mjs";
import { startServer } from "../demo/server.mjs";
import { beSignedIn, launch, newContext } from "./browser.mjs";

/** Sets up server, demo and browser around the tests of a file. */
export function useWorld({ demo = true } = {}) {
  const world = { open: [] };
  before(async () => {
    world.server = await startServer();
    world.url = world.server.url;
    if (demo) Object.assign(world, await seed(world.server.url, world.server.code));
    world.browser = await launch();
  });
  after(async () => {
    await world.browser?.close();
    await world.server?.stop();
  });
  afterEach(async () => {
    const faults = world.open.flatMap((c) => c.faults);
    await Promise.all(world.open.map((c) => c.close()));
    world.open = [];
    assert.deepEqual(faults, [], "the browser complained");
  });

  /** A page of somebody, signed in unless who is null. */
  world.page = async (who = "ana", path = "/", options = {}) => {
    const context = await newContext(world.browser, options);
    world.open.push(context);
    context.setDefaultTimeout(10_000);
    await useFixtures(context);
    if (who) await beSignedIn(context, world.url, world.clients[who]);
    const page = await context.newPage();
    if (path !== null) await goTo(page, world.url + path);
    return page;
  };
  return world;
}

export async function goTo(page, url) {
  await page.goto(url);
  await settled(page);
}

/** Waits until a page shows its content. */
export async function settled(page) {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".loading"));
}
