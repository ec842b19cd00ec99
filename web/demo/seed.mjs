// Fills a fresh server with a small team at work, through the public API only:
//   node demo/seed.mjs http://127.0.0.1:7780 <set-up code>
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { Client } from "./client.mjs";

export const password = "correct-horse-battery-9";

export const people = [
  { key: "ana", name: "Ana Ruiz", email: "ana@northwind.example", role: "owner" },
  { key: "ben", name: "Ben Okafor", email: "ben@northwind.example", role: "admin" },
  { key: "chen", name: "Chen Wei", email: "chen@northwind.example", role: "member" },
  { key: "dara", name: "Dara Singh", email: "dara@northwind.example", role: "member" },
  { key: "elif", name: "Elif Kaya", email: "elif@northwind.example", role: "viewer" },
];

export const repos = ["northwind/shop-api", "northwind/shop-web", "northwind/payments", "northwind/mobile"];

const head = "5f0c1f7d2b9a44e1a7c3d0e9b86f12345678abcd";

/** One agent: a session of a person in a repo. */
export class Agent {
  constructor(client, { tool, model, repo, branch }) {
    Object.assign(this, { client, tool, model, repo, branch, external: randomUUID() });
  }
  async hook(event, more = {}) {
    const reply = await this.ask(event, more);
    this.session ??= reply.session_id;
    return reply.unchecked ? this.hook(event, more) : reply; // a busy service lets an edit pass; the demo wants it decided
  }
  ask(event, more) {
    return this.client.post("/v1/hooks/evaluate", {
      event,
      dedupe_key: randomUUID(),
      session: { external_id: this.external, tool: this.tool, model: this.model },
      client: { cli_version: "0.5.0", os: "linux" },
      repo: { remote_fingerprints: [`github.com/${this.repo}`], branch: this.branch, head_sha: head, base_sha: head, worktree_hash: this.external.replaceAll("-", "").slice(0, 32) },
      ...more,
    });
  }
  async declare(body) {
    const { intent } = await this.client.post("/v1/intents", { session_id: this.session, branch: this.branch, ...body });
    this.intent = intent;
    return intent;
  }
  edit(...files) {
    return this.hook("post_edit", { paths: files.map((f) => f.path), analysis: { truncated: false, files } });
  }
}

const blob = (n) => String(n).padStart(40, "a");
export const fileOf = (path, base, hunks, more = {}) => ({ path, old_path: null, status: "modified", language: "go", parsed: true, binary: false, generated: false, base_blob: blob(base), new_blob: blob(base + 500), hunks: hunks.map(([start, count]) => ({ start, count, lines_hash: `h${start}${count}` + randomUUID().slice(0, 8) })), symbols: [], contracts: [], references: [], ...more });
export const symbol = (key, before, after, compatibility, start, count) => ({ key, kind: "function", exported: true, change: "signature", signature: after, previous_signature: before, signature_hash: "n" + after.length, previous_signature_hash: "o" + before.length, compatibility, detail: compatibility === "breaking" ? "a parameter was added" : null, lines: { start, count } });

/** Makes org, people, tokens; returns a client for each person and one per agent. */
export async function seedPeople(url, code) {
  const org = "northwind";
  const [owner, ...others] = people;
  const clients = {};
  clients.ana = new Client(url, { org });
  await clients.ana.post("/v1/auth/setup", { code, org: "Northwind", email: owner.email, name: owner.name, password });
  for (const p of others) {
    const invite = await clients.ana.post("/v1/invites", { role: p.role, email: p.email });
    clients[p.key] = new Client(url, { org });
    await clients[p.key].post("/v1/auth/accept-invite", { code: invite.url.split("#")[1], name: p.name, password });
  }
  const tokens = {};
  for (const p of people.filter((p) => p.role !== "viewer")) {
    const made = await clients.ana.post("/v1/tokens", { name: `cli · ${p.key}-laptop`, user_email: p.email });
    tokens[p.key] = new Client(url, { token: made.token });
  }
  await clients.ana.post("/v1/tokens", { name: "Nightly report", kind: "service", scopes: ["intents:read", "conflicts:read", "events:read"], expires_in_days: 90 });
  await clients.ana.post("/v1/invites", { role: "member", email: "fatima@northwind.example" });
  return { org, clients, tokens };
}

export const fact = (key, role, line, signature = null) => ({ key, role, change: "unchanged", signature, previous_signature: null, signature_hash: signature && `s${signature.length}`, previous_signature_hash: null, compatibility: "compatible", detail: null, line });

// What the repos provide to each other and use of each other.
const index = {
  [repos[0]]: [
    { path: "internal/orders/handler.go", language: "go", contracts: [fact("http:GET /v2/orders/{id}", "provides", 84, "{id, status, items[]}"), fact("http:POST /v2/orders", "provides", 120)] },
    { path: "internal/auth/routes.go", language: "go", contracts: [fact("http:POST /v1/token", "provides", 22)] },
    { path: "internal/orders/events.go", language: "go", contracts: [fact("event:order.shipped", "provides", 31)] },
    { path: "internal/payments/client.go", language: "go", contracts: [fact("proto:pay.v1.Payments/Capture", "uses", 18)] },
  ],
  [repos[1]]: [
    { path: "src/api/orders.ts", language: "typescript", contracts: [fact("http:GET /v2/orders/{id}", "uses", 12), fact("http:POST /v2/orders", "uses", 30)] },
    { path: "src/api/session.ts", language: "typescript", contracts: [fact("http:POST /v1/token", "uses", 9)] },
  ],
  [repos[2]]: [
    { path: "proto/pay.proto", language: "protobuf", contracts: [fact("proto:pay.v1.Payments/Capture", "provides", 14)] },
    { path: "ledger/consumer.go", language: "go", contracts: [fact("event:order.shipped", "uses", 41)] },
  ],
  [repos[3]]: [
    { path: "app/api/Orders.kt", language: "kotlin", contracts: [fact("http:GET /v2/orders/{id}", "uses", 22), fact("http:POST /v1/token", "uses", 51)] },
    { path: "app/notifications/Shipping.kt", language: "kotlin", contracts: [fact("event:order.shipped", "uses", 17)] },
  ],
};

/** Puts the team to work. */
export async function seedWork({ clients, tokens }) {
  const [api, web, pay, mobile] = repos;
  for (const full_name of repos) await clients.ana.post("/v1/repos", { full_name });
  await clients.ana.post("/v1/projects", { name: "Shop", repos: [api, web, pay] });
  for (const [name, files] of Object.entries(index)) await tokens.ana.post(`/v1/repos/${encodeURIComponent(name)}/index`, { files });

  const a = {
    refresh: new Agent(tokens.ana, { tool: "claude_code", model: "claude-opus-4-5", repo: api, branch: "auth/refresh-tokens" }),
    audit: new Agent(tokens.ana, { tool: "claude_code", model: "claude-opus-4-5", repo: api, branch: "audit-log" }),
    session: new Agent(tokens.ben, { tool: "codex", model: "gpt-5.2-codex", repo: api, branch: "session-store" }),
    orders: new Agent(tokens.chen, { tool: "cursor", model: "composer-2", repo: api, branch: "orders-v2" }),
    cart: new Agent(tokens.dara, { tool: "claude_code", model: "claude-sonnet-4-5", repo: web, branch: "cart-redesign" }),
    checkout: new Agent(tokens.chen, { tool: "codex", model: "gpt-5.2-codex", repo: web, branch: "checkout-orders-v2" }),
    ledger: new Agent(tokens.ben, { tool: "gemini", model: "gemini-3-pro", repo: pay, branch: "ledger-split" }),
    push: new Agent(tokens.dara, { tool: "opencode", repo: mobile, branch: "push-notifications" }),
  };
  for (const agent of Object.values(a)) {
    await agent.hook("session_start");
    await agent.hook("prompt", { prompt_excerpt: "Let us begin." });
  }

  await a.session.declare({
    title: "Move sessions to the new store",
    summary: "Sessions live in PostgreSQL instead of Redis, so that a restart signs nobody out.",
    plan_md: "# Plan\n1. Add the `sessions` table\n2. Write to both for a week\n3. Read from the new store\n\n- [x] Migration\n- [ ] Dual write\n- [ ] Switch reads\n\n```go\nfunc (s *Store) Session(ctx context.Context, id string) (*Session, error)\n```",
    scope: { paths: ["internal/session/store.go", "internal/session/middleware.go", "internal/auth/cookie.go"], symbols: ["sym:go:internal/auth/token.go#ParseToken"], contracts: ["db:public.sessions"] },
    mode: "exclusive",
    external_ref: { kind: "linear", url: "https://linear.app/northwind/issue/SHOP-412", id: "SHOP-412" },
  });
  await a.refresh.declare({ title: "Rotate refresh tokens on every use", summary: "A stolen refresh token works once at most.", scope: { paths: ["internal/auth/token.go", "internal/auth/refresh.go"], symbols: ["sym:go:internal/auth/token.go#ParseToken"], contracts: ["http:POST /v1/token"] } });
  await a.audit.declare({ title: "Log every admin action", scope: { paths: ["internal/audit/**", "internal/session/middleware.go"] } });
  await a.orders.declare({ title: "Orders API v2 with partial shipments", summary: "Replaces `items` with `shipments`; the old route stays until checkout has moved.", scope: { paths: ["internal/orders/**", "api/openapi.yaml"], contracts: ["http:GET /v2/orders/{id}", "event:order.shipped"] } });
  await a.checkout.declare({ title: "Show partial shipments at checkout", scope: { paths: ["src/checkout/**"], contracts: ["http:GET /v2/orders/{id}"] }, depends_on: [a.orders.intent.ref] });
  await a.cart.declare({ title: "Redesign the cart drawer", scope: { paths: ["src/cart/**", "src/ui/Drawer.tsx"] } });
  await a.ledger.declare({ title: "Split the ledger by currency", scope: { paths: ["ledger/**"], contracts: ["db:public.ledger_entries", "event:order.shipped"] } });
  await a.push.declare({ title: "Notify when an order ships", scope: { paths: ["app/notifications/**"], contracts: ["event:order.shipped"] } });

  const parse = "sym:go:internal/auth/token.go#ParseToken";
  await a.session.edit(fileOf("internal/auth/token.go", 1, [[40, 18]], { symbols: [symbol(parse, "func ParseToken(raw string) (*Claims, error)", "func ParseToken(ctx context.Context, raw string) (*Claims, error)", "breaking", 38, 24)] }));
  await a.refresh.edit(fileOf("internal/auth/token.go", 1, [[52, 9]], { references: [{ key: parse, line: 71 }] }), fileOf("internal/auth/refresh.go", 2, [[12, 30]], { references: [{ key: parse, line: 20 }] }));
  await a.orders.edit(fileOf("internal/orders/handler.go", 3, [[80, 12]], { contracts: [{ key: "http:GET /v2/orders/{id}", role: "provides", change: "signature", signature: "{id, status, shipments[]}", previous_signature: "{id, status, items[]}", signature_hash: "s2", previous_signature_hash: "s1", compatibility: "breaking", detail: "items was removed", line: 84 }] }));
  await a.checkout.edit(fileOf("src/checkout/Summary.tsx", 4, [[15, 6]], { language: "tsx", contracts: [{ key: "http:GET /v2/orders/{id}", role: "uses", change: "added", signature: null, previous_signature: null, signature_hash: null, previous_signature_hash: null, compatibility: "unknown", detail: null, line: 18 }], references: [{ key: "http:GET /v2/orders/{id}", line: 18 }] }));
  await a.cart.edit(fileOf("src/cart/Drawer.tsx", 5, [[1, 40]], { language: "tsx" }));
  await a.audit.hook("pre_edit", { paths: ["internal/session/middleware.go"] });
  await a.refresh.hook("stop", { status: { excerpt: "Rotation works; tests for reuse detection are next.", files: ["internal/auth/refresh.go"] } });

  const merged = new Agent(tokens.dara, { tool: "claude_code", model: "claude-sonnet-4-5", repo: web, branch: "fix-typo" });
  await merged.hook("session_start");
  await merged.declare({ title: "Fix the empty state of search", scope: { paths: ["src/search/**"] } });
  await tokens.dara.post(`/v1/intents/${merged.intent.ref}/close`, { outcome: "merged", note: "Shipped with 4.12." });
  await merged.hook("session_end");
  return a;
}

/** Lets people and agents answer what came up, and talk. */
export async function seedTalk({ clients, tokens }, agents) {
  const conflicts = (await clients.ana.get("/v1/conflicts?status=live&limit=50")).items;
  const overlap = conflicts.find((c) => c.kind === "edit_overlap" || c.kind === "symbol_overlap");
  if (overlap) await tokens.ana.post(`/v1/conflicts/${overlap.ref}/actions`, { action: "propose_sequence", note: "Ben's signature change lands first; I rebase the rotation onto it this afternoon." });
  const blocked = conflicts.find((c) => c.kind === "exclusive_claim");
  if (blocked) await tokens.ana.post(`/v1/conflicts/${blocked.ref}/actions`, { action: "request_override", note: "The middleware only reads the session id; nothing in the store changes." });
  const talk = [
    [tokens.ben, { to: "channel:northwind/shop-api", body: "ParseToken takes a context from now on. The change is on session-store; rebase when it lands today." }],
    [tokens.ana, { to: "channel:northwind/shop-api", body: "Seen. Rotation waits for it." }],
    [tokens.chen, { to: "channel:team", subject: "Orders v2", body: "GET /v2/orders/{id} returns shipments instead of items from tomorrow. Tell me if anything of yours still reads items.", requires_ack: true }],
    [tokens.ben, { to: `user:${people[0].email}`, body: "May the audit log read session ids from the context? I would rather not touch the middleware twice." }],
    [tokens.dara, { to: `intent:${agents.orders.intent.ref}`, body: "Does a shipment carry its own currency?" }],
  ];
  for (const [who, body] of talk) await who.post("/v1/messages", body);
  await tokens.dara.post("/v1/questions", { to: `user:${people[0].email}`, question: "Which claim in the access token holds the tenant?", repo: repos[0] });
  await tokens.dara.post(`/v1/intents/${agents.cart.intent.ref}/handoff`, { to: people[0].email, note: "The drawer is done; the summary row is left." });
  await clients.ana.post("/v1/webhooks", { url: "https://ci.northwind.example/hooks/svc", event_types: ["conflict.detected", "conflict.overridden"], description: "CI gate" });
}

export async function seed(url, code) {
  const world = await seedPeople(url, code);
  const agents = await seedWork(world);
  await seedTalk(world, agents);
  return { ...world, agents };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [url, code] = process.argv.slice(2);
  if (!url || !code) {
    console.error("usage: node demo/seed.mjs <server address> <set-up code>");
    process.exit(2);
  }
  await seed(url, code);
  console.log(`Sign in at ${url} as ${people[0].email} with ${password}`);
}
