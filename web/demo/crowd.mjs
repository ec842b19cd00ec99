// Fills a fresh server with a crowd: 12 people, 40 agents, 300 intents, 150
// conflicts, 2,000 messages, in names of many scripts. What no person could do
// in a minute (2,000 messages, a week of history) the rig writes.
//   node demo/crowd.mjs http://127.0.0.1:7780 <set-up code> <database>
import { pathToFileURL } from "node:url";
import { Client } from "./client.mjs";
import { Agent, fact, fileOf, password, symbol } from "./seed.mjs";
import { rig } from "./server.mjs";

export const crowd = [
  { key: "ana", name: "Ana Ruiz", role: "owner" },
  { key: "ben", name: "Ben Okafor", role: "admin" },
  { key: "wang", name: "王小明", role: "member" },
  { key: "mona", name: "منى الأحمدي", role: "member" },
  { key: "david", name: "דוד בן־גוריון", role: "member" },
  { key: "sakura", name: "田中さくら", role: "member" },
  { key: "minjun", name: "김민준", role: "member" },
  { key: "max", name: "Maximiliane Wolfeschlegelsteinhausenbergerdorff", role: "member" },
  { key: "lukasz", name: "Łukasz Żółć", role: "member" },
  { key: "dara", name: "Dara Singh", role: "member" },
  { key: "tomas", name: "Tomás O'Connor-Ibáñez", role: "member" },
  { key: "elif", name: "Elif Kaya", role: "viewer" },
].map((p) => ({ ...p, email: `${p.key}@northwind.example` }));

export const crowdRepos = ["storefront", "payments", "orders", "mobile", "platform-infrastructure-and-deployment-tooling", "docs"].map((r) => `northwind/${r}`);

const hosts = [["claude_code", "claude-opus-4-5"], ["codex", "gpt-5.2-codex"], ["cursor", "composer-2"], ["gemini", "gemini-3-pro"], ["opencode", "qwen-3-coder"], ["copilot", undefined]];
const folders = ["internal/auth", "internal/cart", "internal/billing/invoices", "internal/search", "web/src/checkout", "web/src/account", "pkg/retry", "deploy/charts", "proto/orders/v2", "app/notifications"];
const titles = [
  "Rotate refresh tokens on every use", "Split the ledger by currency", "Retry the queue with backoff", "结账页面显示分批发货", "Show partial shipments", "إعادة كتابة واجهة الدفع", "העברת ההפעלות למאגר החדש", "検索の空状態を直す",
  "Move sessions to the new store", "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", "Log every admin action", "주문 API 두 번째 버전", "Cache the price list per market", "Drop the legacy exporter", "Notify when an order ships",
];
const lastWords = [
  "Rotation works; tests for reuse detection are next.", "Added backoff, running the tests.", "等待 INT-4 释放 token.go。", "اختبارات الدفع تمر، سأنتقل إلى الفواتير.", "הבדיקות עוברות, ממשיך לתיעוד.", "型を直した。次は移行です。",
  "Waiting for the schema to land before I touch the handler.", "Refactored the client; three call sites left.", "Build is green. Opening a pull request.", "Reading the migration to see what it locks.",
];
const sayings = [
  "ParseToken takes a context from now on; rebase when it lands.", "Seen. I wait for it.", "部署在中午,请不要合并。", "هل يمكن تأجيل الدمج حتى الظهر؟", "אפשר למזג, הכול ירוק.", "Look at `internal/auth/token.go`, lines 40 to 57; INT-3 has the same.",
  "The plan:\n\n```go\nfunc ParseToken(ctx context.Context, raw string) (*Claims, error)\n```\n\nCF-2 goes away with it.", "Details at https://ci.northwind.example/runs/4711?job=test.", "テストが落ちています。見てもらえますか?", "Freeze from 11:30 to 12:15.",
  "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.",
];

/** Runs fn over the items, a few at a time, and keeps their order. */
async function each(items, fn, atOnce = 8) {
  const out = [];
  for (let i = 0; i < items.length; i += atOnce) out.push(...(await Promise.all(items.slice(i, i + atOnce).map((item, n) => fn(item, i + n)))));
  return out;
}
const range = (n) => Array.from({ length: n }, (_, i) => i);
const pick = (list, i) => list[i % list.length];

const signsIn = ["ben", "wang", "mona", "elif"];

async function makePeople(url, code) {
  const org = "northwind";
  const [owner, ...others] = crowd;
  const clients = { ana: new Client(url, { org }) };
  await clients.ana.post("/v1/auth/setup", { code, org: "Northwind", email: owner.email, name: owner.name, password });
  const tokens = {};
  const join = async (p) => {
    // Only some sign in: the server takes ten sign-ins of one address at a time.
    if (p !== owner && !signsIn.includes(p.key)) await clients.ana.post("/v1/members", { email: p.email, name: p.name, role: p.role });
    else if (p !== owner) {
      const invite = await clients.ana.post("/v1/invites", { role: p.role, email: p.email });
      clients[p.key] = new Client(url, { org });
      await clients[p.key].post("/v1/auth/accept-invite", { code: invite.url.split("#")[1], name: p.name, password });
    }
    if (p.role !== "viewer") tokens[p.key] = new Client(url, { token: (await clients.ana.post("/v1/tokens", { name: `cli · ${p.key}-laptop`, user_email: p.email })).token });
  };
  await each([owner, ...others], join, 4);
  for (const full_name of crowdRepos) await clients.ana.post("/v1/repos", { full_name });
  await clients.ana.post("/v1/projects", { name: "Shop", repos: crowdRepos.slice(0, 3) });
  await tokens.ana.post(`/v1/repos/${encodeURIComponent(crowdRepos[0])}/index`, { files: [{ path: "internal/orders/handler.go", language: "go", contracts: [fact("http:GET /v2/orders/{id}", "provides", 84, "{id, status, items[]}")] }] });
  await tokens.ana.post(`/v1/repos/${encodeURIComponent(crowdRepos[1])}/index`, { files: [{ path: "src/api/orders.ts", language: "typescript", contracts: [fact("http:GET /v2/orders/{id}", "uses", 12)] }] });
  return { org, clients, tokens, workers: crowd.filter((p) => p.role !== "viewer").map((p) => p.key) };
}

/** What was done before: 190 intents that are closed by now. */
async function makePast({ tokens, workers }) {
  await each(range(190), async (i) => {
    const who = tokens[pick(workers, i)];
    const { intent } = await who.post("/v1/intents", { title: `${pick(titles, i)} (${i})`, repo: pick(crowdRepos, i), branch: `past/${i}`, scope: { paths: [`old/${i}/**`] } });
    await who.post(`/v1/intents/${intent.ref}/close`, { outcome: i % 5 ? "merged" : "abandoned" });
  });
}

/** 70 intents that nobody's agent is at now; five at a time name one file. */
async function makePlans({ tokens, workers }) {
  await each(range(70), (i) => {
    const group = Math.floor(i / 5);
    const repo = pick(crowdRepos, group);
    return tokens[pick(workers, i * 3 + group)].post("/v1/intents", {
      title: `${pick(titles, i + 4)}, part ${i}`, repo, branch: `plan/${i}-${"x".repeat(i % 7 === 0 ? 60 : 4)}`,
      scope: { paths: [`${pick(folders, group)}/plan${group}.go`, `${pick(folders, group + 1)}/shared${group % 9}.go`] },
    });
  });
}

async function makeAgents({ tokens, workers }) {
  const agents = range(40).map((i) => {
    const [tool, model] = pick(hosts, i);
    return new Agent(tokens[pick(workers, i)], { tool, model, repo: pick(crowdRepos, Math.floor(i / 2) % 5), branch: `${pick(["feat", "fix", "chore"], i)}/${pick(["rotate-tokens", "ledger-split", "retry-queue", "a-branch-with-a-name-that-goes-on-and-on-and-does-not-end-soon"], i)}-${i}` });
  });
  await each(agents, async (a, i) => {
    await a.hook("session_start");
    await a.hook("prompt", { prompt_excerpt: `${pick(titles, i)}.` });
    const folder = pick(folders, Math.floor(i / 2));
    // Every pair of agents works on one file; every fifth pair's first holds it for itself.
    const file = `${folder}/work${Math.floor(i / 2)}.go`;
    if (i % 9 !== 8) await a.declare({ title: pick(titles, i), scope: { paths: [file] }, ...(i % 10 === 0 && { mode: "exclusive" }) });
    a.file = file;
  });
  await each(agents.filter((_, i) => i % 2 === 0), (a, k) => a.edit(fileOf(a.file, k, [[40, 18], [120, 6]], { symbols: [symbol(`sym:go:${a.file}#Parse${k}`, "func Parse(raw string) error", "func Parse(ctx context.Context, raw string) error", "breaking", 38, 24)] })));
  await each(agents.filter((_, i) => i % 2 === 1), async (a, k) => {
    if (k % 5 === 0) await a.hook("pre_edit", { paths: [a.file] });
    else if (k % 3) await a.hook("pre_edit", { paths: [a.file] }).then(() => a.edit(fileOf(a.file, k, [[52, 9]], { new_blob: "b".repeat(38) + (10 + k) })));
    else await a.edit(fileOf(`${pick(folders, k)}/quiet${k}.go`, k, [[3, 2]]));
  });
  await each(agents, (a, i) => (i % 4 === 3 ? null : a.hook("stop", { status: { excerpt: pick(lastWords, i), files: [a.file] } })));
  return agents;
}

async function talk({ clients, tokens, workers }, agents, database) {
  const others = workers.filter((k) => k !== "ana");
  await each(range(110), (i) => tokens[pick(workers, i)].post("/v1/messages", { to: i % 4 ? `channel:${pick(crowdRepos, i)}` : `user:${crowd[(i + 3) % 11].email}`, body: pick(sayings, i) }).catch(skipSelf));
  rig("chorus", database, "1966"); // and 34 below
  await each(range(30), (i) => tokens[pick(others, i)].post("/v1/messages", { to: "channel:team", subject: pick(titles, i), body: pick(sayings, i + 2), requires_ack: true }));
  for (const [i, key] of ["wang", "mona", "david"].entries()) await tokens[key].post("/v1/questions", { to: `user:${crowd[0].email}`, question: pick(["Which claim in the access token holds the tenant?", "هل نغلق الفرع القديم؟", "האם מותר לשנות את הסכמה?"], i), repo: crowdRepos[i] });
  await tokens.dara.post("/v1/messages", { to: `user:${crowd[0].email}`, body: "May the audit log read session ids from the context?" });
  const blocked = (await clients.ana.get("/v1/conflicts?status=live&limit=200")).items.filter((c) => c.kind === "exclusive_claim");
  for (const [i, verdict] of ["useful", "useful", "false_positive", "too_late"].entries()) await clients.ana.post(`/v1/conflicts/${blocked[i % blocked.length].ref}/feedback`, { verdict });
  for (const c of blocked.slice(0, 2)) {
    const party = c.parties.find((p) => p.role === "challenger");
    await tokens[party.user.email.split("@")[0]].post(`/v1/conflicts/${c.ref}/actions`, { action: "request_override", note: "The middleware only reads the session id; nothing in the store changes." });
  }
}
const skipSelf = (e) => {
  if (e.status !== 400) throw e;
};

export async function seedCrowd(url, code, database) {
  const world = await makePeople(url, code);
  await makePast(world);
  await makePlans(world);
  const list = await makeAgents(world);
  await talk(world, list, database);
  rig("past", database, "7");
  const { ana } = world.clients;
  const people = Object.fromEntries((await ana.get("/v1/members?limit=200")).items.map((m) => [m.email.split("@")[0], m.id]));
  const worst = (await ana.get("/v1/conflicts?status=live&severity=warn,block&limit=50")).items;
  const thread = (await ana.get("/v1/conversations?kind=channel&limit=20")).items.find((c) => c.repo)?.id;
  return { ...world, list, people, thread, overlap: worst.find((c) => c.kind === "edit_overlap"), claim: worst.find((c) => c.kind === "exclusive_claim") };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [url, code, database] = process.argv.slice(2);
  if (!database) {
    console.error("usage: node demo/crowd.mjs <server address> <set-up code> <database>");
    process.exit(2);
  }
  await seedCrowd(url, code, database);
  console.log(`Sign in at ${url} as ${crowd[0].email} with ${password}`);
}
