// A list of intents or conflicts: loading, failing, empty and growing alike.
import type { ReactNode } from "react";
import { useCallback } from "react";
import { Failed, Loading } from "./page";
import { VirtualRows } from "./VirtualRows";

interface Growing<T> {
  items: T[] | undefined;
  isError: boolean;
  error: unknown;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  refetch: () => unknown;
  fetchNextPage: () => unknown;
}

export function WorkList<T extends { id: string }>({ list, label, height, render, empty }: { list: Growing<T>; label: string; height: number; render: (item: T) => ReactNode; empty: ReactNode }) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  if (!list.items) return list.isError ? <Failed error={list.error} retry={() => void list.refetch()} /> : <Loading />;
  if (list.items.length === 0) return empty;
  return <VirtualRows label={label} items={list.items} keyOf={(i) => i.id} estimate={() => height} render={render} onEnd={more} />;
}
