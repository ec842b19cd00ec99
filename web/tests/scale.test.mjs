// Lists stay smooth with 5,000 intents and 1,000 live agents. The records are
// made up in the browser's own requests: what is measured is the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, useWorld } from "./world.mjs";

const world = useWorld();
const at = (i) => new Date(Date.now() - i * 1000).toISOString();
const repo = (i) => ({ id: `r${i % 40}`, full_name: `northwind/repo-${i % 40}` });
const user = (i) => ({ id: `u${i % 60}`, email: `dev${i % 60}@northwind.example`, name: `Developer ${i % 60}` });

function intent(i) {
  return {
    id: `i${i}`, number: i, ref: `INT-${i}`, status: ["active", "blocked", "in_review", "draft"][i % 4], title: `Piece of work number ${i}`, summary: null, plan_md: null, mode: "shared", effective_mode: "shared", mode_note: null,
    repo: repo(i), owner: user(i), session_id: null, branch: `branch-${i}`, pr_number: null, external_ref: null, scope: { paths: [`src/${i}/**`], symbols: [], contracts: [] }, claims: [], depends_on: [], blocked_by: [], handoff: null, outcome: null, note: null,
    created_at: at(i), updated_at: at(i), last_activity_at: at(i), closed_at: null,
  };
}
const session = (i) => ({ id: `s${i}`, repo: repo(i), user: user(i), tool: "claude_code", model: "m", branch: `branch-${i}`, status: i % 9 ? "active" : "idle", intent: { ref: `INT-${i}`, number: i, title: `Piece of work number ${i}`, status: "active" }, started_at: at(i), last_heartbeat_at: at(i), ended_at: null });

async function crowd(page, path, total, make) {
  await page.context().route(`**${path}?*`, (route) => {
    const q = new URL(route.request().url()).searchParams;
    const [from, limit] = [Number(q.get("cursor") ?? 0), Number(q.get("limit") ?? 50)];
    const to = Math.min(total, from + limit);
    const items = Array.from({ length: to - from }, (_, n) => make(from + n + 1));
    return route.fulfill({ json: { items, next_cursor: to < total ? String(to) : null } });
  });
}

/** Scrolls through the whole list and tells how long the worst frames took. */
function scrollThrough(page, step) {
  return page.evaluate(
    (step) =>
      new Promise((resolve) => {
        const frames = [];
        let last = performance.now();
        let stuck = 0;
        const tick = (now) => {
          frames.push(now - last);
          last = now;
          const before = window.scrollY;
          window.scrollBy(0, step);
          stuck = window.scrollY === before ? stuck + 1 : 0;
          if (stuck > 90) {
            frames.sort((a, b) => a - b);
            resolve({ frames: frames.length, p95: frames[Math.floor(frames.length * 0.95)], height: document.documentElement.scrollHeight, nodes: document.querySelectorAll("*").length });
          } else requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
      }),
    step,
  );
}

test("5,000 intents scroll smoothly to the end", async (t) => {
  const page = await world.page("ana", null);
  await crowd(page, "/v1/intents", 5000, intent);
  await page.goto(world.url + "/intents");
  await settled(page);
  const seen = await scrollThrough(page, 900);
  t.diagnostic(JSON.stringify(seen));
  await page.getByText("Piece of work number 5000").waitFor();
  assert.ok(seen.nodes < 3000, `${seen.nodes} elements are drawn`);
  assert.ok(seen.p95 < 120, `the slowest frames take ${seen.p95} ms`);
});

test("1,000 live agents are drawn and scroll smoothly", async (t) => {
  const page = await world.page("ana", null);
  await crowd(page, "/v1/sessions", 1000, session);
  await crowd(page, "/v1/intents", 1000, intent);
  await page.goto(world.url + "/");
  await settled(page);
  await page.getByText("1,000 agents of 60 people").waitFor();
  const seen = await scrollThrough(page, 600);
  t.diagnostic(JSON.stringify(seen));
  assert.ok(seen.nodes < 9000, `${seen.nodes} elements are drawn`);
  assert.ok(seen.p95 < 150, `the slowest frames take ${seen.p95} ms`);
});
