// What the lanes show, worked out from the event log: a lane per agent, marks
// for what it did, stretches while it had to wait, lines where two collide.
import type { Event, EventType, Severity } from "../../api/records";
import { grouped, type Agent, type Grouping } from "../../lib/agents";

export const laneTypes: EventType[] = ["session.started", "session.ended", "change.recorded", "hook.blocked", "hook.warned", "message.sent", "intent.blocked", "intent.unblocked", "conflict.detected", "conflict.resolved", "conflict.overridden", "conflict.stale"];

export interface Mark {
  kind: "edit" | "message" | "warned" | "refused";
  at: number;
  size: number; // files of an edit
  text: string;
  href: string;
}

export interface Stretch {
  from: number;
  to: number | null; // null while it lasts
  text: string;
  href: string;
}

export interface Lane {
  id: string;
  group: string;
  agent: Agent;
  from: number;
  marks: Mark[];
  waits: Stretch[];
}

export interface Link {
  ref: string;
  severity: Severity;
  a: string; // lanes
  b: string;
  from: number;
  to: number | null;
  text: string;
}

export interface Picture {
  lanes: Lane[];
  links: Link[];
}

const num = (v: unknown): number => (typeof v === "number" ? v : 1);
const str = (v: unknown): string => (typeof v === "string" ? v : "");

/** Puts events into the lanes of the agents that are at work, in the order of the list of agents. */
export function pictureOf(agents: Agent[], by: Grouping, events: Event[]): Picture {
  const lanes = grouped(agents, by).flatMap((g) => g.agents.map<Lane>((a) => ({ id: a.id, group: g.name, agent: a, from: Date.parse(a.session.started_at), marks: [], waits: [] })));
  const byWorker = new Map<string, Lane>(); // a worker is a session or an intent
  for (const l of lanes) {
    byWorker.set(l.id, l);
    if (l.agent.intent) byWorker.set(l.agent.intent.id, l);
  }
  const links = new Map<string, Link>();
  for (const e of events) add(e, byWorker, links);
  return { lanes, links: [...links.values()] };
}

function add(e: Event, byWorker: Map<string, Lane>, links: Map<string, Link>): void {
  const p = (e.payload ?? {}) as Record<string, unknown>;
  const at = Date.parse(e.occurred_at);
  const lane = byWorker.get(str(p["session_id"])) ?? byWorker.get(e.actor.id) ?? byWorker.get(e.subject.id);
  const mark = (kind: Mark["kind"], text: string, href: string, size = 1) => lane?.marks.push({ kind, at, size, text, href });
  switch (e.type) {
    case "change.recorded":
      return void mark("edit", `changed ${num(p["files"])} ${num(p["files"]) === 1 ? "file" : "files"}`, lane ? `/agents/${lane.id}` : "", num(p["files"]));
    case "hook.blocked":
      return void mark("refused", `an edit was refused${refsOf(p)}`, firstRef(p) ? `/conflicts/${firstRef(p)}` : `/agents/${lane?.id}`);
    case "hook.warned":
      return void mark("warned", "was warned before an edit", `/agents/${lane?.id}`);
    case "message.sent":
      return void mark("message", "sent a message", p["conversation_id"] ? `/messages/${str(p["conversation_id"])}` : "");
    case "intent.blocked":
      return void byWorker.get(e.subject.id)?.waits.push({ from: at, to: null, text: `${str(p["ref"])} has to wait`, href: `/intents/${str(p["ref"])}` });
    case "intent.unblocked": {
      const wait = byWorker.get(e.subject.id)?.waits.findLast((w) => w.to === null);
      if (wait) wait.to = at;
      return;
    }
    case "conflict.detected": {
      const [a, b] = [byWorker.get(str(p["holder"])), byWorker.get(str(p["challenger"]))];
      if (a && b && a !== b && p["severity"] !== "info") links.set(e.subject.id, { ref: str(p["ref"]), severity: str(p["severity"]) as Severity, a: a.id, b: b.id, from: at, to: null, text: `${str(p["ref"])}: ${str(p["kind"]).replaceAll("_", " ")}` });
      return;
    }
    default: {
      const link = links.get(e.subject.id);
      if (link && e.type.startsWith("conflict.")) link.to = at;
    }
  }
}

const firstRef = (p: Record<string, unknown>): string => (Array.isArray(p["refs"]) ? str(p["refs"][0]) : "");
const refsOf = (p: Record<string, unknown>): string => (Array.isArray(p["refs"]) && p["refs"].length ? ` (${p["refs"].map(str).join(", ")})` : "");

/** Ticks of a time axis: at most so many, at round moments of the reader's zone. */
export function ticks(from: number, to: number, most: number): number[] {
  const minute = 60_000;
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((m) => m * minute).find((s) => (to - from) / s <= most) ?? 2880 * minute;
  const zone = new Date(from).getTimezoneOffset() * minute;
  const out: number[] = [];
  for (let t = Math.ceil((from - zone) / step) * step + zone; t <= to; t += step) out.push(t);
  return out;
}
