// svc login against a running server, with the person in the browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { rig, svc } from "../demo/server.mjs";
import { useWorld } from "./world.mjs";

const world = useWorld();
const running = new Set();
afterEach(() => running.forEach((l) => l.end()));

/** Starts svc login in a home of its own; tells its code once it shows one. */
async function login() {
  const home = mkdtempSync(join(tmpdir(), "svc-login-"));
  const env = { PATH: process.env.PATH, HOME: home, SVC_CONFIG_DIR: join(home, "config"), SVC_NO_BROWSER: "1", SVC_NO_UPDATE_CHECK: "1" };
  const child = spawn(svc, ["login", "--server", world.url], { env, stdio: ["ignore", "pipe", "pipe"] });
  const l = { home, stdout: "", stderr: "" };
  l.ended = new Promise((resolve) => child.on("close", resolve));
  l.end = () => {
    child.kill();
    rmSync(home, { recursive: true, force: true });
    running.delete(l);
  };
  running.add(l);
  child.stdout.on("data", (b) => (l.stdout += b));
  await new Promise((resolve, reject) => {
    child.on("close", () => reject(new Error(`svc login ended: ${l.stderr}`)));
    child.stderr.on("data", (b) => {
      l.stderr += b;
      if (/Waiting for approval/.test(l.stderr)) resolve();
    });
  });
  l.code = /Type\s+(\S+)/.exec(l.stderr)[1];
  assert.match(l.stderr, new RegExp(`Open\\s+${world.url}/device`));
  // Not the cache: svc unpacks itself there.
  const kept = (f) => f.isFile() && !f.path.startsWith(join(home, ".cache"));
  l.stored = () => readdirSync(home, { recursive: true, withFileTypes: true }).filter(kept).map((f) => readFileSync(join(f.path, f.name), "utf8")).join("");
  return l;
}

async function type(page, code) {
  await page.getByLabel("Code").fill(code.toLowerCase());
  await page.keyboard.press("Enter");
}

async function lookAt(who, code) {
  const page = await world.page(who, "/device");
  await type(page, code);
  await page.getByRole("heading", { name: "Connect this device?" }).waitFor();
  return page;
}

/** The tokens of Northwind. */
const tokens = async () => (await world.clients.ana.get("/v1/tokens?limit=100")).items;

test("svc login is approved in the browser and acts as who approved", async () => {
  const l = await login();
  const page = await lookAt("chen", l.code);
  const facts = page.locator(".facts");
  for (const fact of ["127.0.0.1", "the same as yours", "svc "]) await facts.getByText(fact).first().waitFor();
  await page.getByText("It will act as you, chen@northwind.example, in Northwind.").waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "Device connected" }).waitFor();
  assert.equal(await l.ended, 0, l.stderr);
  assert.match(l.stdout, /Logged in to http:\S+ as chen@northwind\.example, Northwind \(member\)\./);
  assert.match(l.stored(), /svc_[\w-]{43}/);

  // The code is used up, for its owner and for anybody else.
  const other = await world.page("ben", "/device");
  await type(other, l.code);
  await other.getByRole("alert").getByText("no request is waiting under this code").waitFor();
});

test("denying takes as many clicks as approving, and the terminal hears of it", async () => {
  const l = await login();
  const page = await lookAt("ana", l.code);
  const [deny, approve] = await Promise.all(["Deny", "Approve"].map((name) => page.getByRole("button", { name, exact: true }).boundingBox()));
  assert.ok(Math.abs(deny.width - approve.width) < 1 && deny.y === approve.y && deny.height === approve.height, "the buttons are not alike");
  const before = (await tokens()).length;
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByRole("heading", { name: "Request denied" }).waitFor();
  assert.equal(await l.ended, 1);
  assert.match(l.stderr, /denied in the browser/);
  assert.equal(l.stored().includes("svc_"), false);
  assert.equal((await tokens()).length, before);
});

test("a code that is too old connects nothing, before it is looked at or after", async () => {
  const [early, late] = await Promise.all([login(), login()]);
  rig("expire", world.server.database, early.code);
  const page = await world.page("ana", "/device");
  await type(page, early.code);
  await page.getByRole("alert").getByText("run svc login again").waitFor();

  const open = await lookAt("dara", late.code);
  rig("expire", world.server.database, late.code);
  await open.getByRole("button", { name: "Approve" }).click();
  await open.getByRole("alert").getByText("run svc login again").waitFor();
  for (const l of [early, late]) {
    assert.equal(await l.ended, 1);
    assert.match(l.stderr, /expired before it was approved; run svc login again/);
  }
});

test("of two who try a code only the first decides", async () => {
  const l = await login();
  const [ana, ben] = [await lookAt("ana", l.code), await lookAt("ben", l.code)];
  await ben.getByRole("button", { name: "Deny" }).click();
  await ben.getByRole("heading", { name: "Request denied" }).waitFor();
  await ana.getByRole("button", { name: "Approve" }).click();
  await ana.getByRole("alert").getByText("no request is waiting under this code").waitFor();
  assert.equal(await l.ended, 1);
  assert.match(l.stderr, /denied in the browser/);
});

test("the org that one looks at is the one that the device gets, and one can look at another", async () => {
  rig("org", world.server.database, "Contoso", "ben@northwind.example");
  const page = await world.page("ben", "/");
  await page.getByRole("button", { name: "Org Northwind, menu" }).click();
  await page.getByRole("menuitem", { name: /Contoso/ }).click();
  await page.getByText("Connect your first agent").waitFor(); // nobody works there yet
  assert.equal(await page.locator('[title="northwind/shop-api"]').count(), 0);
  await page.getByRole("button", { name: "Org Contoso, menu" }).waitFor();

  const before = (await tokens()).length;
  const l = await login();
  await page.goto(world.url + "/device");
  await type(page, l.code);
  await page.getByText("It will act as you, ben@northwind.example, in Contoso.").waitFor();
  await page.getByRole("button", { name: "Approve" }).click();
  assert.equal(await l.ended, 0, l.stderr);
  assert.match(l.stdout, /Contoso \(owner\)/);
  assert.equal((await tokens()).length, before, "Northwind has the token that Contoso was given");

  await page.goto(world.url + "/");
  await page.getByRole("button", { name: "Org Contoso, menu" }).click();
  await page.getByRole("menuitem", { name: /Northwind/ }).click();
  await page.locator('.agent-repo[title="northwind/shop-api"]').first().waitFor();
});

test("a stranger signs in first and comes back to the code", async () => {
  const page = await world.pageOf(await world.profile(null));
  await page.goto(world.url + "/device");
  await page.waitForURL(/sign-in\?next=%2Fdevice/);
});
