// One agent: what it does, what it was told, what it waits for.
import { Button } from "@mantine/core";
import { IconGitBranch, IconMessage, IconPlayerStop, IconTransfer } from "../../ui/icons.gen";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { call } from "../../api/client";
import type { Session } from "../../api/records";
import { agentsOf, stateText, type Agent } from "../../lib/agents";
import { causesOf, pairsOf } from "../../lib/conflict";
import { kinds, typesOf } from "../../lib/events";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { useTeam } from "../../lib/team";
import { filePath, useFilter } from "../../lib/url";
import { plural, sessionStatus, toolName } from "../../lib/text";
import { Ago, Code, IntentPill, Person, Pill, Ref } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { ChoiceFilter } from "../../ui/Filters";
import { Confirmed } from "../../ui/form";
import { Happening } from "../../ui/Happening";
import { Failed, Load, Loading, Page, Section } from "../../ui/page";
import { CauseActions } from "../conflicts/CauseActions";
import { ConflictRow } from "../conflicts/ConflictRow";
import { HandoffDialog } from "../intents/IntentDialogs";
import { AgentMessage } from "../messages/AgentMessage";

export function AgentPage() {
  const { id } = useParams<{ id: string }>();
  const session = useGet("sessions", "GET /v1/sessions/{id}", { path: { id } });
  const team = useTeam();
  // Without the others' work it cannot be told what stops it.
  const error = session.data ? team.error : session.error;
  if (!session.data || !team.agents) return <Page title="Agent">{error ? <Failed error={error} retry={() => void (session.data ? team : session).refetch()} /> : <Loading />}</Page>;
  const agent = team.agents.find((a) => a.id === id) ?? agentsOf([session.data], team.intents, team.conflicts)[0]!;
  return <Detail agent={agent} session={session.data} />;
}

const over = (s: Session): boolean => s.status === "ended" || s.status === "expired";

function Detail({ agent: a, session: s }: { agent: Agent; session: Session }) {
  const me = useMe();
  const [dialog, setDialog] = useState<"message" | "handoff" | null>(null);
  const mine = me.isAdmin || a.user.id === me.user.id;
  const end = useAction(() => call("POST /v1/sessions/{id}/end", { path: { id: s.id } }), { says: "The session is ended.", stale: ["sessions", "intents", "conflicts"] });
  const close = () => setDialog(null);
  const trouble = causesOf(pairsOf(a.conflicts.filter((c) => c.ref === a.whyRef && c.severity === "block")))[0];
  return (
    <Page
      title={`${a.user.name}'s ${toolName(s.tool)}`}
      wide
      sub={
        <span className="wrap">
          <Pill tone={stateText[a.state].tone} dot>
            {over(s) ? sessionStatus[s.status] : stateText[a.state].name}
          </Pill>
          {s.model && <span>{s.model}</span>}
          <Link href={`/repos/${s.repo.full_name}`}>{s.repo.full_name}</Link>
          {s.branch && (
            <span>
              <IconGitBranch size={13} aria-hidden /> {s.branch}
            </span>
          )}
          <Ago at={s.started_at} prefix="began " />
        </span>
      }
      actions={
        <>
          <Button variant="default" leftSection={<IconMessage size={14} />} onClick={() => setDialog("message")}>
            Message
          </Button>
          {mine && a.intent && (
            <Button variant="default" leftSection={<IconTransfer size={14} />} onClick={() => setDialog("handoff")}>
              Hand its work on
            </Button>
          )}
          {mine && !over(s) && (
            <Confirmed
              label={
                <>
                  <IconPlayerStop size={14} aria-hidden />
                  &nbsp;End session
                </>
              }
              title="End this session?"
              confirm="End it"
              text="Its claims stay with the intent. An agent that is still running begins a new session with its next event."
              onConfirm={() => end.mutateAsync()}
            />
          )}
        </>
      }
    >
      <div className="detail">
        <div>
          <Section>
            <dl className="facts agent-facts">
              <dt>In trouble with</dt>
              <dd>
                {a.why ? <>{a.why} {a.whyRef && <Ref to={a.whyRef} />}</> : "nothing"}
                {trouble && <CauseActions cause={trouble} />}
              </dd>
              <dt>Said last</dt>
              <dd dir="auto">
                {a.words ? (
                  <>
                    <q>{a.words}</q> {s.status_at && <span className="dim"><Ago at={s.status_at} /></span>}
                  </>
                ) : (
                  <span className="dim">nothing yet; agents speak as they stop</span>
                )}
              </dd>
              <dt>Is in</dt>
              <dd>{a.file ? <Link href={filePath(s.repo.full_name, a.file)}><Code>{a.file}</Code></Link> : <span className="dim">no file yet</span>}</dd>
              <dt>Waits for</dt>
              <dd>{a.intent?.blocked_by.length ? a.intent.blocked_by.map((b) => <Ref key={b.ref} to={b.ref} />) : <span className="dim">nobody</span>}</dd>
            </dl>
          </Section>
          {a.conflicts.length > 0 && (
            <Section title="Conflicts" pad={false}>
              {a.conflicts.map((c) => (
                <ConflictRow key={c.id} conflict={c} />
              ))}
            </Section>
          )}
          <Section title="What it did and was told" pad={false}>
            <Doings session={s} intent={a.intent?.id} />
          </Section>
        </div>
        <Section title="Facts">
          <dl className="facts">
            <dt>Person</dt>
            <dd>
              <Link href={`/people/${a.user.id}`} className="plain-link">
                <Person user={a.user} />
              </Link>
            </dd>
            <dt>Intent</dt>
            <dd>
              {s.intent ? (
                <>
                  <span dir="auto">{s.intent.title}</span> <Ref to={s.intent.ref} /> <IntentPill status={s.intent.status} />
                </>
              ) : (
                "none declared"
              )}
            </dd>
            <dt>Heard of</dt>
            <dd>
              <Ago at={s.last_heartbeat_at} />
            </dd>
            {s.fail_opens > 0 && (
              <>
                <dt>Unchecked</dt>
                <dd className="tone-warn">
                  {plural(s.fail_opens, "event")} got no answer from svc {s.fail_opens_at && <span className="dim">told <Ago at={s.fail_opens_at} /></span>}
                </dd>
              </>
            )}
            {s.ended_at && (
              <>
                <dt>Ended</dt>
                <dd>
                  <Ago at={s.ended_at} />
                </dd>
              </>
            )}
          </dl>
        </Section>
      </div>
      {dialog === "message" && <AgentMessage agent={a} onClose={close} />}
      {dialog === "handoff" && a.intent && <HandoffDialog intent={a.intent} onClose={close} />}
    </Page>
  );
}

/** What a session and its intent did and were told, newest first, by kind. */
function Doings({ session, intent }: { session: Session; intent: string | undefined }) {
  const [kind, setKind] = useFilter("did");
  const type = typesOf(kind);
  const own = useGet("feed", "GET /v1/feed", { query: { subject: session.id, type, limit: 100 } });
  const work = useGet("feed", "GET /v1/feed", { query: { subject: intent ?? "", type, limit: 100 } }, { enabled: Boolean(intent) });
  return (
    <>
      <div className="filters card-filters">
        <ChoiceFilter label="Kind" all="Everything" value={kind} onChange={setKind} data={["work", "conflicts", "talk", "contracts"].map((value) => ({ value, label: kinds[value]!.label }))} />
      </div>
      <Load query={intent && own.data ? work : own}>
        {() => {
          const all = [...(own.data?.items ?? []), ...(work.data?.items ?? [])].filter((e, i, list) => list.findIndex((x) => x.id === e.id) === i).sort((a, b) => Number(b.id) - Number(a.id));
          const refs = { ...own.data?.refs, ...work.data?.refs };
          if (all.length === 0) return <p className="happening dim">Nothing {kind ? "of that kind " : ""}has been logged about it yet.</p>;
          return (
            <div aria-label="What it did" role="list" aria-busy={own.isPlaceholderData || work.isPlaceholderData}>
              {all.slice(0, 120).map((e) => (
                <div role="listitem" key={e.id}>
                  <Happening event={e} refs={refs} own={session.id} />
                </div>
              ))}
            </div>
          );
        }}
      </Load>
    </>
  );
}
