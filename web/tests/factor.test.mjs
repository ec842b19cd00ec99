// The second factor: set up, asked for, proved again, recovered from, removed.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "../demo/client.mjs";
import { password } from "../demo/seed.mjs";
import { rig } from "../demo/server.mjs";
import { dialog, said, settled, useWorld } from "./world.mjs";

const world = useWorld();
const email = "ben@northwind.example";
let secret;
let codes;
let used = 0; // the step of the newest code that was taken

/** The app on the phone. A code is taken once, and up to half a minute early, so that no test waits for the next. */
function code() {
  const bits = [...secret].map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2)));
  const step = Math.max(Math.floor(Date.now() / 30000), used + 1);
  used = step;
  const at = Buffer.alloc(8);
  at.writeBigInt64BE(BigInt(step));
  const sum = createHmac("sha1", key).update(at).digest();
  return String((sum.readUInt32BE(sum[19] & 15) & 0x7fffffff) % 1e6).padStart(6, "0");
}

async function atTheDoor() {
  const page = await world.pageOf(await world.profile());
  await page.goto(world.url + "/sign-in?next=/settings/profile");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "One more step" }).waitFor();
  return page;
}

test("an authenticator app is set up by scanning and a code", async () => {
  const page = await world.page("ben", "/settings/profile");
  await page.getByRole("button", { name: "Set up an authenticator app" }).click();
  await dialog(page).getByRole("img", { name: /QR code/ }).waitFor();
  secret = (await dialog(page).locator("code").textContent()).trim();
  await dialog(page).getByRole("textbox", { name: "Code" }).fill("000000");
  await dialog(page).getByRole("button", { name: "Turn it on" }).click();
  await dialog(page).getByText(/not what the app shows/).waitFor();
  await dialog(page).getByRole("textbox", { name: "Code" }).fill(code());
  await dialog(page).getByRole("button", { name: "Turn it on" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  codes = await dialog(page).locator("li code").allTextContents();
  assert.equal(new Set(codes).size, 10);
  await dialog(page).getByRole("button", { name: "I have them" }).click();
  await page.getByText("10 left").waitFor();
});

test("signing in asks for the code, and takes a recovery code in its place, once", async () => {
  const page = await atTheDoor();
  await page.getByRole("textbox", { name: "Code" }).fill("000000");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText(/code is wrong/).waitFor();
  await page.getByRole("textbox", { name: "Code" }).fill(code());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/settings\/profile/);

  for (const again of [false, true]) {
    const lost = await atTheDoor();
    await lost.getByRole("button", { name: "Use a recovery code" }).click();
    await lost.getByLabel("Recovery code").fill(codes[0]);
    await lost.getByRole("button", { name: "Sign in" }).click();
    if (again) await lost.getByRole("alert").getByText(/used already/).waitFor();
    else await lost.getByText("9 left").waitFor();
  }
});

test("what matters asks for a fresh proof, and then goes on", async () => {
  const ben = new Client(world.url, { org: "northwind" });
  const half = await ben.post("/v1/auth/sign-in", { email, password });
  await ben.post("/v1/auth/second-factor", { ticket: half.second_factor.ticket, code: codes[1] });
  rig("stale", world.server.database, email);
  const page = await world.pageOf(await world.profile(ben));
  await page.goto(world.url + "/settings/profile");
  const remove = async () => {
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await dialog(page).getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("heading", { name: "Is it still you?" }).waitFor();
  };
  await remove();
  await dialog(page).last().getByRole("button", { name: "Cancel" }).click();
  await said(page, "fresh proof");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await remove();
  await dialog(page).last().getByRole("textbox", { name: "Code" }).fill(codes[2]);
  await dialog(page).last().getByRole("button", { name: "Go on" }).click();
  await said(page, "takes no code any more");
  await page.getByRole("button", { name: "Set up an authenticator app" }).waitFor();
});

test("an owner downloads what the org has of a person, who downloads all of it", async () => {
  const lines = async (page, button, name) => {
    const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
    assert.equal(file.suggestedFilename(), name);
    const written = join(await mkdtemp(join(tmpdir(), "svc-export-")), name);
    await file.saveAs(written);
    return (await readFile(written, "utf8")).trim().split("\n").map((l) => JSON.parse(l).table);
  };
  const members = await world.page("ana", "/settings/members");
  const row = members.locator(".row-item").filter({ hasText: "chen@" });
  rig("stale", world.server.database, "ana@northwind.example");
  await row.getByRole("button", { name: "Export" }).click();
  await dialog(members).getByLabel(/^Password/).fill(password); // asked for on a page that knows nothing of her factors yet
  const theirs = await lines(members, dialog(members).getByRole("button", { name: "Go on" }), "svc-chen@northwind.example.ndjson");
  const chen = new Client(world.url, { org: "northwind" });
  await chen.post("/v1/auth/sign-in", { email: "chen@northwind.example", password });
  const page = await world.pageOf(await world.profile(chen));
  await page.goto(world.url + "/settings/profile");
  const own = await lines(page, page.getByRole("button", { name: "Download your data" }), "svc-chen@northwind.example.ndjson");
  assert.ok(theirs.includes("intents") && own.includes("intents"), theirs.join());
  assert.ok(own.includes("web_sessions") && !theirs.includes("web_sessions"), own.join());
});

test("an org that demands a second factor lets people set one up, and then in", async () => {
  const ana = await world.page("ana", "/settings/members");
  const rule = ana.getByLabel("Everybody needs a second factor");
  await settled(ana); // a click on what is still loading is lost
  await rule.click({ force: true });
  await said(ana, "second factor yourself");
  const begun = await world.clients.ana.post("/v1/auth/totp");
  [secret, used] = [begun.secret, 0];
  await world.clients.ana.post("/v1/auth/totp/confirm", { code: code() });
  await ana.reload();
  await settled(ana);
  await rule.click({ force: true });
  await said(ana, "rules for signing in have changed");

  const ben = new Client(world.url, { org: "northwind" });
  await ben.post("/v1/auth/sign-in", { email, password });
  const page = await world.pageOf(await world.profile(ben));
  await page.goto(world.url + "/conflicts");
  await page.getByText("want a second factor of everybody").waitFor();
  await page.getByRole("button", { name: "Set up an authenticator app" }).click();
  secret = (await dialog(page).locator("code").textContent()).trim();
  used = 0;
  await dialog(page).getByRole("textbox", { name: "Code" }).fill(code());
  await dialog(page).getByRole("button", { name: "Turn it on" }).click();
  await dialog(page).getByRole("button", { name: "I have them" }).click();
  await page.getByRole("heading", { name: "Conflicts" }).waitFor();
});

test("an owner erases a person by typing their address", async () => {
  const page = await world.page("ana", "/settings/members");
  const row = page.locator(".row-item").filter({ hasText: "elif@" });
  await row.getByRole("button", { name: "Erase" }).click();
  const erase = dialog(page).getByRole("button", { name: "Erase for good" });
  await dialog(page).getByLabel(/^Their address/).fill("elif");
  assert.equal(await erase.isDisabled(), true);
  await dialog(page).getByLabel(/^Their address/).fill((await row.locator(".dim.clip").textContent()).trim().toUpperCase());
  await erase.click();
  await said(page, "former member 1");
  await row.waitFor({ state: "detached" });
});
