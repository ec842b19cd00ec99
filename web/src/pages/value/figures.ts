// What svc did in a week, counted from the event log: each figure with what it
// was counted from, so that nobody has to believe a number.
import type { Conflict, Event, EventType } from "../../api/records";
import { duration } from "../../lib/text";

export const valueTypes: EventType[] = ["hook.warned", "hook.blocked", "hook.stale_write", "conflict.detected", "conflict.feedback", "intent.blocked", "intent.unblocked"];

export interface Item {
  at: string;
  text: string;
  href: string;
}

export interface Figure {
  key: string;
  title: string;
  value: string;
  how: string;
  items: Item[];
}

const payload = (e: Event): Record<string, unknown> => (e.payload ?? {}) as Record<string, unknown>;
const str = (v: unknown): string => (typeof v === "string" ? v : "");
const refs = (e: Event): string[] => (Array.isArray(payload(e)["refs"]) ? (payload(e)["refs"] as unknown[]).map(str) : []);
const words = (s: string): string => s.replaceAll("_", " ");

interface Wait {
  ref: string;
  from: string;
  to: string | null;
}

/** Stretches in which an intent had to wait; what began before the week is not known and not counted. */
function waitsOf(events: Event[]): Wait[] {
  const out: Wait[] = [];
  const open = new Map<string, Wait>();
  for (const e of events) {
    if (e.type === "intent.blocked" && !open.has(e.subject.id)) {
      const w = { ref: str(payload(e)["ref"]), from: e.occurred_at, to: null };
      open.set(e.subject.id, w);
      out.push(w);
    } else if (e.type === "intent.unblocked") {
      const w = open.get(e.subject.id);
      if (w) w.to = e.occurred_at;
      open.delete(e.subject.id);
    }
  }
  return out;
}

const minutes = (w: Wait): number => (Date.parse(w.to!) - Date.parse(w.from)) / 60_000;
const median = (list: number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;

/** Events of the week, oldest first, and the breaks across repos that were seen in it. */
export function figuresOf(events: Event[], breaks: Conflict[]): Figure[] {
  const of = (...types: string[]) => events.filter((e) => types.includes(e.type));
  const told = of("hook.warned");
  const refused = of("hook.blocked");
  const kept = of("hook.stale_write");
  const found = of("conflict.detected").filter((e) => payload(e)["severity"] !== "info");
  const verdicts = of("conflict.feedback");
  const waits = waitsOf(events);
  const ended = waits.filter((w) => w.to !== null);
  const useful = verdicts.filter((e) => payload(e)["verdict"] === "useful").length;
  const hook = (e: Event): Item => ({ at: e.occurred_at, text: `${words(str(payload(e)["kind"])) || "an edit without a declared intent"}${refs(e).length ? ` (${refs(e).join(", ")})` : ""}`, href: refs(e)[0] ? `/conflicts/${refs(e)[0]}` : `/agents/${e.subject.id}` });
  return [
    { key: "told", title: "Collisions told before the edit", value: String(told.length), how: "Each time an agent was warned before it wrote a file that somebody else is in. An agent is told once about each collision.", items: told.map(hook) },
    { key: "refused", title: "Edits refused", value: String(refused.length), how: "Each edit that was stopped because somebody holds the place alone, or the policy asks for it.", items: refused.map(hook) },
    { key: "kept", title: "Lines kept in one clone", value: String(kept.length), how: "Each edit that was stopped on its machine because it would have undone lines that somebody else had just changed in the same working copy.", items: kept.map((e) => ({ at: e.occurred_at, text: words(str(payload(e)["tool"])), href: `/agents/${e.subject.id}` })) },
    { key: "merge", title: "Collisions told before the merge", value: String(found.length), how: "Each conflict that warned or blocked, counted when it was first seen. What is for information only is left out.", items: found.map((e) => ({ at: e.occurred_at, text: `${str(payload(e)["ref"])} ${words(str(payload(e)["kind"]))}, ${str(payload(e)["severity"])}`, href: `/conflicts/${str(payload(e)["ref"])}` })) },
    { key: "breaks", title: "Breaks across repos", value: String(breaks.length), how: "Each conflict of this week where one repo changes incompatibly what another one uses.", items: breaks.map((c) => ({ at: c.first_seen_at, text: `${c.ref}: ${c.repo.full_name}${c.dependent_repo ? ` breaks ${c.dependent_repo.full_name}` : ""}`, href: `/conflicts/${c.ref}` })) },
    {
      key: "waits",
      title: "Waits",
      value: ended.length ? `${waits.length}, half under ${duration(Math.max(1, Math.ceil(median(ended.map(minutes)))))}` : String(waits.length),
      how: "Each time an intent had to wait for another, from being blocked to being free again. Those that still wait count, but not for how long.",
      items: waits.map((w) => ({ at: w.from, text: `${w.ref} ${w.to ? `waited ${duration(Math.max(1, Math.round(minutes(w))))}` : "still waits"}`, href: `/intents/${w.ref}` })),
    },
    {
      key: "verdicts",
      title: "Verdicts of people",
      value: verdicts.length ? `${useful} of ${verdicts.length} useful` : "none yet",
      how: "What people said of reports: useful, a false alarm, or too late. Nobody is asked twice.",
      items: verdicts.map((e) => ({ at: e.occurred_at, text: `${str(payload(e)["ref"]) || "a conflict"}: ${words(str(payload(e)["verdict"]))}`, href: str(payload(e)["ref"]) ? `/conflicts/${str(payload(e)["ref"])}` : "/conflicts" })),
    },
  ];
}
