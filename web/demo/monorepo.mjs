// Fills a fresh server with another team than the demo's: sixteen agents of
// eight people in one repository of many parts, names that are long or run from
// right to left, agents that stopped with a question, one claim in the way of
// three.
import { Client } from "./client.mjs";
import { Agent, fileOf, password } from "./seed.mjs";

const repo = "acme/everything-in-one-place-and-then-some";
export const staff = [
  { key: "ana", name: "Ana Ruiz", role: "owner" },
  { key: "max", name: "Maximiliane Wolfeschlegelsteinhausenbergerdorff", role: "admin" },
  { key: "noam", name: "נועם Noam", role: "member" },
  { key: "mona", name: "منى الأحمدي", role: "member" },
  { key: "kofi", name: "Kofi Mensah", role: "member" },
  { key: "sofia", name: "Sofía de la Fuente y Gutiérrez del Olmo", role: "member" },
  { key: "yuki", name: "田中ゆき", role: "member" },
  { key: "vera", name: "Vera Lind", role: "viewer" },
].map((p) => ({ ...p, email: `${p.key}@acme.example` }));

const signsIn = ["max", "vera"];

async function makePeople(url, code) {
  const org = "acme";
  const [owner, ...others] = staff;
  const clients = { ana: new Client(url, { org }) };
  const tokens = {};
  await clients.ana.post("/v1/auth/setup", { code, org: "Acme", email: owner.email, name: owner.name, password });
  for (const p of [owner, ...others]) {
    if (signsIn.includes(p.key)) {
      const invite = await clients.ana.post("/v1/invites", { role: p.role, email: p.email });
      clients[p.key] = new Client(url, { org });
      await clients[p.key].post("/v1/auth/accept-invite", { code: invite.url.split("#")[1], name: p.name, password });
    } else if (p !== owner) await clients.ana.post("/v1/members", { email: p.email, name: p.name, role: p.role });
    if (p.role !== "viewer") tokens[p.key] = new Client(url, { token: (await clients.ana.post("/v1/tokens", { name: `cli of ${p.key}`, user_email: p.email })).token });
  }
  await clients.ana.post("/v1/repos", { full_name: repo });
  return { org, clients, tokens };
}

/** What each agent does: whose it is, what it declared, where, and what it said as it stopped. */
const jobs = [
  { who: "max", title: "Tax migration", path: "services/billing/migrations/tax.sql", mode: "exclusive" },
  { who: "kofi", title: "Round prices by market", path: "services/billing/prices.go", wants: "services/billing/migrations/tax.sql" },
  { who: "yuki", title: "請求書の丸め", path: "services/billing/invoice.go", wants: "services/billing/migrations/tax.sql" },
  { who: "mona", title: "ضريبة القيمة المضافة", path: "services/billing/vat.go", wants: "services/billing/migrations/tax.sql" },
  { who: "noam", title: "Drop the old flag", path: "libs/flags/flags.go", says: "The flag is read in two places.\n\nDo you want me to keep the old flag?" },
  { who: "mona", title: "تنظيف الجدول", path: "services/orders/table.go", says: "هل أحذف العمود القديم؟" },
  { who: "yuki", title: "検索の空状態", path: "web/search/empty.tsx", says: "Which text?\n\n1. No results\n2. Nothing found" },
  { who: "sofia", title: "A title that goes on and on, because whoever wrote it had a great deal to say about what the work is for", path: "web/checkout/summary.tsx", says: "Why did it fail? The lock was never released; it is now. All tests pass." },
  ...Array.from({ length: 8 }, (_, i) => ({ who: ["ana", "kofi", "noam", "max"][i % 4], title: `Chore number ${i + 1}`, path: `tools/chore${i}/main.go` })),
];

export async function seedMonorepo(url, code) {
  const world = await makePeople(url, code);
  const agents = {};
  for (const [i, job] of jobs.entries()) {
    const a = new Agent(world.tokens[job.who], { tool: i % 2 ? "codex" : "claude_code", model: "m-1", repo, branch: `work/${i}-${"long-".repeat(i % 3)}name` });
    agents[agents[job.who] ? `${job.who}${i}` : job.who] = a;
    await a.hook("session_start");
    await a.hook("prompt", { prompt_excerpt: job.title });
    await a.declare({ title: job.title, scope: { paths: [job.path] }, ...(job.mode && { mode: job.mode }) });
    await a.edit(fileOf(job.path, i, [[10, 4]]));
    if (job.wants) await a.hook("pre_edit", { paths: [job.wants] });
    if (job.says) await a.hook("stop", { status: { excerpt: job.says, files: [job.path] } });
  }
  // One collision that was told and settled by a rebase, one note that is none.
  const [first, second] = [agents.ana, agents.noam];
  const shared = "tools/shared/retry.go";
  await first.edit(fileOf(shared, 900, [[40, 10]]));
  await second.edit(fileOf(shared, 900, [[45, 10]], { new_blob: "b".repeat(40) }));
  const clash = (await world.clients.ana.get("/v1/conflicts?kind=edit_overlap&status=live")).items[0];
  await world.tokens.noam.post(`/v1/conflicts/${clash.ref}/actions`, { action: "will_rebase" });
  await second.edit(fileOf(shared, 900, [], { status: "unchanged", new_blob: "a".repeat(37) + "900" }));
  await second.hook("stop", { status: { excerpt: jobs[4].says, files: [] } });
  return { ...world, agents, repo, saved: clash.ref };
}
