import { IconActivity } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { Link } from "wouter";
import { call } from "../api/client";
import type { Event, EventRef, EventType } from "../api/records";
import { sentence, words } from "../lib/events";
import { toolName } from "../lib/text";
import { pathOf, useFilter } from "../lib/url";
import { Ago } from "../ui/bits";
import { ChoiceFilter } from "../ui/Filters";
import { Empty, Failed, Loading, Page, Section } from "../ui/page";
import { VirtualRows } from "../ui/VirtualRows";

const kinds: Record<string, { label: string; types: (t: string) => boolean }> = {
  work: { label: "Work", types: (t) => /^(intent|session|change)\./.test(t) },
  conflicts: { label: "Conflicts", types: (t) => /^(conflict|hook)\./.test(t) },
  talk: { label: "Messages", types: (t) => /^(message|question)\./.test(t) },
  contracts: { label: "Contracts", types: (t) => t.startsWith("contract.") },
  org: { label: "Org", types: (t) => /^(member|invite|token|policy|org|webhook|integration|digest|plan|billing|signin|repo|project)\./.test(t) },
};

export function Activity() {
  const [kind, setKind] = useFilter("kind");
  const chosen = kinds[kind];
  const type = chosen && Object.keys(words).filter(chosen.types).join(",");
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

function Happening({ event: e, refs }: { event: Event; refs: Record<string, EventRef> }) {
  const tone = words[e.type as EventType]?.tone ?? "quiet";
  const about = e.subject.id !== e.actor.id && refs[e.subject.id];
  return (
    <div className="happening" data-row tabIndex={-1}>
      <span className={`happening-dot mark-${tone}`} aria-hidden />
      <span className="grow">
        <Name id={e.actor.id} refs={refs} fallback={e.actor.kind === "session" ? "An agent" : "svc"} /> {sentence(e)}{" "}
        {about && (
          <span className="dim">
            <Name id={e.subject.id} refs={refs} fallback="" />
          </span>
        )}
        <Whom event={e} refs={refs} />
      </span>
      <span className="dim">
        <Ago at={e.occurred_at} />
      </span>
    </div>
  );
}
