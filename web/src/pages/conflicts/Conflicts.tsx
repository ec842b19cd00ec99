import { Button, SegmentedControl } from "@mantine/core";
import { IconArrowsSplit, IconChevronDown, IconChevronRight } from "../../ui/icons.gen";
import { Suspense, useMemo, useState } from "react";
import type { Conflict } from "../../api/records";
import { daysAgo } from "../../api/visible";
import { causesOf, concerns, matters, over, pairsOf, sideOf, type Cause, type Pair } from "../../lib/conflict";
import { later } from "../../lib/lazy";
import { useList, useLiveConflicts } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { conflictKind, plural } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { ChoiceFilter, PersonFilter, RepoFilter } from "../../ui/Filters";
import { Empty, Page, Section } from "../../ui/page";
import { WorkList } from "../../ui/WorkList";
import { ConflictRow } from "./ConflictRow";

const CauseActions = later(() => import("./CauseActions"), "CauseActions");

const views = [
  { value: "live", label: "Live" },
  { value: "open", label: "Open" },
  { value: over, label: "Closed" },
];
const severities = [
  { value: "block", label: "Blocks" },
  { value: "warn", label: "Warns" },
  { value: "info", label: "Info" },
  { value: "all", label: "Everything" },
];
const ages = [
  { value: "1", label: "Last hour" },
  { value: "24", label: "Last day" },
  { value: "yesterday", label: "Yesterday" },
  { value: "168", label: "Last week" },
];
const kinds = Object.entries(conflictKind).map(([value, k]) => ({ value, label: k.name }));

interface Wanted {
  severity: string;
  kind: string;
  email: string;
  repo: string;
  age: string;
}

/** Whether something happened within an age: so many hours, or on the day before today as the reader has it. */
function isWithin(at: string, age: string): boolean {
  if (!age) return true;
  if (age === "yesterday") return daysAgo(new Date(at)) === 1;
  return Date.now() - Date.parse(at) < Number(age) * 3_600_000;
}

/** What a filter lets through, but for the severity. */
function passes(c: Conflict, w: Wanted): boolean {
  return (
    (!w.kind || c.kind === w.kind) &&
    (!w.email || c.parties.some((p) => p.user?.email === w.email)) &&
    (!w.repo || concerns(c, w.repo)) &&
    isWithin(c.closed_at ?? c.first_seen_at, w.age)
  );
}
const severe = (c: Conflict, severity: string): boolean => (severity === "" ? matters(c) : severity === "all" || c.severity === severity);

function subOf(pairs: number, closed: boolean): string {
  if (closed) return "Conflicts that are over, and how each ended.";
  return pairs === 0 ? "Work that will hurt other work at merge time or after it." : `${plural(pairs, "pair", "pairs")} of work that will hurt each other at merge time or after it.`;
}

export function Conflicts() {
  const me = useMe();
  const [status, setStatus] = useFilter("status", "live");
  const [repo, setRepo] = useFilter("repo");
  const [person, setPerson] = useFilter("person");
  const [kind, setKind] = useFilter("kind");
  const [severity, setSeverity] = useFilter("severity");
  const [age, setAge] = useFilter("age");
  const closed = status !== "live" && status !== "open";
  const live = useLiveConflicts();
  // What is closed is narrowed by the server, page by page; what is live is all here.
  const narrowed = { severity: severity === "" ? "warn,block" : severity === "all" ? undefined : severity, kind, person };
  const past = useList("conflicts", "GET /v1/conflicts", { status: closed ? status : over, repo, ...narrowed }, 100, closed);
  const wanted: Wanted = { severity, kind, email: person === "me" ? me.user.email : person, repo, age };
  const source = closed ? past.items : live.data;
  const passing = source?.filter((c) => (status !== "open" || c.status === "open") && passes(c, wanted));
  const pairs = passing && pairsOf(passing.filter((c) => severe(c, severity)));
  const folded = severity === "" ? (passing ?? []).filter((c) => !matters(c)).length : 0;
  const list = { ...(closed ? past : { ...past, isError: live.isError, error: live.error, hasNextPage: false, refetch: live.refetch }), items: pairs && causesOf(pairs) };
  const filtered = Boolean(repo || person || kind || severity || age) || status !== "live";
  return (
    <Page title="Conflicts" sub={subOf(pairs?.length ?? 0, closed)}>
      <div className="filters">
        <SegmentedControl size="xs" aria-label="Status" value={status} onChange={setStatus} data={views} />
        <ChoiceFilter label="Severity" all="Warns or blocks" value={severity} onChange={setSeverity} data={severities} w={140} />
        <ChoiceFilter label="Kind" all="Every kind" value={kind} onChange={setKind} data={kinds} />
        <RepoFilter value={repo} onChange={setRepo} w={160} />
        <PersonFilter value={person} onChange={setPerson} w={140} />
        <ChoiceFilter label="Age" all="Any age" value={age} onChange={setAge} data={ages} w={110} />
      </div>
      <Section pad={false} busy={closed && past.isPlaceholderData}>
        <WorkList
          list={list}
          label="Conflicts"
          height={88}
          render={(c) => <CauseRow cause={c} />}
          empty={
            <Empty icon={<IconArrowsSplit size={22} stroke={1.5} />} title={filtered ? "No conflict matches" : "No work collides"}>
              {status === "live" ? "As soon as two agents are about to hurt each other's work, it shows here, with the lines and signatures that prove it." : "Other filters may show some."}
            </Empty>
          }
        />
        {folded > 0 && (
          <div className="more folded">
            <span className="dim">
              {plural(folded, "more is", "more are")} for information only: both work in one place, nothing collides.
            </span>
            <Button variant="default" onClick={() => setSeverity("all")}>
              Show them
            </Button>
          </div>
        )}
      </Section>
    </Page>
  );
}

/** Pairs with one cause are one row that opens. */
function CauseRow({ cause }: { cause: Cause }) {
  const [open, setOpen] = useState(false);
  if (cause.pairs.length === 1) return <PairRow pair={cause.pairs[0]!} />;
  return (
    <div className="cause">
      <button type="button" className="cause-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
        <b>{cause.text}</b>
        {!open && (
          <span className="dim clip">
            {cause.pairs.map((p) => sideOf(p.worst.parties.find((s) => s.role === (p.worst.kind === "contract_break" ? "holder" : "challenger")))).join(", ")}
          </span>
        )}
      </button>
      <Suspense fallback={null}>
        <CauseActions cause={cause} />
      </Suspense>
      {open && cause.pairs.map((p) => <PairRow key={p.id} pair={p} />)}
    </div>
  );
}

/** The worst of what is between two pieces of work; the others on request. */
function PairRow({ pair }: { pair: Pair }) {
  const [open, setOpen] = useState(false);
  const others = useMemo(() => pair.all.slice(1), [pair]);
  if (others.length === 0) return <ConflictRow conflict={pair.worst} />;
  return (
    <div className="pair">
      <ConflictRow conflict={pair.worst} more={others.length} />
      <button type="button" className="pair-more" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />}
        {open ? "Fold" : `Show ${plural(others.length, "more", "more")} between ${pair.worst.parties.map(sideOf).join(" and ")}`}
      </button>
      {open && others.map((c) => <ConflictRow key={c.id} conflict={c} />)}
    </div>
  );
}
