// Every action a person can take, against the real server.
import assert from "node:assert/strict";
import { test } from "node:test";
import { people } from "../demo/seed.mjs";
import { choose, dialog, goTo, said, useWorld } from "./world.mjs";

const world = useWorld();

test("an intent is edited, and its scope with it", async () => {
  const { ref } = world.agents.refresh.intent;
  const page = await world.page("ana", `/intents/${ref}`);
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog(page).getByLabel("Title").fill("Rotate refresh tokens, detect reuse");
  await dialog(page).getByLabel("Paths", { exact: true }).fill("internal/auth/reuse.go");
  await page.keyboard.press("Enter");
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Rotate refresh tokens, detect reuse" }).waitFor();
  const { scope, title } = await world.clients.ana.get(`/v1/intents/${ref}`);
  assert.equal(title, "Rotate refresh tokens, detect reuse");
  assert.ok(scope.paths.includes("internal/auth/reuse.go"));
});

test("an intent is handed off and its new owner is shown", async () => {
  const { ref } = world.agents.push.intent;
  const page = await world.page("dara", `/intents/${ref}`);
  await page.getByRole("button", { name: "Hand off" }).click();
  await choose(page, dialog(page).getByRole("combobox", { name: "To" }), "Chen Wei");
  await dialog(page).getByLabel("Note").fill("Tokens are registered; sending is left.");
  await dialog(page).getByRole("button", { name: "Hand off" }).click();
  await page.getByText("not adopted yet").waitFor();
  assert.equal((await world.clients.ana.get(`/v1/intents/${ref}`)).owner.email, "chen@northwind.example");
});

test("an intent is closed as merged and leaves the live list", async () => {
  const { ref } = world.agents.ledger.intent;
  const page = await world.page("ben", `/intents/${ref}`);
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("menuitem", { name: "It is merged" }).click();
  await dialog(page).getByRole("button", { name: "Close as merged" }).click();
  await page.locator(".page-sub").getByText("Merged").waitFor();
  assert.equal(await page.getByRole("button", { name: "Hand off" }).count(), 0);
});

test("a conflict is acknowledged with a note, judged and overridden with a reason", async () => {
  const open = (await world.clients.ana.get("/v1/conflicts?status=open&limit=50")).items;
  const conflict = open.find((c) => c.parties.some((p) => p.user?.email === "ana@northwind.example"));
  assert.ok(conflict, "the demo has no open conflict of Ana's");
  const page = await world.page("ana", `/conflicts/${conflict.ref}`);
  for (const side of ["holder", "challenger"]) await page.locator(`[data-party=${side}]`).waitFor();
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await dialog(page).getByLabel("Note").fill("Looking at it now.");
  await dialog(page).getByRole("button", { name: "Acknowledge" }).click();
  await page.getByText("Looking at it now.").waitFor();
  await page.getByRole("button", { name: "Useful" }).click();
  await page.getByRole("button", { name: /^Useful/, pressed: true }).waitFor();
  await page.getByRole("button", { name: "Override" }).click();
  const confirm = dialog(page).getByRole("button", { name: "Override" });
  assert.ok(await confirm.isDisabled(), "an override without a reason could be sent");
  await dialog(page).getByLabel("Reason").fill("Both land today, in order.");
  await confirm.click();
  await page.getByText("lets both sides go on").waitFor();
  const after = await world.clients.ana.get(`/v1/conflicts/${conflict.ref}`);
  assert.equal(after.status, "overridden");
  assert.equal(after.override.reason, "Both land today, in order.");
});

test("a member cannot override, only ask", async () => {
  const live = (await world.clients.ana.get("/v1/conflicts?status=live&limit=50")).items;
  const conflict = live.find((c) => c.parties.some((p) => p.user?.email === "chen@northwind.example"));
  const page = await world.page("chen", `/conflicts/${conflict.ref}`);
  await page.getByRole("button", { name: "Ask for an override" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Override", exact: true }).count(), 0);
});

test("a role is changed, a member removed, an invite taken back", async () => {
  const page = await world.page("ana", "/settings/members");
  await choose(page, page.getByRole("combobox", { name: "Role of Elif Kaya" }), "Member");
  await said(page, "Elif Kaya has a new role.");
  await page.locator(".row-item").filter({ hasText: "fatima@" }).getByRole("button", { name: "Take back" }).click();
  await dialog(page).getByRole("button", { name: "Take back" }).click();
  await page.getByText("Nobody is waiting").waitFor();
  await page.locator(".row-item").filter({ hasText: "elif@" }).getByRole("button", { name: "Remove" }).click();
  await dialog(page).getByRole("button", { name: "Remove" }).click();
  await said(page, "no longer in the org");
  await page.locator(".row-item").filter({ hasText: "elif@" }).waitFor({ state: "detached" });
});

test("a token is shown once, works, and is revoked", async () => {
  const page = await world.page("ana", "/settings/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  await dialog(page).getByLabel("Name").fill("CI pipeline");
  await dialog(page).getByText("Service", { exact: true }).click();
  await dialog(page).getByRole("button", { name: "Make the token" }).click();
  const token = (await dialog(page).locator("code").textContent()).trim();
  assert.match(token, /^svc_[\w-]{43}$/);
  const me = () => fetch(`${world.url}/v1/me`, { headers: { Authorization: `Bearer ${token}` } }).then((r) => r.status);
  assert.equal(await me(), 200);
  await dialog(page).getByRole("button", { name: "I have it" }).click();
  await dialog(page).waitFor({ state: "detached" });
  assert.doesNotMatch(await page.textContent("body"), new RegExp(token));
  await page.locator(".row-item").filter({ hasText: "CI pipeline" }).getByRole("button", { name: "Revoke" }).click();
  await dialog(page).getByRole("button", { name: "Revoke" }).click();
  await page.locator(".row-item").filter({ hasText: "CI pipeline" }).getByText("Revoked").waitFor();
  assert.equal(await me(), 401);
});

test("a policy is set for the org, seen in a repo, and cleared", async () => {
  const page = await world.page("ana", "/settings/policies");
  const group = page.getByRole("radiogroup", { name: "Editing without a declared intent" });
  await group.getByText("Warn").click();
  await page.getByRole("button", { name: "Put in force" }).click();
  await said(page, "in force");
  assert.equal((await world.clients.ana.get("/v1/policies")).effective.require_intent, "warn");
  await goTo(page, `${world.url}/settings/policies?repo=northwind%2Fshop-api`);
  const row = page.locator(".rule").filter({ hasText: "Editing without a declared intent" });
  await row.getByText("from the org").waitFor();
  await goTo(page, `${world.url}/settings/policies`);
  await row.getByText("set here").waitFor();
  await row.getByRole("button", { name: "Back to what is inherited" }).click();
  await row.getByText("default").waitFor();
  await page.getByRole("button", { name: "Put in force" }).click();
  await page.getByText("Everything here is in force.").waitFor();
  assert.deepEqual((await world.clients.ana.get("/v1/policies")).org, {});
});

test("a repo is added and a project links, unlinks and is deleted", async () => {
  const page = await world.page("ana", "/repos");
  await page.getByRole("button", { name: "Add repo" }).click();
  await dialog(page).getByLabel("Name").fill("northwind/docs");
  await dialog(page).getByRole("button", { name: "Add" }).click();
  await page.getByText("northwind/docs").waitFor();
  await page.getByRole("button", { name: "New project" }).click();
  await dialog(page).getByLabel("Name").fill("Handbook");
  await choose(page, dialog(page).getByRole("combobox", { name: "Repos" }), "northwind/docs");
  await page.keyboard.press("Escape");
  await dialog(page).getByRole("button", { name: "Link them" }).click();
  await page.getByRole("heading", { name: "Handbook" }).waitFor();
  await page.getByRole("button", { name: "Take out" }).click();
  await dialog(page).getByRole("button", { name: "Take out" }).click();
  await page.getByText("No repos in it yet").waitFor();
  await page.getByRole("button", { name: "Delete project" }).click();
  await dialog(page).getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/repos$/);
});

test("the data mode is changed after a warning", async () => {
  const page = await world.page("ana", "/settings/data");
  await page.getByLabel("Metadata only").click();
  await dialog(page).getByRole("button", { name: "Change it" }).click();
  await said(page, "Changed how much");
  assert.equal((await world.clients.ana.get("/v1/me")).org.data_mode, "metadata_only");
});

test("the audit log is filtered and exported", async () => {
  const page = await world.page("ana", "/settings/audit");
  await choose(page, page.getByRole("combobox", { name: "Kind of event" }), "Tokens");
  await page.waitForURL(/type=tokens/);
  await page.locator("td code").filter({ hasText: "token.revoked" }).first().waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  assert.match((await download).suggestedFilename(), /^svc-audit-.*\.ndjson$/);
});

test("a bad input is refused at its field and nothing changes", async () => {
  const page = await world.page("ana", "/settings/members?invite=1");
  await dialog(page).getByLabel("Email").fill("ben@northwind.example");
  await dialog(page).getByRole("button", { name: "Make the invite" }).click();
  await dialog(page).getByText(/already|member/i).last().waitFor();
});

test("the password is changed and the old one no longer works", async () => {
  const page = await world.page("dara", "/settings/profile");
  const next = "another-long-password-7";
  await page.getByLabel("Current password").fill("not-it-at-all-1");
  await page.getByLabel(/^New password/).fill(next);
  await page.getByRole("button", { name: "Change password" }).click();
  await page.getByText(/wrong/).waitFor();
  await page.getByLabel("Current password").fill("correct-horse-battery-9");
  await page.getByRole("button", { name: "Change password" }).click();
  await said(page, "Your password is changed");
  const status = (password) => fetch(`${world.url}/v1/auth/sign-in`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: people[3].email, password }) }).then((r) => r.status);
  assert.equal(await status(next), 200);
  assert.equal(await status("correct-horse-battery-9"), 401);
});
