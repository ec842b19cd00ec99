// What somebody who leads forty agents comes for, each within four steps from
// Now, by mouse and by keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seedMonorepo } from "../demo/monorepo.mjs";
import { Agent, fact, fileOf } from "../demo/seed.mjs";
import { patience } from "./browser.mjs";
import { Hand } from "./hand.mjs";
import { dialog, useWorld } from "./world.mjs";

const world = useWorld({ demo: seedMonorepo });
const most = 4;

/** An agent of somebody, at work on a branch of its own. */
async function agentOf(who, title, more = {}) {
  const a = new Agent(world.tokens[who], { tool: "claude_code", model: "m-1", repo: world.repo, branch: title.toLowerCase().replaceAll(" ", "-"), ...more.session });
  await a.hook("session_start");
  await a.hook("prompt", { prompt_excerpt: title });
  await a.declare({ title, scope: { paths: more.paths ?? [`jobs/${title}.go`] }, mode: more.mode ?? "shared" });
  return a;
}

/** One agent that holds a file and one that is stopped by it. */
async function stopped(name) {
  await agentOf("max", `Holder of ${name}`, { paths: [`held/${name}.sql`], mode: "exclusive" });
  const a = await agentOf("kofi", `Stopped at ${name}`);
  for (const end = Date.now() + patience; Date.now() < end; ) {
    await a.hook("pre_edit", { paths: [`held/${name}.sql`] }); // a busy service may let it pass unchecked, or write it down later
    const live = (await world.clients.ana.get("/v1/conflicts?kind=exclusive_claim&status=live&limit=50")).items;
    const found = live.find((c) => c.parties.some((p) => p.intent?.title === `Stopped at ${name}`));
    if (found) return found;
  }
  return assert.fail(`nobody is stopped at ${name}`);
}

const row = (page, title) => page.locator(".agent").filter({ hasText: title }).locator(".agent-link");

/** Each job: what there has to be before, and how it is done. */
const jobs = {
  "who blocks an agent, and a word to release it": {
    set: (by) => stopped(`asked by ${by}`),
    async do(hand, page, by) {
      assert.match(await row(page, `Stopped at asked by ${by}`).locator(".agent-says").textContent(), new RegExp(`Maximiliane Wolfeschlegelsteinhausenbergerdorff holds “Holder of asked by ${by}”`));
      await hand.press(row(page, `Stopped at asked by ${by}`));
      await hand.press(page.getByRole("button", { name: "Ask to release" }));
      await hand.send(dialog(page).getByRole("button", { name: "Send" }));
      await dialog(page).waitFor({ state: "detached" });
      assert.ok((await world.clients.max.get("/v1/attention")).items.some((i) => i.kind === "message" && i.detail.includes("1 agent waits for what you hold")));
    },
  },
  "what an agent did in the last hour": {
    async do(hand, page) {
      await hand.press(row(page, "Noam").first());
      await page.getByRole("list", { name: "What it did" }).getByText(/changed .*\.go/).first().waitFor();
    },
  },
  "an answer": {
    set: (by) => world.tokens.kofi.post("/v1/questions", { to: "user:ana@acme.example", question: `Which port, asked for ${by}?`, repo: world.repo }),
    async do(hand, page, by) {
      const need = page.locator(".need").filter({ hasText: `asked for ${by}` });
      await hand.press(need.getByRole("button", { name: /^Answer/ }));
      await hand.write(need.getByRole("textbox"), "8080");
      await hand.send(need.getByRole("button", { name: "Answer", exact: true }));
      await need.waitFor({ state: "detached" });
    },
  },
  "an override": {
    set: (by) => stopped(`overridden by ${by}`),
    async do(hand, page, by, conflict) {
      await hand.press(row(page, `Stopped at overridden by ${by}`));
      await hand.press(page.getByRole("button", { name: "Override" }));
      await hand.write(dialog(page).getByRole("textbox", { name: "Reason" }), "The migration is done.");
      await hand.send(dialog(page).getByRole("button", { name: "Override" }));
      await dialog(page).waitFor({ state: "detached" });
      assert.equal((await world.clients.ana.get(`/v1/conflicts/${conflict.ref}`)).status, "overridden");
    },
  },
  "two that collide, told who goes first": {
    async set(by) {
      const [a, b] = [await agentOf("kofi", `First in ${by}`), await agentOf("noam", `Second in ${by}`)];
      await a.edit(fileOf(`both/${by}.go`, 700, [[40, 10]]));
      await b.edit(fileOf(`both/${by}.go`, 700, [[45, 10]], { new_blob: "e".repeat(40) }));
      return (await world.clients.ana.get("/v1/conflicts?kind=edit_overlap&status=live&limit=50")).items.find((c) => c.parties.some((p) => p.intent?.title === `First in ${by}`));
    },
    async do(hand, page, by, conflict) {
      await hand.goTo("Conflicts", "c");
      await hand.press(page.locator(`a[href="/conflicts/${conflict.ref}"]`).first());
      await hand.press(page.getByRole("button", { name: "Propose this order" }));
      await page.getByText("Both sides are told.").first().waitFor();
      assert.equal((await world.clients.ana.get(`/v1/conflicts/${conflict.ref}`)).actions.at(-1).action, "propose_sequence");
    },
  },
  "the work of an agent that is gone, taken over": {
    async set(by) {
      const a = await agentOf("kofi", `Left behind for ${by}`);
      await a.edit(fileOf(`left/${by}.go`, 60, [[3, 2]]));
      await a.hook("session_end");
      return a.intent;
    },
    async do(hand, page, by, intent) {
      await hand.goTo("Intents", "i");
      await hand.press(page.locator(`a[href="/intents/${intent.ref}"]`));
      await hand.press(page.getByRole("button", { name: "Take over" }));
      await hand.send(dialog(page).getByRole("button", { name: "Take it over" }));
      await dialog(page).waitFor({ state: "detached" });
      assert.equal((await world.clients.ana.get(`/v1/intents/${intent.ref}`)).owner.email, "ana@acme.example");
      const told = (await world.tokens.kofi.get("/v1/attention")).items;
      assert.ok(told.some((i) => i.kind === "message" && i.detail.includes(`Took ${intent.ref} over from you.`)), "who had it is not told");
    },
  },
  "what a break hits": {
    async set(by) {
      const { ana } = world.clients;
      const [api, ...users] = ["orders", "shop", "app"].map((name) => `acme/${name}-${by}`);
      for (const full_name of [api, ...users]) await ana.post("/v1/repos", { full_name });
      await ana.post("/v1/projects", { name: `Store of ${by}`, repos: [api, ...users] });
      const key = `http:GET /v3/orders-${by}/{id}`;
      for (const name of [api, ...users]) {
        await world.tokens.ana.post(`/v1/repos/${encodeURIComponent(name)}/index`, { files: [{ path: "api.ts", language: "typescript", contracts: [fact(key, name === api ? "provides" : "uses", 7, name === api ? "{id, items[]}" : null)] }] });
      }
      const server = await agentOf("kofi", `Shipments for ${by}`, { session: { repo: api } });
      await server.edit(fileOf("api.ts", 5, [[5, 4]], { contracts: [{ ...fact(key, "provides", 7, "{id, shipments[]}"), change: "signature", previous_signature: "{id, items[]}", previous_signature_hash: "before", compatibility: "breaking", detail: "items was removed" }] }));
      return { key, users };
    },
    async do(hand, page, by, { key, users }) {
      await hand.press(row(page, `Shipments for ${by}`));
      await hand.press(page.locator(".tooled a").first());
      await hand.press(page.getByRole("link", { name: key.replace("{id}", "{}") }).first());
      await page.waitForURL(/\/contracts\?/);
      await page.getByText("2 users in 2 repos").waitFor();
      for (const name of users) await page.getByRole("link", { name }).first().waitFor();
    },
  },
  "less noise": {
    set: (by) => world.tokens.kofi.post("/v1/messages", { to: "user:ana@acme.example", body: `Lunch with ${by}?` }),
    async do(hand, page, by) {
      const needs = page.getByRole("region", { name: "What needs you" });
      await needs.getByText(`Lunch with ${by}?`).waitFor();
      await hand.pick(needs.getByRole("button", { name: /^Mute: \d+ unread message/ }), page.getByRole("menuitem", { name: "unread messages, anywhere" }));
      await needs.getByText(`Lunch with ${by}?`).waitFor({ state: "detached" });
      for (const m of (await world.clients.ana.get("/v1/attention")).mutes) await world.clients.ana.post("/v1/attention/mute", { ...m, off: true });
    },
  },
  "yesterday's near misses": {
    async do(hand, page) {
      await hand.press(page.getByRole("link", { name: "Yesterday's near misses" }));
      await page.locator(".page-sub").getByText("Conflicts that are over").waitFor();
    },
  },
  "a colleague, invited and shown how to connect": {
    async do(hand, page, by) {
      await hand.pick(page.getByRole("button", { name: "Org Acme, menu" }), page.getByRole("menuitem", { name: "Invite a teammate" }));
      await hand.write(dialog(page).getByLabel("Email"), `new-${by}@acme.example`);
      await hand.send(dialog(page).getByRole("button", { name: "Make the invite" }));
      await dialog(page).getByText("Invite ready").waitFor();
      assert.match(await dialog(page).locator("code").first().textContent(), /\/invite#/);
    },
  },
};

for (const [name, job] of Object.entries(jobs)) {
  for (const by of ["mouse", "keyboard"]) {
    test(`${name}, by ${by}`, async (t) => {
      const made = await job.set?.(by);
      const page = await world.page("ana", "/");
      const hand = new Hand(page, by);
      await job.do(hand, page, by, made);
      t.diagnostic(`${hand.steps} steps`);
      assert.ok(hand.steps <= most, `it takes ${hand.steps} steps`);
    });
  }
}

test("a row is looked into without leaving the list, from one to the next, and can be acted on there", async () => {
  await stopped("beside it");
  const conflict = await stopped("peeked at");
  const page = await world.page("ana", "/conflicts");
  const link = page.locator(`a[href="/conflicts/${conflict.ref}"]`);
  await link.focus();
  await page.keyboard.press(" ");
  const drawer = page.getByRole("dialog", { name: "Peek" });
  await drawer.getByText(new RegExp(`^${conflict.ref} `)).waitFor();
  assert.equal(new URL(page.url()).pathname, "/conflicts");
  assert.match(await page.title(), /Conflicts/);
  await page.keyboard.press(await link.evaluate((el) => [...document.querySelectorAll("main a[data-row]")].indexOf(el) > 0) ? "k" : "j");
  await drawer.getByText(new RegExp(`^${conflict.ref} `)).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });
  await link.hover();
  await page.getByRole("button", { name: `Peek at ${conflict.ref}` }).click();
  await drawer.getByRole("button", { name: "Override" }).click();
  await page.getByRole("textbox", { name: "Reason" }).fill("Seen beside the list.");
  await page.keyboard.press("Escape"); // leaves the question, not the drawer
  await page.getByRole("textbox", { name: "Reason" }).waitFor({ state: "detached" });
  await drawer.getByRole("button", { name: "Override" }).click();
  await page.getByRole("textbox", { name: "Reason" }).press("Control+Enter");
  await drawer.getByText("Overridden").first().waitFor();
  await drawer.getByRole("button", { name: "Open the page" }).click();
  await page.waitForURL(new RegExp(`/conflicts/${conflict.ref}$`));
});

test("several rows are chosen and overridden for one reason", async () => {
  const [one, two] = [await stopped("chosen first"), await stopped("chosen second")];
  const page = await world.page("ana", "/conflicts");
  for (const c of [one, two]) {
    await page.locator(`a[href="/conflicts/${c.ref}"]`).focus();
    await page.keyboard.press("x");
  }
  const bar = page.getByRole("toolbar", { name: "What was chosen" });
  await bar.getByText("2 rows chosen").waitFor();
  await bar.getByRole("button", { name: "Override" }).click();
  await page.getByRole("textbox", { name: "Reason" }).fill("Both are done.");
  await page.keyboard.press("Control+Enter");
  await bar.waitFor({ state: "detached" });
  for (const c of [one, two]) assert.equal((await world.clients.ana.get(`/v1/conflicts/${c.ref}`)).status, "overridden");
});

test("a view is saved under a name, opened from anywhere, and forgotten", async () => {
  const page = await world.page("ana", "/conflicts?severity=block&age=24");
  const views = page.getByRole("navigation", { name: "Saved views" });
  await views.getByRole("button", { name: "Save this view" }).click();
  await page.keyboard.type("Blocks of today");
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link", { name: "Intents" }).click();
  await page.waitForURL(/\/intents$/);
  await views.getByRole("link", { name: "Blocks of today" }).click();
  await page.waitForURL(/\/conflicts\?severity=block&age=24$/);
  await views.getByRole("button", { name: "Forget the view Blocks of today" }).click();
  await views.getByRole("link", { name: "Blocks of today" }).waitFor({ state: "detached" });
});
