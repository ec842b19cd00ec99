// Passkeys in a real browser, with Chromium's own virtual authenticator: added, used at the door, after a password and
// for a fresh proof, removed; and the words where there are none.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { Client } from "../demo/client.mjs";
import { password } from "../demo/seed.mjs";
import { rig } from "../demo/server.mjs";
import { beSignedIn } from "./browser.mjs";
import { dialog, said, settled, useWorld } from "./world.mjs";

/** Passkeys belong to a name, so the server has to know under which address browsers come. */
const port = () =>
  new Promise((resolve) => {
    const free = createServer().listen(0, "127.0.0.1", () => {
      const { port } = free.address();
      free.close(() => resolve(port));
    });
  });
let at;
const world = useWorld({
  flags: async () => {
    const free = await port();
    at = `http://localhost:${free}`;
    return ["--addr", `127.0.0.1:${free}`, "--public-url", at];
  },
});
const email = "ben@northwind.example";

/** A page with a device that has a finger on it. */
async function withDevice(client) {
  const profile = await world.profile();
  if (client) await beSignedIn(profile, at, client);
  const page = await world.pageOf(profile);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options });
  return { page, cdp, authenticatorId };
}

/** Another browser with the same device. */
async function sameDevice(device) {
  const { credentials } = await device.cdp.send("WebAuthn.getCredentials", { authenticatorId: device.authenticatorId });
  const other = await withDevice();
  for (const credential of credentials) await other.cdp.send("WebAuthn.addCredential", { authenticatorId: other.authenticatorId, credential });
  return other;
}

async function signedIn() {
  const client = new Client(at, { org: "northwind" });
  await client.post("/v1/auth/sign-in", { email, password });
  return client;
}

let device;

test("a passkey is added under a name, with recovery codes", async () => {
  device = await withDevice(await signedIn());
  const { page } = device;
  await page.goto(at + "/settings/profile");
  await settled(page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await dialog(page).getByRole("textbox", { name: "Name" }).fill("work laptop");
  await dialog(page).getByRole("button", { name: "Go on" }).click();
  await page.getByRole("heading", { name: "Your recovery codes" }).waitFor();
  assert.equal((await dialog(page).locator("li code").allTextContents()).length, 10);
  await dialog(page).getByRole("button", { name: "I have them" }).click();
  const list = page.getByRole("list", { name: "Passkeys" });
  await list.getByText("work laptop").waitFor();
  await list.getByText("not used yet").waitFor();

  // One device has one passkey for an account.
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await dialog(page).getByRole("textbox", { name: "Name" }).fill("again");
  await dialog(page).getByRole("button", { name: "Go on" }).click();
  await dialog(page).getByRole("alert").getByText("already").waitFor();
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
});

test("it signs in without an address or a password", async () => {
  const door = await sameDevice(device);
  await door.page.goto(at + "/sign-in?next=/settings/profile");
  await door.page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await door.page.waitForURL((url) => url.pathname === "/settings/profile");
  await door.page.getByText("last used").waitFor();
  device = door;
});

test("it is the second step after a password", async () => {
  const { page } = (device = await sameDevice(device));
  await page.goto(at + "/sign-in?next=/settings/profile");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "One more step" }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Code" }).count(), 0, "a code is asked of somebody without an app");
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.waitForURL((url) => url.pathname === "/settings/profile");
});

test("a device without one of them is told so, and does not sign in", async () => {
  const { page } = await withDevice();
  await page.goto(at + "/sign-in");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("alert").getByText("No passkey was chosen").waitFor();
  assert.match(page.url(), /sign-in/);
});

test("it proves afresh who somebody is, and is removed", async () => {
  const { page } = device;
  rig("stale", world.server.database, email);
  await page.goto(at + "/settings/profile");
  await settled(page);
  await page.getByRole("list", { name: "Passkeys" }).getByRole("button", { name: "Remove" }).click();
  await dialog(page).getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("heading", { name: "Is it still you?" }).waitFor();
  await dialog(page).last().getByRole("button", { name: "Use a passkey" }).click();
  await said(page, "does not sign you in any more");
  await page.getByRole("list", { name: "Passkeys" }).waitFor({ state: "detached" });
});

test("a page that is not at the server's public address says so", async () => {
  const { page } = await withDevice();
  await page.goto(at.replace("localhost", "127.0.0.1") + "/sign-in");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("alert").getByText("belong to its public address").waitFor();
});
