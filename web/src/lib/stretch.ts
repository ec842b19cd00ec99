// A stretch of the past: all that happened in it, and who was at work.
import { useQuery } from "@tanstack/react-query";
import { call } from "../api/client";
import type { Event, EventRef, EventType, Intent, Session } from "../api/records";
import { pages } from "./queries";

export interface Stretch {
  events: Event[]; // oldest first
  refs: Record<string, EventRef>;
  sessions: Session[];
  intents: Intent[];
  cut: boolean; // more happened than is read
}

const abreast = 6; // parts that are read at once
const most = 30_000; // events; a screen tells no more apart

async function part(types: string, since: number, until: number, into: Stretch, seen: () => void, signal: AbortSignal): Promise<Event[]> {
  const out: Event[] = [];
  let cursor: string | undefined;
  do {
    const page = await call("GET /v1/feed", { query: { type: types, limit: 200, cursor, since: new Date(since).toISOString(), until: new Date(until).toISOString() }, signal });
    out.push(...page.items);
    Object.assign(into.refs, page.refs);
    cursor = page.next_cursor ?? undefined;
    seen();
  } while (cursor && out.length < most / abreast);
  into.cut ||= Boolean(cursor);
  return out.reverse();
}

/** What happened from one moment to another, read once. */
export function useStretch(types: EventType[], from: number, to: number, onProgress: (parts: number) => void) {
  return useQuery({
    queryKey: ["stretch", from, to],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }): Promise<Stretch> => {
      const into: Stretch = { events: [], refs: {}, sessions: [], intents: [], cut: false };
      let read = 0;
      const step = (to - from) / abreast;
      const parts = Array.from({ length: abreast }, (_, i) => part(types.join(","), from + i * step, i === abreast - 1 ? to : from + (i + 1) * step, into, () => onProgress(++read), signal));
      const changed_since = new Date(from).toISOString();
      [into.sessions, into.intents] = await Promise.all([pages("GET /v1/sessions", { changed_since }, signal), pages("GET /v1/intents", { changed_since }, signal)]);
      into.events = (await Promise.all(parts)).flat();
      return into;
    },
  });
}
