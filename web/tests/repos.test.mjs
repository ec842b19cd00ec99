// What admins do to a repo in its dialogs: rename, archive, merge and remove.
import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, dialog, said, useWorld } from "./world.mjs";

const world = useWorld();

/** Opens a dialog of a repo by its menu. */
async function change(page, repo, what) {
  await page.getByRole("button", { name: `Change ${repo}` }).click();
  await page.getByRole("menuitem", { name: what, exact: true }).click();
  await dialog(page).waitFor();
}

const names = async () => (await world.clients.ana.get("/v1/repos?limit=50")).items.map((r) => r.full_name);

test("a repo is renamed, and the old name leads to it", async () => {
  await world.clients.ana.post("/v1/repos", { full_name: "northwind/toolz" });
  const page = await world.page("ana", "/repos/northwind/toolz");
  await change(page, "northwind/toolz", "Rename");
  await dialog(page).getByLabel("Name").fill("northwind");
  await dialog(page).getByRole("button", { name: "Rename" }).click();
  await dialog(page).getByText("must be like acme/shop").waitFor();
  await dialog(page).getByLabel("Name").fill("northwind/mobile"); // another's: it says what to do instead
  await dialog(page).getByRole("button", { name: "Rename" }).click();
  await said(page, "exists in this org; merge the two");
  await dialog(page).getByLabel("Name").fill("northwind/tools");
  await dialog(page).getByRole("button", { name: "Rename" }).click();
  await said(page, "The repo is renamed.");
  await page.waitForURL("**/repos/northwind/tools");
  await page.goto(world.url + "/repos/northwind/toolz");
  await page.getByRole("button", { name: "Change northwind/tools" }).waitFor();
});

test("a repo is archived and watched again", async () => {
  const page = await world.page("ana", "/repos/northwind/tools");
  await change(page, "northwind/tools", "Archive");
  await dialog(page).getByRole("button", { name: "Archive" }).click();
  await said(page, "The repo is archived.");
  const refused = await world.tokens.chen.post("/v1/intents", { title: "Too late", repo: "northwind/tools", scope: { paths: ["a.go"] } }).catch((e) => e);
  assert.ok(refused instanceof Error, "nothing new is declared in it");
  await change(page, "northwind/tools", "Watch again");
  await dialog(page).getByRole("button", { name: "Watch again" }).click();
  await said(page, "The repo is watched again.");
});

test("two records are merged into one, with what was under both names", async () => {
  await world.clients.ana.post("/v1/repos", { full_name: "northwind/kit" });
  const mine = await world.tokens.chen.post("/v1/intents", { title: "Under the new name", repo: "northwind/kit", branch: "kit", scope: { paths: ["kit/**"] } });
  const page = await world.page("ana", "/repos/northwind/tools");
  await change(page, "northwind/tools", "Merge with another record");
  assert.ok(await dialog(page).getByRole("button", { name: "Merge" }).isDisabled(), "there is nothing to merge with yet");
  await choose(page, dialog(page).getByRole("combobox", { name: "The other record" }), "northwind/kit");
  await dialog(page).getByRole("button", { name: "Merge" }).click();
  await said(page, "They are one repo now.");
  await page.waitForURL("**/repos/northwind/kit"); // of two names the later one is the new one
  const now = await names();
  assert.ok(now.includes("northwind/kit") && !now.includes("northwind/tools"), now.join());
  await page.getByText("Under the new name").first().waitFor();
  assert.equal((await world.clients.ana.get(`/v1/intents/${(mine.intent ?? mine).ref}`)).repo.full_name, "northwind/kit");
});

test("a repo with live work is not removed, one without is", async () => {
  const page = await world.page("ana", "/repos/northwind/kit");
  await change(page, "northwind/kit", "Remove");
  await dialog(page).getByRole("button", { name: "Remove" }).click();
  await said(page, "live");
  assert.ok((await names()).includes("northwind/kit"));
  for (const i of (await world.clients.ana.get("/v1/intents?repo=northwind%2Fkit&status=live")).items) await world.tokens.chen.post(`/v1/intents/${i.ref}/close`, { outcome: "abandoned" });
  await dialog(page).getByRole("button", { name: "Remove" }).click();
  await said(page, "The repo is removed.");
  await page.waitForURL("**/repos");
  assert.ok(!(await names()).includes("northwind/kit"));
});

test("who is no admin has no menu", async () => {
  const page = await world.page("chen", "/repos/northwind/mobile");
  await page.getByRole("heading", { name: "northwind/mobile" }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Change northwind/mobile" }).count(), 0);
});
