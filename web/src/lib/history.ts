// What happened in the last hours, read once and kept current by the stream:
// an event that comes is added, nothing is fetched again.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { call } from "../api/client";
import type { Event, EventType } from "../api/records";
import { useLive } from "./live";

const most = 4000; // events that are kept; a screen can show no more

/** The events of some types since a moment, oldest first. */
export function useHistory(key: string, types: EventType[], hours: number, enabled = true) {
  const client = useQueryClient();
  const live = useLive();
  const queryKey = ["history", key, hours];
  const query = useQuery({
    queryKey,
    enabled,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - hours * 3_600_000).toISOString();
      const out: Event[] = [];
      let cursor: string | undefined;
      do {
        const page = await call("GET /v1/events", { query: { type: types.join(","), limit: 200, cursor }, signal });
        out.push(...page.items.filter((e) => e.occurred_at >= since));
        cursor = (page.items.at(-1)?.occurred_at ?? "") >= since ? (page.next_cursor ?? undefined) : undefined;
      } while (cursor && out.length < most);
      return out.reverse();
    },
  });
  const id = JSON.stringify(queryKey);
  useEffect(
    () =>
      live.subscribe((events) => {
        const mine = events.filter((e) => types.includes(e.type as EventType));
        if (mine.length === 0) return;
        client.setQueryData<Event[]>(JSON.parse(id) as unknown[], (before) => before && [...before.filter((b) => !mine.some((m) => m.id === b.id)), ...mine].slice(-most));
      }),
    [client, live.subscribe, id, types],
  );
  return query;
}
