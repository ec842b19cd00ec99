// One dense row per agent: its trouble or its last words, whose it is, where
// it is, and since when.
import { IconFolder, IconMessage, IconRobotOff, IconShieldOff, IconUser } from "../../ui/icons.gen";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { grouped, stateText, unchecked, type Agent, type AgentGroup, type Grouping } from "../../lib/agents";
import { useCalm } from "../../lib/calm";
import { plural, shortRepo, titleOf, toolName } from "../../lib/text";
import { Ago, Avatar } from "../../ui/bits";
import { Empty } from "../../ui/page";
import { RowTools } from "../../ui/RowTools";
import { VirtualRows } from "../../ui/VirtualRows";

type Row = { key: string; group: AgentGroup; agent?: undefined } | { key: string; agent: Agent };

function rowsOf(agents: Agent[], by: Grouping): Row[] {
  return grouped(agents, by).flatMap((group) => [...(group.name ? [{ key: "group " + group.key, group }] : []), ...group.agents.map((agent) => ({ key: agent.id, agent }))]);
}

export function Agents({ agents, by, dense, onMessage }: { agents: Agent[]; by: Grouping; dense: boolean; onMessage: (a: Agent) => void }) {
  const [held, setHeld] = useState(false);
  const sorted = useMemo(() => rowsOf(agents, by), [agents, by]);
  const rows = useCalm(sorted, (r) => r.key, held && by === "trouble");
  if (rows.length === 0) {
    return (
      <Empty icon={<IconRobotOff size={22} stroke={1.5} />} title="No agent is at work here">
        Agents appear with their first prompt and leave when their session ends. Other filters may show some.
      </Empty>
    );
  }
  return (
    <div className={dense ? "agents agents-dense" : "agents"} onPointerEnter={() => setHeld(true)} onPointerLeave={() => setHeld(false)}>
      <VirtualRows key={dense ? "dense" : "roomy"} label="Agents" items={rows} keyOf={(r) => r.key} estimate={(r) => (r.agent ? (dense ? 19 : 45) : 30)} render={(r) => (r.agent ? <AgentRow agent={r.agent} onMessage={onMessage} /> : <GroupRow group={r.group} by={by} />)} />
    </div>
  );
}

const GroupRow = ({ group: g, by }: { group: AgentGroup; by: Grouping }) => (
  <div className="agent-group">
    {by === "repo" ? <IconFolder size={14} aria-hidden /> : <IconUser size={14} aria-hidden />}
    <Link href={g.href} className="plain-link clip" dir="auto">
      {g.name}
    </Link>
    <span className="dim">{plural(g.agents.length, "agent")}</span>
  </div>
);

/** A title with its number after it: where there is no room, the number goes. */
const Titled = ({ title, ref }: { title: string; ref: string }) => (
  <>
    {title && <bdi>{title}</bdi>} <span className="ref">{ref}</span>
  </>
);

/** What a row tells of an agent: its question, its trouble, or its last words. */
function Says({ agent: a }: { agent: Agent }) {
  const words = a.words && <q className={a.state === "waits_for_person" ? "asked" : undefined}>{a.words}</q>;
  if (a.state === "waits_for_person") return words || <span className="dim">asks its person</span>;
  if (a.why) {
    return (
      <>
        <span className={`tone-${stateText[a.state].tone}`}>{a.why}</span> {a.whyRef && <span className="ref">{a.whyRef}</span>}
      </>
    );
  }
  return words || <span className="dim">{a.session.intent?.title ?? ""}</span>;
}

const base = (path: string): string => path.split("/").at(-1) ?? path;

function AgentRow({ agent: a, onMessage }: { agent: Agent; onMessage: (a: Agent) => void }) {
  const s = a.session;
  const state = stateText[a.state];
  return (
    <div className={`agent agent-${a.state}`}>
      <Link href={`/agents/${a.id}`} className="agent-link" data-row>
        <span className={`agent-state tone-${state.tone}`}>
          <span className="agent-dot" aria-hidden />
          {state.name}
        </span>
        <span className="agent-who">
          <Avatar user={a.user} size={16} />
          <span className="clip" dir="auto">
            {a.user.name}
          </span>
        </span>
        <span className="agent-host clip dim" title={s.model ?? undefined}>
          {toolName(s.tool)}
          <span className="agent-model">{s.model && ` · ${s.model}`}</span>
        </span>
        <span className="agent-repo clip" title={s.repo.full_name}>
          {shortRepo(s.repo.full_name)}
        </span>
        <span className="agent-branch clip dim" title={s.branch ?? undefined}>
          {s.branch ?? "no branch"}
        </span>
        <span className="agent-intent clip" title={s.intent?.title ?? undefined}>
          {s.intent ? <Titled title={titleOf({ ...s.intent, branch: s.branch })} ref={s.intent.ref} /> : <span className="dim">no intent</span>}
        </span>
        <span className="agent-file clip" title={a.file}>
          {base(a.file)}
        </span>
        <span className="agent-says clip" dir={a.why && a.state !== "waits_for_person" ? "ltr" : "auto"} title={[a.why, a.words].filter(Boolean).join(" — ")}>
          {unchecked(s) && (
            <span className="tone-warn" title={`${plural(s.fail_opens, "event")} got no answer from svc`}>
              <IconShieldOff size={13} aria-hidden /> {s.fail_opens} unchecked{" "}
            </span>
          )}
          <Says agent={a} />
        </span>
        <span className="agent-ago dim">
          <Ago at={a.since} />
        </span>
      </Link>
      <RowTools href={`/agents/${a.id}`} name={`${a.user.name}'s ${toolName(s.tool)}`} />
      <button type="button" className="icon-button agent-message" aria-label={`Message ${a.user.name} about ${s.intent?.ref ?? "this agent"}`} title="Message" onClick={() => onMessage(a)}>
        <IconMessage size={14} />
      </button>
    </div>
  );
}
