import { SegmentedControl } from "@mantine/core";
import { IconFolder, IconGitBranch, IconLock, IconTargetArrow } from "@tabler/icons-react";
import { Link } from "wouter";
import type { Intent } from "../../api/records";
import { useList } from "../../lib/queries";
import { plural } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Ago, Avatar, Command, IntentPill } from "../../ui/bits";
import { PersonFilter, RepoFilter } from "../../ui/Filters";
import { Empty, Page, Section } from "../../ui/page";
import { WorkList } from "../../ui/WorkList";

const views = [
  { value: "live", label: "Live" },
  { value: "blocked", label: "Blocked" },
  { value: "in_review", label: "In review" },
  { value: "merged,abandoned,expired", label: "Closed" },
];

export function Intents() {
  const [status, setStatus] = useFilter("status", "live");
  const [repo, setRepo] = useFilter("repo");
  const [owner, setOwner] = useFilter("owner");
  const list = useList("intents", "GET /v1/intents", { status, repo, owner });
  const filtered = repo !== "" || owner !== "" || status !== "live";
  return (
    <Page title="Intents" sub="What is being worked on, by whom, and which files, symbols and contracts it claims.">
      <div className="filters">
        <SegmentedControl size="xs" aria-label="Status" value={status} onChange={setStatus} data={views} />
        <div className="grow" />
        <RepoFilter value={repo} onChange={setRepo} />
        <PersonFilter value={owner} onChange={setOwner} />
      </div>
      <Section pad={false}>
        <WorkList
          list={list}
          label="Intents"
          height={63}
          render={(i) => <IntentRow intent={i} />}
          empty={
            filtered ? (
              <Empty icon={<IconTargetArrow size={22} stroke={1.5} />} title="No intent matches">
                Other filters may show some.
              </Empty>
            ) : (
              <Empty icon={<IconTargetArrow size={22} stroke={1.5} />} title="Nobody has announced work yet">
                Agents declare an intent before they edit, so that teammates hear of it first. Connect one:
                <Command>svc init</Command>
              </Empty>
            )
          }
        />
      </Section>
    </Page>
  );
}

export function IntentRow({ intent: i }: { intent: Intent }) {
  const scope = [
    i.scope.paths.length && plural(i.scope.paths.length, "path"),
    i.scope.symbols.length && plural(i.scope.symbols.length, "symbol"),
    i.scope.contracts.length && plural(i.scope.contracts.length, "contract"),
  ].filter(Boolean);
  return (
    <Link href={`/intents/${i.ref}`} className="work-row" data-row>
      <Avatar user={i.owner} size={26} />
      <span className="work-main">
        <span className="work-title">
          <span className="ref">{i.ref}</span>
          <b>{i.title}</b>
        </span>
        <span className="work-meta">
          <span>{i.owner.name}</span>
          <span>
            <IconFolder size={13} aria-hidden /> {i.repo.full_name}
          </span>
          {i.branch && (
            <span className="clip">
              <IconGitBranch size={13} aria-hidden /> {i.branch}
            </span>
          )}
          {scope.length > 0 && <span className="wide-only">{scope.join(", ")}</span>}
          {i.effective_mode === "exclusive" && (
            <span className="tone-warn">
              <IconLock size={13} aria-hidden /> exclusive
            </span>
          )}
          {i.blocked_by.length > 0 && <span className="tone-block">waits for {i.blocked_by.map((b) => b.ref).join(", ")}</span>}
        </span>
      </span>
      <span className="work-side">
        <IntentPill status={i.status} />
        <span className="dim">
          <Ago at={i.last_activity_at} />
        </span>
      </span>
    </Link>
  );
}
