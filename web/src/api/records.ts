// The records that the API answers with. Types of endpoints that the server
// has come from its own document; the others are written here by hand until
// they do, and are listed in pending.ts.
import type { Body } from "./client";
import type { components } from "./schema.gen";

type Schemas = components["schemas"];

export type Member = Schemas["Membership"];
export type Role = Member["role"];
export type Invite = Schemas["Invite"];
export type Token = Schemas["Token"];
export type Scope = Token["scopes"][number];
export type Repo = Schemas["Repo"];
export type Project = Schemas["Project"];
export type Event = Schemas["Event"];
export type EventType = Event["type"];
export type User = Schemas["User"];
export type OrgPlace = Schemas["OrgPlace"];
export type SignedIn = Schemas["SignedIn"];
export type DeviceRequest = Schemas["DeviceRequest"];
export type RepoName = Schemas["RepoName"];
export type Intent = Schemas["Intent"];
export type IntentName = Schemas["IntentName"];
export type IntentStatus = Intent["status"];
export type Claim = Schemas["Claim"];
export type ScopeSet = Schemas["ScopeSet"];
export type Conflict = Schemas["Conflict"];
export type ConflictKind = Conflict["kind"];
export type ConflictStatus = Conflict["status"];
export type Severity = Conflict["severity"];
export type Party = Schemas["Party"];
export type Evidence = Schemas["Evidence"];
export type Session = Schemas["Session"];
export type SessionStatus = Session["status"];
export type IntentPatch = NonNullable<Body<"PATCH /v1/intents/{ref}">>;
export type ConflictAction = Conflict["actions"][number]["action"];
export type Verdict = Conflict["feedback"][number]["verdict"];
export type Policies = Schemas["Policies"];
export type Rules = Partial<Schemas["Effective"]>;

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export interface Sender {
  kind: "user" | "session" | "service" | "system";
  user: User | null;
  session_id: string | null;
  tool: string | null;
}

export interface About {
  kind: "intent" | "conflict" | "question";
  ref: string;
}

export interface Message {
  id: string;
  conversation_id: string;
  from: Sender;
  to: string;
  subject: string | null;
  body: string;
  requires_ack: boolean;
  acks: { user: User; acked_at: string }[];
  created_at: string;
  read_at: string | null;
  about: About | null;
}

export interface Conversation {
  id: string;
  kind: "channel" | "direct";
  name: string;
  to: string;
  repo: RepoName | null;
  subject: string | null;
  participants: User[];
  about: About | null;
  message_count: number;
  unread_count: number;
  last_message: Message | null;
  created_at: string;
  updated_at: string;
}

export interface AttentionItem {
  id: string;
  kind: "conflict" | "override_request" | "ack" | "message" | "question" | "handoff" | "invite";
  title: string;
  detail: string;
  ref: string | null;
  repo: RepoName | null;
  since: string;
  url: string;
  actions: string[];
}

export interface Attention {
  items: AttentionItem[];
  total: number;
  by_kind: Record<string, number>;
}

export type SearchKind = "intents" | "messages" | "conflicts" | "statuses" | "contracts" | "questions";

export interface SearchHit {
  kind: string;
  id: string;
  ref: string | null;
  title: string;
  snippet: string;
  repo: RepoName | null;
  by: User | null;
  at: string;
  url: string;
}

export interface EventRef {
  kind: string;
  label: string;
  url: string | null;
}

export interface Feed extends Page<Event> {
  refs: Record<string, EventRef>;
}

export interface Totals {
  intents: number;
  conflicts: number;
  blocked: number;
  warned: number;
  resolved: number;
  overridden: number;
  false_positives: number;
  messages: number;
  questions: number;
  sessions: number;
}

export interface Stats {
  days: number;
  totals: Totals;
  time_saved_minutes: number;
  time_saved_basis: string;
  daily: ({ date: string } & Totals)[];
  heatmap: number[][];
  top_clients: { tool: string; sessions: number }[];
  members: { user: User; intents: number; conflicts: number; sessions: number }[];
  repos: { repo: RepoName; intents: number; conflicts: number; sessions: number }[];
}

export type Usage = Schemas["Usage"];

export interface Webhook {
  id: string;
  url: string;
  event_types: string[];
  description: string | null;
  disabled_at: string | null;
  created_at: string;
  secret?: string;
}

export interface Delivery {
  id: string;
  event_id: string | null;
  event_type: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  response_status: number | null;
  response_ms: number | null;
  error: string | null;
  next_attempt_at: string | null;
  created_at: string;
  delivered_at: string | null;
}

export interface Slack {
  connected: boolean;
  channel: string | null;
  last_post: { at: string; status: string; error: string | null } | null;
}

export interface Digest {
  enabled: boolean;
  day: string;
  hour: number;
  channels: string[];
  email_me: boolean;
  recipients: string[];
  next_send_at: string | null;
  last_run: { at: string; status: string } | null;
}

export interface DigestPreview {
  slack: { text: string };
  email: { subject: string; text: string; html: string };
}

export interface GitHubApp {
  configured: boolean;
  apps: { id: string; name: string; owner: string; install_url: string }[];
  installations: { id: string; account: string; repos: number; created_at: string }[];
}

export interface Billing {
  plan: string;
  status: string;
  available: boolean;
  seats: number | null;
  current_period_end: string | null;
}

export interface ContractLink {
  key: string;
  provider: RepoName | null;
  users: RepoName[];
  signature: string | null;
  criticality: string | null;
  in_flight: { intent: IntentName; repo: RepoName; compatibility: "compatible" | "breaking" | "unknown"; detail: string | null }[];
}
