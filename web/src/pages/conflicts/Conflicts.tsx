import { SegmentedControl, Switch } from "@mantine/core";
import { IconArrowsSplit } from "@tabler/icons-react";
import { Link } from "wouter";
import type { Conflict, User } from "../../api/records";
import { useList } from "../../lib/queries";
import { conflictKind } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Ago, Avatar, ConflictPill, SeverityPill } from "../../ui/bits";
import { RepoFilter } from "../../ui/Filters";
import { Inline } from "../../ui/Markdown";
import { Empty, Page, Section } from "../../ui/page";
import { WorkList } from "../../ui/WorkList";

const views = [
  { value: "live", label: "Live" },
  { value: "open", label: "Open" },
  { value: "resolved,overridden,stale", label: "Closed" },
];

export function Conflicts() {
  const [status, setStatus] = useFilter("status", "live");
  const [repo, setRepo] = useFilter("repo");
  const [mine, setMine] = useFilter("mine");
  const list = useList("conflicts", "GET /v1/conflicts", { status, repo, mine: mine === "true" || undefined });
  return (
    <Page title="Conflicts" sub="Work that will hurt other work at merge time or after it.">
      <div className="filters">
        <SegmentedControl size="xs" aria-label="Status" value={status} onChange={setStatus} data={views} />
        <Switch size="xs" label="Only mine" checked={mine === "true"} onChange={(e) => setMine(e.currentTarget.checked ? "true" : null)} />
        <div className="grow" />
        <RepoFilter value={repo} onChange={setRepo} />
      </div>
      <Section pad={false}>
        <WorkList
          list={list}
          label="Conflicts"
          height={88}
          render={(c) => <ConflictRow conflict={c} />}
          empty={
            <Empty icon={<IconArrowsSplit size={22} stroke={1.5} />} title={status === "live" && !repo && !mine ? "No work collides" : "No conflict matches"}>
              {status === "live" ? "As soon as two agents are about to hurt each other's work, it shows here, with the lines and signatures that prove it." : "Other filters may show some."}
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}

/** The people on both sides, each once. */
function peopleIn(c: Conflict): User[] {
  return c.parties.flatMap((p) => p.user ?? []).filter((u, i, all) => all.findIndex((v) => v.id === u.id) === i);
}

function whoIn(c: Conflict): string {
  const names = peopleIn(c).map((u) => u.name.split(" ")[0]);
  return names.length === 1 && c.parties.length > 1 ? `two agents of ${names[0]}` : names.join(" and ");
}

export function ConflictRow({ conflict: c }: { conflict: Conflict }) {
  return (
    <Link href={`/conflicts/${c.ref}`} className="work-row" data-row>
      <span className="duo" aria-hidden>
        {peopleIn(c).map((u) => (
          <Avatar key={u.id} user={u} size={26} />
        ))}
      </span>
      <span className="work-main">
        <span className="work-title">
          <span className="ref">{c.ref}</span>
          <b>
            {conflictKind[c.kind].name}: {whoIn(c)}
          </b>
        </span>
        <span className="work-text">
          <Inline text={c.explanation} />
        </span>
        <span className="work-meta">
          <span>{c.repo.full_name}</span>
          {c.cross_repo && c.dependent_repo && <span>hits {c.dependent_repo.full_name}</span>}
          <span>{c.parties.flatMap((p) => p.intent?.ref ?? []).join(" · ")}</span>
          {c.override_requested && c.status !== "overridden" && <span className="tone-block">override asked for</span>}
        </span>
      </span>
      <span className="work-side">
        <span className="wrap">
          <SeverityPill severity={c.severity} />
          <ConflictPill status={c.status} />
        </span>
        <span className="dim">
          <Ago at={c.first_seen_at} />
        </span>
      </span>
    </Link>
  );
}
