// Lists stay smooth with 5,000 intents and 1,000 live agents: they draw only
// what can be seen. The records are made up in the browser's own requests:
// what is measured is the page. With SVC_TEST_SMOOTH, which wants a quiet
// machine (make test-scale), the lists are scrolled to their end and the work
// of a frame is measured too.
import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, useWorld } from "./world.mjs";

const world = useWorld();
const smooth = Boolean(process.env.SVC_TEST_SMOOTH);
const at = (i) => new Date(Date.now() - i * 1000).toISOString();
const repo = (i) => ({ id: `r${i % 40}`, full_name: `northwind/repo-${i % 40}` });
const user = (i) => ({ id: `u${i % 60}`, email: `dev${i % 60}@northwind.example`, name: `Developer ${i % 60}` });

function intent(i) {
  return {
    id: `i${i}`, number: i, ref: `INT-${i}`, status: ["active", "blocked", "in_review", "draft"][i % 4], title: `Piece of work number ${i}`, summary: null, plan_md: null, mode: "shared", effective_mode: "shared", mode_note: null,
    repo: repo(i), owner: user(i), session_id: null, branch: `branch-${i}`, pr_number: null, external_ref: null, scope: { paths: [`src/${i}/**`], symbols: [], contracts: [] }, claims: [], leases: [], depends_on: [], blocked_by: [], handoff: null, outcome: null, note: null,
    created_at: at(i), updated_at: at(i), last_activity_at: at(i), closed_at: null,
  };
}
const session = (i) => ({ id: `s${i}`, repo: repo(i), user: user(i), tool: "claude_code", model: "m", branch: `branch-${i}`, status: i % 9 ? "active" : "idle", intent: { ref: `INT-${i}`, number: i, title: `Piece of work number ${i}`, status: "active" }, state: i % 9 ? "working" : "silent", state_since: at(i), state_ref: null, started_at: at(i), last_heartbeat_at: at(i), stopped_at: null, ended_at: null });

async function crowd(page, path, total, make) {
  await page.context().route(`**${path}?*`, (route) => {
    const q = new URL(route.request().url()).searchParams;
    const [from, limit] = [Number(q.get("cursor") ?? 0), Number(q.get("limit") ?? 50)];
    const to = Math.min(total, from + limit);
    const items = Array.from({ length: to - from }, (_, n) => make(from + n + 1));
    return route.fulfill({ json: { items, next_cursor: to < total ? String(to) : null } });
  });
}

/** Scrolls through a list to its end; tells the work per frame, in ms. */
async function scrollThrough(page, step, most) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable");
  const work = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
  const before = await work();
  const seen = await page.evaluate(
    ([step, most]) =>
      new Promise((resolve) => {
        let frames = 0;
        let stuck = 0;
        const tick = () => {
          const at = window.scrollY;
          window.scrollBy(0, step);
          stuck = window.scrollY === at ? stuck + 1 : 0;
          if (stuck === 0) frames++;
          if (stuck > 60 || frames >= most) resolve({ frames, height: document.documentElement.scrollHeight, elements: document.querySelectorAll("*").length });
          else window.nextFrame(tick);
        };
        window.nextFrame(tick);
      }),
    [step, most],
  );
  return { ...seen, perFrame: ((await work()) - before) / seen.frames };
}

/** Neither what is drawn nor the work of a frame may grow with the list: compare with a short one,
 * measured in the same run, since the machine may be busy. */
async function compare(t, path, ready, few, many, crowds) {
  const measured = [];
  for (const n of [few, many]) {
    const page = await world.page("ana", null);
    for (const [api, make] of crowds) await crowd(page, api, n, make);
    await page.goto(world.url + path);
    await settled(page);
    await page.getByText(ready(n)).first().waitFor();
    measured.push(await scrollThrough(page, 700, smooth ? 1e9 : 15));
    await page.close();
  }
  const [short, long] = measured;
  t.diagnostic(JSON.stringify({ short, long }));
  assert.ok(long.elements < 2 * short.elements + 200, `${long.elements} elements are drawn, against ${short.elements}`);
  if (smooth) assert.ok(long.perFrame < 3 * short.perFrame, `a frame takes ${long.perFrame} ms of work, against ${short.perFrame}`);
}

/** Events of a day, newest first, as the feed gives those of a stretch. */
async function eventful(page, total) {
  const day = 24 * 3_600_000;
  const begin = new Date().setHours(0, 0, 0, 0) - day;
  const event = (i) => ({ id: `${i}`, seq: i, type: i % 50 ? "change.recorded" : "hook.warned", occurred_at: new Date(begin + (i / total) * day).toISOString(), actor: { kind: "session", id: `s${(i % 40) + 1}` }, subject: { kind: "session", id: `s${(i % 40) + 1}` }, repo_id: "r1", payload: { session_id: `s${(i % 40) + 1}`, files: 1, paths: [`src/part${i % 97}/file${i % 11}.go`] } });
  await page.context().route("**/v1/feed?*", (route) => {
    const q = new URL(route.request().url()).searchParams;
    const [since, until] = ["since", "until"].map((k) => ((Date.parse(q.get(k)) - begin) / day) * total);
    const last = q.get("cursor") ? Number(q.get("cursor")) : Math.ceil(until) - 1;
    const first = Math.max(Math.ceil(since), 0, last - 199);
    const items = [];
    for (let i = last; i >= first; i--) items.push(event(i));
    return route.fulfill({ json: { items, refs: {}, next_cursor: first > Math.max(0, Math.ceil(since)) ? String(first - 1) : null } });
  });
  await crowd(page, "/v1/sessions", 40, (i) => ({ ...session(i), started_at: new Date(begin).toISOString() }));
  await crowd(page, "/v1/intents", 40, intent);
  return new Date(begin).toISOString();
}

test("a day of 40 agents and 20,000 events is played back without a long task", async (t) => {
  const measured = [];
  for (const total of [2000, 20_000]) {
    const page = await world.page("ana", null);
    const from = await eventful(page, total);
    await page.addInitScript(() => {
      window.longest = 0;
      new PerformanceObserver((l) => l.getEntries().forEach((e) => (window.longest = Math.max(window.longest, e.duration)))).observe({ type: "longtask", buffered: true });
    });
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable");
    const work = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
    const before = await work();
    await page.goto(`${world.url}/play?from=${from}`);
    await page.locator(".lanes-svg .lane-mark").first().waitFor();
    await page.getByText(`${total.toLocaleString("en")} events`).waitFor();
    const opened = (await work()) - before;
    const slider = page.getByRole("slider", { name: "Moment" });
    const [min, max] = [Number(await slider.getAttribute("min")), Number(await slider.getAttribute("max"))];
    await page.evaluate(() => (window.longest = 0));
    const began = await work();
    for (let i = 1; i <= 40; i++) await slider.fill(String(Math.round(min + ((max - min) * i) / 40)));
    measured.push({ total, opened, scrub: ((await work()) - began) / 40, longest: await page.evaluate(() => window.longest), marks: await page.locator(".lane-mark").count() });
    await page.context().unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  }
  const [short, long] = measured;
  t.diagnostic(JSON.stringify({ short, long }));
  assert.ok(long.marks < 2 * short.marks, `${long.marks} shapes are drawn, against ${short.marks}`);
  if (smooth) {
    assert.ok(long.opened < 2000, `opening takes ${long.opened} ms of work`);
    assert.ok(long.longest < 100, `a task of ${long.longest} ms while scrubbing`);
  }
});

test("5,000 intents scroll as 300 do", async (t) => {
  await compare(t, "/intents", () => "Piece of work number 1", 300, 5000, [["/v1/intents", intent]]);
});

test("1,000 live agents scroll as 100 do", async (t) => {
  await compare(t, "/", (n) => `${n.toLocaleString("en")} agents of`, 100, 1000, [
    ["/v1/sessions", session],
    ["/v1/intents", intent],
  ]);
});
