import { IconActivity } from "../ui/icons.gen";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { call } from "../api/client";
import type { EventRef } from "../api/records";
import { kinds, typesOf } from "../lib/events";
import { useFilter } from "../lib/url";
import { ChoiceFilter } from "../ui/Filters";
import { Happening } from "../ui/Happening";
import { Empty, Failed, Loading, Page, Section } from "../ui/page";
import { VirtualRows } from "../ui/VirtualRows";

export function Activity() {
  const [kind, setKind] = useFilter("kind");
  const type = typesOf(kind);
  const feed = useInfiniteQuery({
    queryKey: ["feed", type ?? ""],
    queryFn: ({ pageParam, signal }) => call("GET /v1/feed", { query: { type, limit: 100, cursor: pageParam || undefined }, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
  });
  const events = feed.data?.pages.flatMap((p) => p.items);
  const refs: Record<string, EventRef> = Object.assign({}, ...(feed.data?.pages.map((p) => p.refs) ?? []));
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = feed;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <Page title="Activity" sub="Everything as it happens.">
      <div className="filters">
        <ChoiceFilter label="Kind" all="Everything" value={kind} onChange={setKind} data={Object.entries(kinds).map(([value, k]) => ({ value, label: k.label }))} />
      </div>
      <Section pad={false}>
        {!events ? (
          feed.isError ? (
            <Failed error={feed.error} retry={() => void feed.refetch()} />
          ) : (
            <Loading />
          )
        ) : events.length === 0 ? (
          <Empty icon={<IconActivity size={22} stroke={1.5} />} title="Nothing has happened yet">
            Sessions, intents, conflicts and messages show here the moment they happen.
          </Empty>
        ) : (
          <VirtualRows label="Activity" items={events} keyOf={(e) => e.id} estimate={() => 38} render={(e) => <Happening event={e} refs={refs} />} onEnd={more} />
        )}
      </Section>
    </Page>
  );
}
