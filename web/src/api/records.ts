// The records that the API answers with, typed from its own document.
import type { Body } from "./client";
import type { components } from "./schema.gen";

type Schemas = components["schemas"];

export type Member = Schemas["Membership"];
export type Role = Member["role"];
export type Invite = Schemas["Invite"];
export type Token = Schemas["Token"];
export type Billing = Schemas["Billing"];
export type HostToken = Schemas["HostToken"];
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
export type Branch = Schemas["Branch"];
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

export type Sender = Schemas["Sender"];
export type Message = Schemas["Message"];
export type Conversation = Schemas["Conversation"];
export type AttentionItem = Schemas["AttentionItem"];
export type SearchHit = Schemas["Memory"];
export type EventRef = Schemas["FeedRef"];
export type Stats = Schemas["Stats"];
export type SavedTime = Schemas["SavedTime"];
export type Totals = Schemas["Totals"];
export type Webhook = Schemas["Webhook"];
export type Delivery = Schemas["Delivery"];
export type Digest = Schemas["DigestSettings"];
export type DigestPreview = Schemas["DigestPreview"];
export type ContractRecord = Schemas["ContractRecord"];
export type LandingStep = Schemas["LandingStep"];
export type LiveFile = Schemas["LiveFile"];
export type LiveWork = Schemas["LiveWork"];

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export type Price = Schemas["Price"];
export type QuietHours = Schemas["QuietHours"];
export type SlackChannel = Pick<SlackStatus, "connected" | "connected_at" | "last_post_at" | "last_error" | "last_error_at">;
export type SlackStatus = Schemas["SlackStatus"];
export type Usage = Schemas["Usage"];
