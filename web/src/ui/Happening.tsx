// An event as a line: who did what, to what, when.
import { Link } from "wouter";
import type { Event, EventRef, EventType } from "../api/records";
import { sentence, words } from "../lib/events";
import { toolName } from "../lib/text";
import { pathOf } from "../lib/url";
import { Ago } from "./bits";

function Name({ id, refs, fallback }: { id: string; refs: Record<string, EventRef>; fallback: string }) {
  const r = refs[id];
  if (!r) return <>{fallback}</>;
  const label = r.kind === "session" ? agentName(r.label) : r.label;
  return r.url ? (
    <Link href={pathOf(r.url)} className="plain-link">
      <b>{label}</b>
    </Link>
  ) : (
    <b>{label}</b>
  );
}

const most = 3;

/** To whom, or between whom, as far as the event names people. */
function Whom({ event: e, refs }: { event: Event; refs: Record<string, EventRef> }) {
  const p = (e.payload ?? {}) as Record<string, unknown>;
  const list = (v: unknown): string[] => (Array.isArray(v) ? [...new Set(v.filter((x): x is string => typeof x === "string" && refs[x]?.kind === "user"))] : []);
  const [to, between] = [list(p["recipients"]), list(p["users"])];
  const people = to.length ? to : between;
  if (people.length === 0) return null;
  return (
    <span className="dim">
      {" "}
      {to.length ? "to" : people.length > 1 ? "between" : "of"}{" "}
      {people.slice(0, most).map((id, i) => (
        <span key={id}>
          {i > 0 && (i === people.length - 1 ? " and " : ", ")}
          {refs[id]!.label}
        </span>
      ))}
      {people.length > most && ` and ${people.length - most} more`}
    </span>
  );
}

/** The server names a session by the identifier of its tool. */
function agentName(label: string): string {
  const parts = /^(\w+) of (.+)$/.exec(label);
  return parts ? `${parts[2]}'s ${toolName(parts[1]!)}` : label;
}

/** What an event is about, besides its actor: the words of a status, the thread of a message, the record that changed. */
function objectOf(e: Event, refs: Record<string, EventRef>): string {
  const p = (e.payload ?? {}) as Record<string, unknown>;
  const id = e.type === "session.status" ? p["status_id"] : e.type === "message.sent" ? p["conversation_id"] : e.subject.id;
  return typeof id === "string" && id !== e.actor.id && refs[id] ? id : "";
}

/** One event in words. Its time is its address. */
export function Happening({ event: e, refs, own = "" }: { event: Event; refs: Record<string, EventRef>; own?: string }) {
  const tone = words[e.type as EventType]?.tone ?? "quiet";
  const said = sentence(e);
  const about = objectOf(e, refs);
  const named = about !== "" && about !== own && !said.endsWith(refs[about]!.label); // "asked a question" needs no "a question"
  return (
    <div className="happening" data-row tabIndex={-1} id={`e${e.id}`}>
      <span className={`happening-dot mark-${tone}`} aria-hidden />
      <span className="grow">
        {e.actor.id !== own && <Name id={e.actor.id} refs={refs} fallback={e.actor.kind === "session" ? "An agent" : "svc"} />} <bdi>{said}</bdi>{" "}
        {named && (
          <span className="dim" dir="auto">
            {e.type === "message.sent" && "in "}
            {refs[about]!.kind === "status" ? <q>{refs[about]!.label}</q> : <Name id={about} refs={refs} fallback="" />}
          </span>
        )}
        <Whom event={e} refs={refs} />
      </span>
      <a href={`#e${e.id}`} className="dim plain-link">
        <Ago at={e.occurred_at} />
      </a>
    </div>
  );
}
