// Getting in: set-up, sign-in, invite, device.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "../demo/client.mjs";
import { password } from "../demo/seed.mjs";
import { settled, useWorld } from "./world.mjs";

const world = useWorld({ demo: false });
const owner = { name: "Ana Ruiz", email: "ana@northwind.example" };
let ana; // a client with Ana's cookie
let inviteURL;

// Sign-ins are limited per address and minute, so that only tests about them
// use the form.
async function asAna(path) {
  return blank(path, ana);
}

async function blank(path, client) {
  const page = await world.pageOf(await world.profile(client));
  await page.goto(world.url + path);
  return page;
}

async function signIn(page, email = owner.email) {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test("the set-up link makes the org and leads to the first steps", async () => {
  const page = await blank(`/setup#${world.server.code}`);
  await page.getByLabel("Name of the org").fill("Northwind");
  await page.getByLabel("Your name").fill(owner.name);
  await page.getByLabel("Your email").fill(owner.email);
  await page.getByLabel(/^Password/).fill("short");
  await page.getByRole("button", { name: "Make the org" }).click();
  await page.getByText(/at least 12/i).last().waitFor();
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole("button", { name: "Make the org" }).click();
  await page.getByText("Connect your first agent").waitFor();
  assert.match(await page.textContent("body"), /svc login --server/);
  ana = new Client(world.url, { org: "northwind" });
  await ana.post("/v1/auth/sign-in", { email: owner.email, password });
});

test("a wrong password is refused and a right one leads back to where one wanted to go", async () => {
  const page = await blank("/settings/members?invite=1");
  await page.waitForURL(/sign-in\?next=/);
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel(/^Password/).fill("wrong-password-9");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText(/wrong/).waitFor();
  await signIn(page);
  await page.waitForURL(/settings\/members\?invite=1/);
});

test("a sign-in never leads to another site", async () => {
  const page = await blank("/sign-in?next=" + encodeURIComponent("//evil.example/x"));
  await signIn(page);
  await page.getByText("Connect your first agent").waitFor();
  assert.equal(new URL(page.url()).origin, world.url);
});

test("an invite made in the dashboard is accepted by its link, once", async () => {
  const page = await asAna("/settings/members?invite=1");
  await page.getByRole("dialog").getByLabel("Email").fill("ben@northwind.example");
  await page.getByRole("button", { name: "Make the invite" }).click();
  inviteURL = (await page.getByRole("dialog").locator("code").textContent()).trim();
  assert.match(inviteURL, /\/invite#/);

  const guest = await blank(new URL(inviteURL).pathname + new URL(inviteURL).hash);
  await guest.getByRole("heading", { name: "Join Northwind" }).waitFor();
  await guest.getByLabel("Your name").fill("Ben Okafor");
  await guest.getByLabel(/^Password/).fill(password);
  await guest.getByRole("button", { name: "Join" }).click();
  await guest.getByText("Ben Okafor").first().waitFor();

  // The owner's open page sees the new member without a reload.
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("ben@northwind.example").first().waitFor();

  const late = await blank(new URL(inviteURL).pathname + new URL(inviteURL).hash);
  await late.getByRole("heading", { name: "This invite does not work" }).waitFor();
});

test("the first steps tick themselves off as they happen", async () => {
  const page = await asAna("/");
  await page.locator(".step").first().waitFor();
  await settled(page);
  await page.getByText(/^Install svc on /).waitFor();
  const { token } = await ana.post("/v1/tokens", { name: "cli · laptop", user_email: owner.email });
  await page.locator(".step-done").filter({ hasText: "Connect this machine" }).waitFor();
  const agent = new Client(world.url, { token });
  await agent.post("/v1/hooks/evaluate", { event: "session_start", dedupe_key: "1", session: { external_id: "e1", tool: "claude_code" }, client: {}, repo: { remote_fingerprints: ["github.com/northwind/shop-api"], branch: "main" } });
  await page.locator(".agent").filter({ hasText: "shop-api" }).waitFor();
});

test("signing out ends the session", async () => {
  const page = await asAna("/");
  await page.getByRole("button", { name: /account menu/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/sign-in/);
  await page.goto(world.url + "/intents");
  await page.waitForURL(/sign-in/);
});
