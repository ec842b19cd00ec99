// The lists and records that several pages read. The first part of a key is
// the noun that live events make stale.
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { call, type Answer, type Options, type Route } from "../api/client";
import type { Page } from "../api/records";

export function useGet<R extends Route & `GET ${string}`>(key: string, route: R, options: Omit<Options<R>, "body" | "signal"> = {}, extra: { enabled?: boolean; staleTime?: number; refetchInterval?: number } = {}) {
  return useQuery<Answer<R>>({
    queryKey: [key, route, options.path ?? {}, options.query ?? {}],
    queryFn: ({ signal }) => call(route, { ...options, signal } as Options<R>),
    placeholderData: keepPreviousData as never,
    ...extra,
  });
}

type ItemOf<A> = A extends { items: (infer T)[] } ? T : never;

/** A list that grows as it is scrolled. */
export function useList<R extends Route & `GET ${string}`>(key: string, route: R, query: Record<string, string | number | boolean | undefined> = {}, pageSize = 100) {
  const q = useInfiniteQuery({
    queryKey: [key, route, "list", query, pageSize],
    queryFn: ({ pageParam, signal }) => call(route, { query: { limit: pageSize, ...query, cursor: pageParam || undefined }, signal } as Options<R>) as unknown as Promise<Page<ItemOf<Answer<R>>>>,
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
  });
  const items = q.data?.pages.flatMap((p) => p.items);
  return { ...q, items };
}

/** All of a list, page after page, up to a cap that no screen could show. */
export function useAll<R extends Route & `GET ${string}`>(key: string, route: R, query: Record<string, string | number | boolean | undefined> = {}, cap = 2000) {
  return useQuery({
    queryKey: [key, route, "all", query],
    queryFn: async ({ signal }) => {
      const all: ItemOf<Answer<R>>[] = [];
      let cursor: string | undefined;
      do {
        const page = (await call(route, { query: { ...query, limit: 200, cursor }, signal } as Options<R>)) as unknown as Page<ItemOf<Answer<R>>>;
        all.push(...page.items);
        cursor = page.next_cursor ?? undefined;
      } while (cursor && all.length < cap);
      return all;
    },
    placeholderData: keepPreviousData,
  });
}

export const useLiveIntents = () => useAll("intents", "GET /v1/intents", { status: "live" });
export const useLiveConflicts = () => useAll("conflicts", "GET /v1/conflicts", { status: "live" });
export const useLiveSessions = () => useAll("sessions", "GET /v1/sessions", { active: true });

export const useMembers = () => useGet("members", "GET /v1/members", { query: { limit: 200 } }, { staleTime: 30_000 });
export const useRepos = () => useGet("repos", "GET /v1/repos", {}, { staleTime: 30_000 });
export const useAttention = () => useGet("attention", "GET /v1/attention", { query: { limit: 100 } });
