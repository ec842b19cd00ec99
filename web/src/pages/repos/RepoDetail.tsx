// One repo: who works in it, what it provides to others and uses of them.
import { Button } from "@mantine/core";
import { IconFileCode, IconMessages } from "../../ui/icons.gen";
import { useState } from "react";
import { Link, useParams } from "wouter";
import type { Agent } from "../../lib/agents";
import { concerns, matters, pairsOf } from "../../lib/conflict";
import { useGet, useList, useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { useTeam } from "../../lib/team";
import { plural } from "../../lib/text";
import { contractPath } from "../../lib/url";
import { Ago, Code, Pill } from "../../ui/bits";
import { Empty, Failed, Load, Loading, Page, Section } from "../../ui/page";
import { ConflictRow } from "../conflicts/ConflictRow";
import { IntentRow } from "../intents/IntentRow";
import { AgentMessage } from "../messages/AgentMessage";
import { Agents } from "../now/Agents";
import { Landing } from "./Landing";
import { RepoMenu, Twins } from "./RepoAdmin";

export function RepoDetail() {
  const { owner, name } = useParams<{ owner: string; name: string }>();
  const full = `${owner}/${name}`;
  const me = useMe();
  const repos = useRepos();
  const team = useTeam();
  const [writing, setWriting] = useState<Agent | null>(null);
  const intents = useGet("intents", "GET /v1/intents", { query: { repo: full, status: "live", limit: 20 } });
  const repo = repos.data?.items.find((r) => r.full_name === full) ?? repos.data?.items.find((r) => r.former_names.includes(full));
  if (!repo) {
    return <Page title={full}>{repos.isPending ? <Loading /> : <Failed error={repos.error ?? new Error("No repo of that name is known here.")} />}</Page>;
  }
  const pairs = pairsOf(team.conflicts.filter((c) => matters(c) && concerns(c, repo.full_name)));
  const here = (team.agents ?? []).filter((a) => a.session.repo.id === repo.id);
  return (
    <Page
      title={repo.full_name}
      sub={
        <span className="wrap">
          <span>{repo.provider}</span>
          <Code>{repo.default_branch}</Code>
          <Ago at={repo.created_at} prefix="known since " />
          {repo.former_names.length > 0 && <span>formerly {repo.former_names.join(", ")}</span>}
          {repo.archived_at && <Pill tone="quiet">archived</Pill>}
        </span>
      }
      actions={
        <>
          {me.isAdmin && (
            <Button component={Link} href={`/settings/policies?repo=${encodeURIComponent(full)}`} variant="default">
              Policy
            </Button>
          )}
          <Button component={Link} href="/messages" variant="default" leftSection={<IconMessages size={14} />}>
            Channel
          </Button>
          {me.isAdmin && <RepoMenu repo={repo} />}
        </>
      }
    >
      {me.isAdmin && <Twins repo={repo} />}
      {pairs.length > 0 && (
        <Section title="Conflicts" pad={false} actions={<Link href={`/conflicts?repo=${encodeURIComponent(full)}&severity=all`}>all</Link>}>
          {pairs.slice(0, 20).map((p) => (
            <ConflictRow key={p.key} conflict={p.worst} more={p.all.length - 1} />
          ))}
        </Section>
      )}
      <Landing repo={repo.full_name} />
      <Section title="Agents" pad={false}>
        {team.agents ? <Agents agents={here} by="trouble" dense={false} onMessage={setWriting} /> : team.error ? <Failed error={team.error} retry={team.refetch} /> : <Loading />}
      </Section>
      <Load query={intents}>
        {(page) =>
          page.items.length > 0 && (
            <Section title="Live intents" pad={false} actions={<Link href={`/intents?repo=${encodeURIComponent(full)}`}>all</Link>}>
              {page.items.map((i) => (
                <IntentRow key={i.id} intent={i} />
              ))}
            </Section>
          )
        }
      </Load>
      <Contracts repo={full} />
      <Gaps repo={repo.full_name} indexed={repo.index_version > 0} />
      {writing && <AgentMessage agent={writing} onClose={() => setWriting(null)} />}
    </Page>
  );
}

function Contracts({ repo }: { repo: string }) {
  const list = useList("contracts", "GET /v1/contracts", { repo }, 50);
  return (
    <Section title="Contracts" sub="What this repo provides to others, and uses of them." pad={false}>
      {!list.items ? (
        list.isError ? (
          <Failed error={list.error} retry={() => void list.refetch()} />
        ) : (
          <Loading />
        )
      ) : list.items.length === 0 ? (
        <Empty icon={<IconFileCode size={22} stroke={1.5} />} title="None known yet">
          Routes, tables, events and exported symbols are learned as agents edit.
        </Empty>
      ) : (
        <>
          <ul className="rows">
            {list.items.map((c) => (
              <li key={c.key} className="row-item">
                <Link href={contractPath(c.key, repo)} className="grow clip">
                  <Code>{c.key}</Code>
                </Link>
                {c.in_flight.length > 0 && <Pill tone={c.in_flight.some((f) => f.compatibility === "breaking") ? "block" : "info"}>changing</Pill>}
                <span className="dim">{plural(c.users.length, "user")}</span>
              </li>
            ))}
          </ul>
          {list.hasNextPage && (
            <div className="more">
              <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                More
              </Button>
            </div>
          )}
        </>
      )}
    </Section>
  );
}

/** What svc saw but could not read: that it is known to be unknown is said. */
function Gaps({ repo, indexed }: { repo: string; indexed: boolean }) {
  const gaps = useGet("contracts", "GET /v1/repos/{repo}/gaps", { path: { repo } });
  return (
    <Section title="Not understood" sub="Places that look like routes or calls but could not be read. Breaks there are not told." pad={false}>
      <Load query={gaps}>
        {(g) =>
          g.unread + g.cut === 0 ? (
            <Empty icon={<IconFileCode size={22} stroke={1.5} />} title={indexed ? "Everything that was seen was read" : "Not scanned yet"}>
              {indexed ? "Paths that are put together at run time may still be missing." : "svc index in a clone scans it."}
            </Empty>
          ) : (
            <>
              <p className="row-item">
                <span className="grow">
                  <b>{plural(g.unread, "place")}</b> in this repo could not be resolved
                  {g.cut > 0 && <>; {plural(g.cut, "contract")} left out, of files with too many</>}
                </span>
              </p>
              <ul className="rows">
                {g.files.map((f) => (
                  <li key={f.path} className="row-item">
                    <span className="grow clip">
                      <Code>{f.path}</Code>
                    </span>
                    <span className="dim">{plural(f.unread + f.cut, "place")}</span>
                  </li>
                ))}
              </ul>
              <p className="row-item dim">
                <span>
                  <Code>svc index --explain FILE</Code> shows what each is.
                </span>
              </p>
            </>
          )
        }
      </Load>
    </Section>
  );
}
