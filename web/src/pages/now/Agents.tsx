import { IconFolder, IconGitBranch, IconRobotOff } from "@tabler/icons-react";
import { useMemo } from "react";
import { Link } from "wouter";
import type { Session } from "../../api/records";
import { plural, toolName } from "../../lib/text";
import { Ago, IntentPill, Person, SessionDot } from "../../ui/bits";
import { Empty } from "../../ui/page";
import { VirtualRows } from "../../ui/VirtualRows";

type Row = { kind: "repo"; key: string; name: string; count: number } | { kind: "agent"; key: string; session: Session; branchFirst: boolean };

/** Repos by their latest agent, branches within them alike. */
export function rowsOf(sessions: Session[]): Row[] {
  const repos = new Map<string, Session[]>();
  for (const s of [...sessions].sort((a, b) => b.last_heartbeat_at.localeCompare(a.last_heartbeat_at))) {
    const list = repos.get(s.repo.full_name);
    if (list) list.push(s);
    else repos.set(s.repo.full_name, [s]);
  }
  const rows: Row[] = [];
  for (const [name, list] of repos) {
    rows.push({ kind: "repo", key: "repo " + name, name, count: list.length });
    const branches = new Map<string, Session[]>();
    for (const s of list) branches.set(s.branch ?? "", [...(branches.get(s.branch ?? "") ?? []), s]);
    for (const group of branches.values()) group.forEach((session, i) => rows.push({ kind: "agent", key: session.id, session, branchFirst: i === 0 }));
  }
  return rows;
}

export function Agents({ sessions }: { sessions: Session[] }) {
  const rows = useMemo(() => rowsOf(sessions), [sessions]);
  if (rows.length === 0) {
    return (
      <Empty icon={<IconRobotOff size={22} stroke={1.5} />} title="No agent is at work">
        Agents appear here with their first prompt and leave when their session ends.
      </Empty>
    );
  }
  return <VirtualRows label="Agents" items={rows} keyOf={(r) => r.key} estimate={(r) => (r.kind === "repo" ? 35 : 47)} render={(r) => (r.kind === "repo" ? <RepoRow name={r.name} count={r.count} /> : <AgentRow session={r.session} branchFirst={r.branchFirst} />)} />;
}

const RepoRow = ({ name, count }: { name: string; count: number }) => (
  <div className="agent-repo">
    <IconFolder size={14} aria-hidden />
    <Link href={`/intents?repo=${encodeURIComponent(name)}`} className="plain-link">
      {name}
    </Link>
    <span className="dim">{plural(count, "agent")}</span>
  </div>
);

function AgentRow({ session: s, branchFirst }: { session: Session; branchFirst: boolean }) {
  const href = s.intent ? `/intents/${s.intent.ref}` : `/intents?owner=${encodeURIComponent(s.user.email)}`;
  return (
    <Link href={href} className="agent" data-row>
      <SessionDot status={s.status} />
      <span className="agent-who">
        <Person user={s.user} />
        <span className="dim clip agent-tool">
          {toolName(s.tool)}
          {s.model && <span className="wide-only"> · {s.model}</span>}
        </span>
      </span>
      <span className="agent-does">
        <span className={s.intent ? "clip agent-title" : "clip dim"}>{s.intent ? (s.intent.title ?? "Draft") : "No declared intent"}</span>
        <span className={branchFirst ? "agent-branch clip" : "agent-branch clip branch-again"}>
          {s.intent && <span className="ref">{s.intent.ref}</span>} <IconGitBranch size={12} aria-hidden /> {s.branch ?? "no branch"}
        </span>
      </span>
      {s.intent && s.intent.status !== "active" ? <IntentPill status={s.intent.status} /> : <span />}
      <span className="dim agent-ago">
        <Ago at={s.last_heartbeat_at} />
      </span>
    </Link>
  );
}

