// The records that the API answers with. Types of endpoints that the server
// has come from its own document; the others are written here by hand until
// they do, and are listed in pending.ts.
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

export interface RepoName {
  id: string;
  full_name: string;
}

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export type IntentStatus = "draft" | "active" | "blocked" | "in_review" | "merged" | "abandoned" | "expired";
export type Mode = "shared" | "exclusive" | "observe";

export interface Claim {
  kind: "path" | "symbol" | "contract";
  selector: string;
  mode: Mode;
  source: "declared" | "observed";
  expires_at: string | null;
}

export interface Handoff {
  id: string;
  intent: string;
  from: User;
  to: User;
  note: string | null;
  thread_id: string | null;
  message_id: string | null;
  created_at: string;
  adopted_at: string | null;
}

export interface ScopeSet {
  paths: string[];
  symbols: string[];
  contracts: string[];
}

export interface Intent {
  id: string;
  number: number;
  ref: string;
  status: IntentStatus;
  title: string;
  summary: string | null;
  plan_md: string | null;
  mode: Mode;
  effective_mode: Mode;
  mode_note: string | null;
  repo: RepoName;
  owner: User;
  session_id: string | null;
  branch: string | null;
  pr_number: number | null;
  external_ref: { kind: string; url: string; id: string | null } | null;
  scope: ScopeSet;
  claims: Claim[];
  depends_on: string[];
  blocked_by: { kind: "intent" | "conflict"; ref: string }[];
  handoff: Handoff | null;
  outcome: "merged" | "abandoned" | "handoff" | null;
  note: string | null;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
  closed_at: string | null;
}

export interface IntentName {
  ref: string;
  number: number;
  title: string | null;
  status: IntentStatus;
}

export interface IntentPatch {
  title?: string;
  summary?: string;
  plan_md?: string;
  scope_add?: Partial<ScopeSet>;
  scope_remove?: Partial<ScopeSet>;
  branch?: string;
  status?: "active" | "in_review";
  note?: string;
}

export type ConflictKind =
  | "exclusive_claim"
  | "edit_overlap"
  | "symbol_overlap"
  | "contract_overlap"
  | "contract_break"
  | "dependency_order"
  | "path_overlap"
  | "duplicate_work"
  | "rebase_needed";
export type Severity = "off" | "info" | "warn" | "block";
export type ConflictStatus = "open" | "acknowledged" | "resolving" | "resolved" | "overridden" | "stale";
export type ConflictAction = "ack" | "propose_sequence" | "will_rebase" | "resolved" | "false_positive" | "request_override";
export type Verdict = "useful" | "false_positive" | "too_late";

export interface Party {
  role: "holder" | "challenger";
  user: User | null;
  intent: IntentName | null;
  session_id: string | null;
  repo: RepoName;
  branch: string | null;
}

export interface Evidence {
  party: "holder" | "challenger";
  via: "claim" | "change" | "reference" | "contract";
  selector: string | null;
  path: string | null;
  symbol: string | null;
  contract: string | null;
  lines: { start: number; end: number } | null;
  before: string | null;
  after: string | null;
  detail: string | null;
}

export interface Conflict {
  id: string;
  number: number;
  ref: string;
  kind: ConflictKind;
  severity: Severity;
  status: ConflictStatus;
  repo: RepoName;
  cross_repo: boolean;
  dependent_repo: RepoName | null;
  parties: Party[];
  evidence: Evidence[];
  explanation: string;
  suggestion: { action: string; text: string; wait_for: Record<string, string> | null };
  fingerprint: string;
  previous: string | null;
  first_seen_at: string;
  updated_at: string;
  closed_at: string | null;
  resolution: "agreed" | "cleared" | "false_positive" | null;
  override: { by: User; reason: string | null; at: string } | null;
  override_requested: { by: User; note: string | null; at: string } | null;
  actions: { action: ConflictAction; note: string | null; by: User; session_id: string | null; at: string }[];
  feedback: { verdict: Verdict; by: User; at: string }[];
}

export type SessionStatus = "active" | "idle" | "ended" | "expired";

export interface Session {
  id: string;
  repo: RepoName;
  user: User;
  tool: string;
  model: string | null;
  branch: string | null;
  status: SessionStatus;
  intent: IntentName | null;
  started_at: string;
  last_heartbeat_at: string;
  ended_at: string | null;
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

export interface Rules {
  "override.require_reason"?: boolean;
  "override.allowed_roles"?: Role[];
  session_idle_minutes?: number;
  exclusive_max_files?: number;
  cross_repo_contracts?: "off" | "warn" | "block";
  enforcement?: "off" | "warn" | "block";
  severity?: Partial<Record<ConflictKind, Severity>>;
  require_intent?: "off" | "warn" | "block";
  auto_draft?: boolean;
  ignore_paths?: string[];
  intent_expire_hours?: number;
  review_expire_days?: number;
}

export interface Policies {
  repo_name: string | null;
  org: Rules;
  repo: Rules | null;
  effective: Required<Rules>;
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

export interface Usage {
  plan: string;
  period: string;
  limits: { repos: number | null; developers: number | null };
  repos: number;
  active_developers: number;
  developers: { user: User; last_active_at: string }[] | null;
}

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
