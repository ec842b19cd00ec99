// Answers for routes that the server does not have yet, so that their pages
// can be looked at. A route that exists is never answered from here.
import { people } from "./seed.mjs";

const now = Date.now();
const at = (minutes) => new Date(now - minutes * 60_000).toISOString();
const user = (key, i = people.findIndex((p) => p.key === key)) => ({ id: `00000000-0000-7000-8000-00000000000${i}`, email: people[i].email, name: people[i].name });
const repo = (n) => ({ id: `repo-${n}`, full_name: `northwind/${n}` });
const page = (items) => ({ items, next_cursor: null });

const contracts = [
  { key: "http:GET /v2/orders/{id}", provider: repo("shop-api"), users: [repo("shop-web"), repo("mobile")], signature: "GET /v2/orders/{id} -> {id, status, shipments[]}", criticality: "high", in_flight: [{ intent: { ref: "INT-4", number: 4, title: "Orders API v2 with partial shipments", status: "active" }, repo: repo("shop-api"), compatibility: "breaking", detail: "items was removed" }] },
  { key: "http:POST /v1/token", provider: repo("shop-api"), users: [repo("shop-web"), repo("mobile")], signature: null, criticality: "high", in_flight: [] },
  { key: "event:order.shipped", provider: repo("shop-api"), users: [repo("payments"), repo("mobile")], signature: null, criticality: "medium", in_flight: [] },
  { key: "proto:pay.v1.Payments/Capture", provider: repo("payments"), users: [repo("shop-api")], signature: null, criticality: "high", in_flight: [{ intent: { ref: "INT-7", number: 7, title: "Split the ledger by currency", status: "active" }, repo: repo("payments"), compatibility: "compatible", detail: "a field was added" }] },
];

const totals = { intents: 212, conflicts: 64, blocked: 9, warned: 41, resolved: 57, overridden: 3, false_positives: 2, messages: 318, questions: 27, sessions: 486 };
const wave = (i, size) => Math.max(0, Math.round(size * (1 + Math.sin(i / 2.4)) * ((i % 7) > 4 ? 0.25 : 1)));
const daily = (days) =>
  Array.from({ length: days }, (_, i) => ({ ...totals, date: new Date(now - (days - 1 - i) * 86_400_000).toISOString().slice(0, 10), conflicts: wave(i, 3), resolved: wave(i + 1, 2.6), blocked: wave(i, 0.6), sessions: wave(i, 9) }));

export const fixtures = {
  "GET /v1/attention": () => ({
    items: [
      { id: "1", kind: "override_request", title: "Ana asks for an override of CF-1", detail: "The middleware only reads the session id; nothing in the store changes.", ref: "CF-1", repo: repo("shop-api"), since: at(12), url: "/conflicts/CF-1", actions: [] },
      { id: "2", kind: "conflict", title: "INT-1 and INT-2 changed the same lines", detail: "internal/auth/token.go lines 52-57; git will not merge the two.", ref: "CF-2", repo: repo("shop-api"), since: at(18), url: "/conflicts/CF-2", actions: [] },
      { id: "3", kind: "question", title: "Dara's agent asks", detail: "Which claim in the access token holds the tenant?", ref: null, repo: repo("shop-api"), since: at(31), url: "/messages/c4", actions: [] },
      { id: "4", kind: "ack", title: "Orders v2", detail: "GET /v2/orders/{id} returns shipments instead of items from tomorrow.", ref: null, repo: null, since: at(44), url: "/messages/c1", actions: [] },
    ],
    total: 4,
    by_kind: { override_request: 1, conflict: 1, question: 1, ack: 1 },
  }),
  "GET /v1/search": () => page([{ kind: "intents", id: "1", ref: "INT-1", title: "Move sessions to the new store", snippet: "Sessions live in PostgreSQL instead of Redis, so that a restart signs nobody out.", repo: repo("shop-api"), by: user("ben"), at: at(90), url: "/intents/INT-1" }]),
  "GET /v1/contracts": (q) => page(contracts.filter((c) => !q.get("key") || c.key === q.get("key"))),
  "GET /v1/stats": (q) => ({
    days: Number(q.get("days") ?? 30),
    totals,
    time_saved_minutes: 2890,
    time_saved_basis: "45 minutes for every conflict that was resolved before its merge, 20 for every edit that was stopped, and 5 for every question an agent answered.",
    daily: daily(Number(q.get("days") ?? 30)),
    heatmap: Array.from({ length: 7 }, (_, d) => Array.from({ length: 24 }, (_, h) => (d > 4 ? (h % 5 === 0 ? 2 : 0) : Math.max(0, Math.round(22 * Math.exp(-((h - 14) ** 2) / 18)) - (d % 2))))),
    top_clients: [{ tool: "claude_code", sessions: 246 }, { tool: "codex", sessions: 131 }, { tool: "cursor", sessions: 74 }, { tool: "opencode", sessions: 35 }],
    members: ["ana", "chen", "ben", "dara"].map((k, i) => ({ user: user(k), intents: 71 - i * 14, conflicts: 20 - i * 3, sessions: 160 - i * 30 })),
    repos: ["shop-api", "shop-web", "payments", "mobile"].map((n, i) => ({ repo: repo(n), intents: 90 - i * 20, conflicts: 31 - i * 9, sessions: 200 - i * 40 })),
  }),
  "GET /v1/billing": () => ({ plan: "self_hosted", status: "active", available: false, seats: null, current_period_end: null }),
  "GET /v1/webhooks": () => page([{ id: "w1", url: "https://ci.northwind.example/hooks/svc", event_types: ["conflict.detected", "conflict.overridden"], description: "CI gate", disabled_at: null, created_at: at(9000) }, { id: "w2", url: "https://example.com/old", event_types: ["*"], description: null, disabled_at: at(300), created_at: at(90000) }]),
  "GET /v1/webhooks/{id}/deliveries": () => page([{ id: "d1", event_id: "81", event_type: "conflict.detected", status: "delivered", attempts: 1, response_status: 200, response_ms: 84, error: null, next_attempt_at: null, created_at: at(18), delivered_at: at(18) }, { id: "d2", event_id: "77", event_type: "conflict.overridden", status: "failed", attempts: 8, response_status: 500, response_ms: 1204, error: null, next_attempt_at: null, created_at: at(410), delivered_at: null }]),
  "GET /v1/integrations/slack": () => ({ connected: true, channel: "#agents", last_post: { at: at(12), status: "delivered", error: null } }),
  "GET /v1/integrations/digest": () => ({ enabled: true, day: "monday", hour: 8, channels: ["slack"], email_me: true, recipients: [people[0].email], next_send_at: at(-3000), last_run: { at: at(7000), status: "sent" } }),
  "GET /v1/github/app": () => ({ configured: true, apps: [{ id: "a1", name: "svc-northwind", owner: "northwind", install_url: "https://github.com/apps/svc-northwind/installations/new" }], installations: [{ id: "i1", account: "northwind", repos: 4, created_at: at(30000) }] }),
  "GET /v1/feed": () => ({
    ...page([
      { id: "9", type: "hook.blocked", version: 1, occurred_at: at(2), org_id: "o", actor: { kind: "session", id: "s1" }, subject: { kind: "conflict", id: "c1" }, payload: { kind: "exclusive_claim" } },
      { id: "8", type: "conflict.detected", version: 1, occurred_at: at(5), org_id: "o", actor: { kind: "session", id: "s1" }, subject: { kind: "conflict", id: "c1" }, payload: { kind: "edit_overlap" } },
      { id: "7", type: "intent.declared", version: 1, occurred_at: at(9), org_id: "o", actor: { kind: "session", id: "s2" }, subject: { kind: "intent", id: "i1" }, payload: {} },
      { id: "6", type: "message.sent", version: 1, occurred_at: at(14), org_id: "o", actor: { kind: "user", id: "u1" }, subject: { kind: "message", id: "m1" }, payload: {} },
    ]),
    refs: { s1: { kind: "session", label: "Ana's Claude Code", url: null }, s2: { kind: "session", label: "Ben's Codex", url: null }, c1: { kind: "conflict", label: "CF-1", url: "/conflicts/CF-1" }, i1: { kind: "intent", label: "INT-1", url: "/intents/INT-1" }, u1: { kind: "user", label: "Chen Wei", url: null } },
  }),
  "GET /v1/conversations": () => page(conversations),
  "GET /v1/conversations/{id}": (_, path) => conversations.find((c) => path.endsWith(c.id)),
  "GET /v1/conversations/{id}/messages": () => page(messages),
};

const from = (key, tool) => ({ kind: tool ? "session" : "user", user: user(key), session_id: null, tool: tool ?? null });
const message = (id, who, body, minutes, more = {}) => ({ id, conversation_id: "c2", from: who, to: "channel:northwind/shop-api", subject: null, body, requires_ack: false, acks: [], created_at: at(minutes), read_at: null, about: null, ...more });
const messages = [
  message("m1", from("ben", "codex"), "ParseToken takes a context from now on. The change is on session-store; rebase when it lands today.", 52, { about: { kind: "intent", ref: "INT-1" } }),
  message("m2", from("ana", "claude_code"), "Seen. Rotation waits for it.", 49),
  message("m3", from("chen"), "GET /v2/orders/{id} returns shipments instead of items from tomorrow. Tell me if anything of yours still reads items.", 44, { requires_ack: true, acks: [{ user: user("ben"), acked_at: at(40) }] }),
];
const conversation = (id, kind, name, more) => ({ id, kind, name, to: "channel:team", repo: null, subject: null, participants: [], about: null, message_count: 3, unread_count: 0, last_message: messages[2], created_at: at(9000), updated_at: at(44), ...more });
const conversations = [
  conversation("c1", "channel", "#team", { unread_count: 1 }),
  conversation("c2", "channel", "#northwind/shop-api", { repo: repo("shop-api"), last_message: messages[1] }),
  conversation("c4", "direct", "Dara Singh", { participants: [user("ana"), user("dara")], about: { kind: "question", ref: "00000000-0000-7000-8000-0000000000aa" }, unread_count: 1 }),
  conversation("c3", "direct", "Ben Okafor", { participants: [user("ana"), user("ben")], last_message: message("m4", from("ben"), "May the audit log read session ids from the context?", 63) }),
];

/** Answers missing routes in a browser context from the fixtures. */
export async function useFixtures(context, { except = [] } = {}) {
  const table = Object.entries(fixtures).filter(([route]) => !except.includes(route)).map(([route, answer]) => {
    const [method, pattern] = route.split(" ");
    return { method, match: new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+")}$`), answer };
  });
  await context.route("**/v1/**", async (route) => {
    const request = route.request();
    const url = new URL(request.url());
    const fixture = table.find((t) => t.method === request.method() && t.match.test(url.pathname));
    if (!fixture) return route.continue();
    const real = await route.fetch();
    if (real.status() !== 404 || !(await real.text()).includes("no such route")) return route.fulfill({ response: real });
    return route.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(fixture.answer(url.searchParams, url.pathname)) });
  });
}
