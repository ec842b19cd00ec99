// Events in words. Each says what the actor did, without naming the actor.
import type { Event, EventType } from "../api/records";
import { plural } from "./text";

interface Words {
  did: string;
  tone?: "block" | "warn" | "good" | "info";
}

export const words: Record<EventType, Words> = {
  "repo.registered": { did: "registered a repo" },
  "repo.renamed": { did: "renamed a repo" },
  "repo.updated": { did: "changed a repo" },
  "repo.twins_found": { did: "found two records of one repository", tone: "warn" },
  "repo.merged": { did: "made one repo of two records" },
  "repo.removed": { did: "removed a repo" },
  "project.created": { did: "made a project" },
  "project.updated": { did: "changed a project" },
  "project.deleted": { did: "deleted a project" },
  "session.started": { did: "started a session", tone: "good" },
  "session.ended": { did: "ended a session" },
  "session.status": { did: "left a status" },
  "session.turn": { did: "ended or began a turn" },
  "intent.drafted": { did: "began work" },
  "intent.declared": { did: "declared an intent", tone: "good" },
  "intent.updated": { did: "changed an intent" },
  "intent.blocked": { did: "has to wait", tone: "block" },
  "intent.unblocked": { did: "can go on", tone: "good" },
  "intent.handed_off": { did: "handed off an intent", tone: "info" },
  "intent.adopted": { did: "adopted an intent", tone: "good" },
  "intent.closed": { did: "closed an intent" },
  "intent.expired": { did: "let an intent expire" },
  "intent.unattended": { did: "left a claim unattended", tone: "warn" },
  "intent.released": { did: "shared a claim that nobody answered for" },
  "change.recorded": { did: "changed files" },
  "branch.pushed": { did: "was pushed without svc" },
  "branch.gone": { did: "is no longer open" },
  "contract.changed": { did: "changed a contract", tone: "warn" },
  "conflict.detected": { did: "ran into a conflict", tone: "warn" },
  "conflict.updated": { did: "made a conflict grow", tone: "warn" },
  "conflict.acknowledged": { did: "acknowledged a conflict" },
  "conflict.resolving": { did: "is resolving a conflict", tone: "info" },
  "conflict.resolved": { did: "resolved a conflict", tone: "good" },
  "conflict.override_requested": { did: "asked for an override", tone: "block" },
  "conflict.overridden": { did: "overrode a conflict", tone: "warn" },
  "conflict.stale": { did: "left a conflict behind" },
  "conflict.feedback": { did: "judged a conflict" },
  "hook.warned": { did: "was warned before an edit", tone: "warn" },
  "hook.unchecked": { did: "went on unchecked while svc did not answer", tone: "warn" },
  "hook.blocked": { did: "was stopped before an edit", tone: "block" },
  "hook.stale_write": { did: "was stopped before undoing lines of others", tone: "block" },
  "message.sent": { did: "sent a message" },
  "message.acked": { did: "acknowledged a message" },
  "question.asked": { did: "asked a question", tone: "info" },
  "question.answered": { did: "answered a question", tone: "good" },
  "member.added": { did: "joined the org" },
  "member.updated": { did: "changed a role" },
  "member.removed": { did: "removed a member" },
  "member.erased": { did: "erased a member" },
  "invite.created": { did: "made an invite" },
  "invite.revoked": { did: "took an invite back" },
  "invite.accepted": { did: "accepted an invite", tone: "good" },
  "token.created": { did: "made a token" },
  "token.revoked": { did: "revoked a token" },
  "policy.updated": { did: "changed the policy" },
  "policy.demoted": { did: "lowered a kind of conflict by verdicts", tone: "warn" },
  "policy.restored": { did: "restored a kind of conflict" },
  "org.updated": { did: "changed the org" },
  "webhook.created": { did: "added a webhook" },
  "webhook.updated": { did: "changed a webhook" },
  "webhook.replayed": { did: "had a webhook send again" },
  "webhook.deleted": { did: "deleted a webhook" },
  "webhook.disabled": { did: "had a webhook switched off", tone: "block" },
  "webhook.tested": { did: "tested a webhook" },
  "integration.updated": { did: "changed an integration" },
  "digest.sent": { did: "sent the digest" },
  "plan.limit_reached": { did: "reached a limit of the plan", tone: "block" },
  "billing.updated": { did: "changed the subscription" },
  "signin.succeeded": { did: "signed in" },
  "signin.rebound": { did: "bound the account to another sign-in", tone: "warn" },
  "signin.break_glass": { did: "signed in by a link of the server's operator", tone: "block" },
  "signin.failed": { did: "failed to sign in", tone: "warn" },
  "signin.factor": { did: "changed or used a second factor", tone: "warn" },
};

/** Kinds of events to choose from. */
export const kinds: Record<string, { label: string; types: (t: string) => boolean }> = {
  work: { label: "Work", types: (t) => /^(intent|session|change)\./.test(t) },
  conflicts: { label: "Conflicts", types: (t) => /^(conflict|hook)\./.test(t) },
  talk: { label: "Messages", types: (t) => /^(message|question)\./.test(t) },
  contracts: { label: "Contracts", types: (t) => t.startsWith("contract.") },
  org: { label: "Org", types: (t) => /^(member|invite|token|policy|org|webhook|integration|digest|plan|billing|signin|repo|project)\./.test(t) },
};
export const typesOf = (kind: string): string | undefined => kinds[kind] && Object.keys(words).filter(kinds[kind].types).join(",");

const most = 3; // objects that a sentence names
const texts = (v: unknown): string[] => (Array.isArray(v) ? v.filter((x): x is string => typeof x === "string") : []);
const listed = (names: string[]): string => (names.length > most ? `${names.slice(0, most).join(", ")} and ${names.length - most} more` : names.join(", "));

const turns: Record<string, string> = { working: "works again", stopped: "ended its turn", waits_for_person: "asked its person" };

/** What happened, with the objects that the event names. */
export function sentence(e: Pick<Event, "type" | "payload">): string {
  const p = (e.payload ?? {}) as Record<string, unknown>;
  const w = words[e.type as EventType] ?? { did: e.type };
  const paths = listed(texts(p["paths"]));
  switch (e.type) {
    case "change.recorded":
      return `changed ${paths || plural(Number(p["files"] ?? 1), "file")}`;
    case "contract.changed":
      return paths ? `${w.did} in ${paths}` : w.did;
    case "session.turn":
      return turns[String(p["state"])] ?? w.did;
    case "session.status":
      return "said"; // its words come after
    case "message.sent":
    case "conflict.detected":
    case "conflict.updated":
      return w.did; // what it is about comes after, with its kind
    case "hook.blocked":
    case "hook.warned": {
      const about = [String(p["kind"] ?? "").replaceAll("_", " "), listed(texts(p["refs"]))].filter(Boolean).join(", ");
      return about ? `${w.did} (${about})` : w.did;
    }
  }
  const moved = p["previous_status"] && p["status"] && p["previous_status"] !== p["status"] ? `${String(p["previous_status"])} to ${String(p["status"])}` : p["previous_status"] ? null : p["status"];
  const facts = [moved, p["outcome"], p["kind"], p["role"], p["resolution"], typeof p["files"] === "number" ? plural(p["files"], "file") : null].filter((f): f is string => typeof f === "string").map((f) => f.replaceAll("_", " "));
  return facts.length ? `${w.did} (${facts.join(", ")})` : w.did;
}
