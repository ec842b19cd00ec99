// Keeps what is on the screen current: every event of the stream makes the
// lists it touches stale. Bursts are gathered, so that a thousand agents at
// work do not make a thousand requests.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Event } from "../api/records";
import { follow, type StreamState } from "../api/stream";

// What an event of a noun makes stale.
const touches: Record<string, string[]> = {
  repo: ["repos", "usage"],
  project: ["projects", "contracts"],
  session: ["sessions", "live"],
  intent: ["intents", "intent", "sessions", "conflicts", "attention", "live"],
  change: ["intents", "intent", "sessions", "live"],
  branch: ["branches", "intents", "live"],
  contract: ["contracts"],
  conflict: ["conflicts", "conflict", "attention", "intent", "sessions"],
  hook: [],
  message: ["conversations", "messages", "attention"],
  question: ["conversations", "messages", "attention"],
  member: ["members", "usage", "session"],
  invite: ["invites", "members"],
  token: ["tokens"],
  policy: ["policies"],
  org: ["session"],
  webhook: ["webhooks", "deliveries"],
  integration: ["integrations"],
  digest: ["integrations"],
  plan: ["usage", "billing"],
  billing: ["usage", "billing"],
  signin: [],
};

const gather = 250; // ms from the first event of a burst to the requests
const atMost = 1500; // ms between two requests for one list

export function staleKeys(events: Pick<Event, "type">[]): Set<string> {
  const keys = new Set<string>(["events", "feed"]);
  for (const e of events) for (const key of touches[e.type.split(".")[0] ?? ""] ?? []) keys.add(key);
  if (events.some((e) => e.type === "intent.closed")) keys.add("landed");
  return keys;
}

function refresher(client: QueryClient) {
  const pending = new Set<string>();
  const last = new Map<string, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const now = Date.now();
    let soonest = Infinity;
    for (const key of pending) {
      const due = (last.get(key) ?? 0) + atMost;
      if (due > now) {
        soonest = Math.min(soonest, due - now);
        continue;
      }
      pending.delete(key);
      last.set(key, now);
      void client.invalidateQueries({ queryKey: [key] });
    }
    if (soonest < Infinity) timer = setTimeout(flush, soonest);
  };
  return {
    add(keys: Iterable<string>) {
      for (const k of keys) pending.add(k);
      timer ??= setTimeout(flush, gather);
    },
    stop: () => clearTimeout(timer),
  };
}

interface Live {
  state: StreamState;
  since: number;
  subscribe: (fn: (events: Event[]) => void) => () => void;
}

const Context = createContext<Live | null>(null);

export function useLive(): Live {
  const live = useContext(Context);
  if (!live) throw new Error("useLive outside of a session");
  return live;
}

export function LiveProvider({ org, children }: { org: string; children: ReactNode }) {
  const client = useQueryClient();
  const [status, setStatus] = useState<{ state: StreamState; since: number }>({ state: "connecting", since: Date.now() });
  const listeners = useMemo(() => new Set<(events: Event[]) => void>(), []);

  useEffect(() => {
    const fresh = refresher(client);
    const stop = follow({
      onEvents: (events) => {
        fresh.add(staleKeys(events));
        for (const l of listeners) l(events);
      },
      onState: (state) => setStatus((s) => (s.state === state ? s : { state, since: Date.now() })),
      // What was missed may have ended: lists that are only patched are read whole.
      onResync: () => {
        client.setQueriesData<{ whole?: number }>({ predicate: (q) => q.queryKey[2] === "living" }, (kept) => kept && { ...kept, whole: 0 });
        client.setQueriesData({ queryKey: ["history"] }, undefined);
        void client.invalidateQueries();
      },
    });
    return () => {
      stop();
      fresh.stop();
    };
  }, [client, listeners, org]);

  const value = useMemo<Live>(
    () => ({
      ...status,
      subscribe: (fn) => {
        listeners.add(fn);
        return () => void listeners.delete(fn);
      },
    }),
    [status, listeners],
  );
  return <Context value={value}>{children}</Context>;
}
