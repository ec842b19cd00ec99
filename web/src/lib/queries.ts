// The lists and records that several pages read. The first part of a key is
// the noun that live events make stale.
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { call, serverNow, type Answer, type Options, type Route } from "../api/client";
import type { Conflict, Intent, Page, Session } from "../api/records";

export function useGet<R extends Route & `GET ${string}`>(key: string, route: R, options: Omit<Options<R>, "body" | "signal"> = {}, extra: { enabled?: boolean; staleTime?: number; refetchInterval?: number } = {}) {
  return useQuery<Answer<R>>({
    queryKey: [key, route, options.path ?? {}, options.query ?? {}],
    queryFn: ({ signal }) => call(route, { ...options, signal } as Options<R>),
    placeholderData: keepPreviousData as never,
    ...extra,
  });
}

type Query = Record<string, string | number | boolean | undefined>;
type ItemOf<A> = A extends { items: (infer T)[] } ? T : never;

/** A list that grows as it is scrolled. */
export function useList<R extends Route & `GET ${string}`>(key: string, route: R, query: Query = {}, pageSize = 100, enabled = true) {
  const q = useInfiniteQuery({
    enabled,
    queryKey: [key, route, "list", query, pageSize],
    queryFn: ({ pageParam, signal }) => call(route, { query: { limit: pageSize, ...query, cursor: pageParam || undefined }, signal } as Options<R>) as unknown as Promise<Page<ItemOf<Answer<R>>>>,
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });
  const items = q.data?.pages.flatMap((p) => p.items);
  return { ...q, items };
}

interface Changing {
  id: string;
}

interface Kept<T> {
  items: T[];
  asOf: number; // by the server's clock: what changed before is in
  whole: number; // when all of it was read
}

const readAllEvery = 5 * 60_000; // ms; a list that was only patched is read whole again: time alone makes agents idle
const overlap = 3000; // ms that a change may be seen late
const most = 20_000; // records; beyond that no page helps

/** All of a list, page after page. */
export async function pages<R extends Route & `GET ${string}`>(route: R, query: Query, signal: AbortSignal): Promise<ItemOf<Answer<R>>[]> {
  const all: ItemOf<Answer<R>>[] = [];
  let cursor: string | undefined;
  do {
    const page = (await call(route, { query: { ...query, limit: 200, cursor }, signal } as Options<R>)) as unknown as Page<ItemOf<Answer<R>>>;
    all.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor && all.length < most);
  return all;
}

/** All of a list, page after page. */
export function useAll<R extends Route & `GET ${string}`>(key: string, route: R, query: Query = {}) {
  return useQuery({ queryKey: [key, route, "all", query], queryFn: ({ signal }) => pages(route, query, signal), placeholderData: keepPreviousData });
}

/** All live records of a kind, kept current: after the first time only what changed is fetched. */
function useLiving<R extends Route & `GET ${string}`>(key: string, route: R, query: Query, isLive: (item: ItemOf<Answer<R>>) => boolean) {
  type T = ItemOf<Answer<R>> & Changing;
  const client = useQueryClient();
  const queryKey = useMemo(() => [key, route, "living"], [key, route]);
  return useQuery({
    queryKey,
    refetchOnWindowFocus: false,
    staleTime: 30_000,
    refetchInterval: readAllEvery + 1000,
    queryFn: async ({ signal }): Promise<Kept<T>> => {
      const before = client.getQueryData<Kept<T>>(queryKey);
      const whole = !before || Date.now() - before.whole > readAllEvery;
      const since = before && new Date(before.asOf - overlap).toISOString();
      const asOf = serverNow();
      const got = (await pages(route, whole ? query : { changed_since: since }, signal)) as T[];
      if (whole) return { items: got, asOf, whole: Date.now() };
      const fresh = new Map(got.map((i) => [i.id, i]));
      const known = new Set(before.items.map((i) => i.id));
      const items = before.items.map((i) => fresh.get(i.id) ?? i).filter(isLive);
      return { items: [...got.filter((i) => !known.has(i.id) && isLive(i)), ...items], asOf, whole: before.whole };
    },
    select: itemsOf<T>,
  });
}

const itemsOf = <T,>(k: Kept<T>): T[] => k.items;
const isLiveIntent = (i: Intent): boolean => ["draft", "active", "blocked", "in_review"].includes(i.status);
const isLiveConflict = (c: Conflict): boolean => ["open", "acknowledged", "resolving"].includes(c.status);
const isLiveSession = (s: Session): boolean => s.status === "active" || s.status === "idle";

export const useLiveIntents = () => useLiving("intents", "GET /v1/intents", { status: "live" }, isLiveIntent);
export const useLiveConflicts = () => useLiving("conflicts", "GET /v1/conflicts", { status: "live" }, isLiveConflict);
export const useLiveSessions = () => useLiving("sessions", "GET /v1/sessions", { status: "live" }, isLiveSession);

export const useMembers = () => useGet("members", "GET /v1/members", { query: { limit: 200 } }, { staleTime: 30_000 });
export const useRepos = () => useGet("repos", "GET /v1/repos", {}, { staleTime: 30_000 });
export const useAttention = () => useGet("attention", "GET /v1/attention", { query: { limit: 100 } });
