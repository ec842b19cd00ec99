// Two people at once: what one does, the other sees without a reload; and the
// page says so when it no longer knows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileOf } from "../demo/seed.mjs";
import { useWorld } from "./world.mjs";

const world = useWorld();

test("what an agent says and where it goes appears on the other's Now page", async () => {
  const page = await world.page("ben", "/");
  await page.locator('.connection[data-state="live"]').first().waitFor({ state: "attached" });
  const { push } = world.agents;
  await push.hook("pre_edit", { paths: ["app/notifications/Fresh.kt"] });
  await push.edit(fileOf("app/notifications/Fresh.kt", 40, [[1, 3]]));
  await push.hook("stop", { status: { excerpt: "Freshly said words", files: [] } });
  const row = page.locator(".agent").filter({ hasText: "Freshly said words" });
  await row.waitFor();
  await row.getByText("Fresh.kt").waitFor();
});

test("what one does about a conflict the other sees at once", async () => {
  const open = (await world.clients.ana.get("/v1/conflicts?status=open&limit=50")).items;
  const conflict = open.find((c) => ["ana", "ben"].every((k) => c.parties.some((p) => p.user?.email === `${k}@northwind.example`)));
  assert.ok(conflict, "the demo has no open conflict between Ana and Ben");
  const [ana, ben] = [await world.page("ana", `/conflicts/${conflict.ref}`), await world.page("ben", `/conflicts/${conflict.ref}`)];
  await ben.locator(".page-sub").getByText("Open").waitFor();
  await ana.getByRole("button", { name: "I will rebase" }).click();
  await ana.getByRole("dialog").getByLabel("Note").fill("After lunch.");
  await ana.getByRole("dialog").getByRole("button", { name: "I will rebase" }).click();
  await ben.getByText("After lunch.").waitFor();
  await ben.locator(".page-sub").getByText("Resolving").waitFor();
});

test("a page without the stream says so and catches up by itself", async () => {
  const page = await world.page("ben", "/intents");
  await page.locator('.connection[data-state="live"]').first().waitFor({ state: "attached" });
  await page.context().setOffline(true);
  await page.getByRole("alert").filter({ hasText: "Not live since" }).waitFor();
  await world.tokens.chen.post("/v1/intents", { title: "Declared while nobody looked", repo: "northwind/mobile", branch: "unseen", scope: { paths: ["app/unseen/**"] } });
  await page.context().setOffline(false);
  await page.getByText("Declared while nobody looked").waitFor();
  await page.locator('.connection[data-state="live"]').first().waitFor({ state: "attached" });
  world.forgive(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK/);
});

test("a page survives a restart of the server", async () => {
  const page = await world.page("ben", "/intents");
  await page.locator('.connection[data-state="live"]').first().waitFor({ state: "attached" });
  await world.server.restart();
  await world.tokens.chen.post("/v1/intents", { title: "Declared after the restart", repo: "northwind/mobile", branch: "again", scope: { paths: ["app/again/**"] } });
  await page.getByText("Declared after the restart").waitFor();
  world.forgive(/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/);
});
