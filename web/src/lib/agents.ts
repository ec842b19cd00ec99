// What an agent is up to, worked out once from its session, its intent and the
// conflicts it is in, for every page that shows agents.
import type { Conflict, Intent, Session, User } from "../api/records";
import { clashOf, weight } from "./conflict";

export type AgentState = Session["state"];

/** In the order of trouble, the worst first. The server says which one an agent is in. */
export const states: AgentState[] = ["blocked", "waits_for_person", "collides", "waits_for_other", "silent", "working", "stopped", "gone"];

export const stateText: Record<AgentState, { name: string; count: string; tone: "block" | "warn" | "info" | "good" | "quiet" }> = {
  blocked: { name: "Blocked", count: "blocked", tone: "block" },
  waits_for_person: { name: "Asks", count: "wait for their person", tone: "warn" },
  collides: { name: "Collides", count: "collide", tone: "warn" },
  waits_for_other: { name: "Waits", count: "wait for other work", tone: "info" },
  silent: { name: "Silent", count: "silent", tone: "quiet" },
  working: { name: "Working", count: "working", tone: "good" },
  stopped: { name: "Stopped", count: "stopped", tone: "quiet" },
  gone: { name: "Gone", count: "gone", tone: "quiet" },
};

export interface Agent {
  id: string;
  session: Session;
  user: User;
  intent: Intent | undefined;
  conflicts: Conflict[]; // live ones it is a party of, the worst first
  state: AgentState;
  why: string; // what its trouble is, in a few words; empty without any
  whyRef: string; // the conflict or intent behind it
  file: string;
  words: string; // what it said last
  since: string;
}

const isParty = (c: Conflict, s: Session): boolean => c.parties.some((p) => p.session_id === s.id || (p.intent && p.intent.ref === s.intent?.ref));

/** What is behind a state, names and titles first. */
function whyOf(s: Session, byRef: Map<string, Intent>, conflicts: Conflict[]): string {
  if (s.state === "silent") return "no hook since then, in the middle of a turn";
  if (s.state === "waits_for_other") {
    const other = s.state_ref ? byRef.get(s.state_ref) : undefined;
    return other ? `waits for ${other.owner.name}'s “${other.title}”` : "waits for other work";
  }
  const c = conflicts.find((c) => c.ref === s.state_ref);
  return c ? clashOf(c, s.id, s.intent?.ref) : "";
}

/** All agents, with what is known of each. */
export function agentsOf(sessions: Session[], intents: Intent[], conflicts: Conflict[]): Agent[] {
  const byRef = new Map(intents.map((i) => [i.ref, i]));
  const bySession = new Map<string, Conflict[]>();
  const byIntent = new Map<string, Conflict[]>();
  const add = (map: Map<string, Conflict[]>, key: string | null | undefined, c: Conflict) => {
    if (!key) return;
    const list = map.get(key);
    if (!list) map.set(key, [c]);
    else if (!list.includes(c)) list.push(c);
  };
  for (const c of conflicts) {
    if (c.severity === "info" || c.severity === "off") continue;
    for (const p of c.parties) {
      add(bySession, p.session_id, c);
      add(byIntent, p.intent?.ref, c);
    }
  }
  return sessions.map((s) => {
    const mine = [...new Set([...(bySession.get(s.id) ?? []), ...((s.intent && byIntent.get(s.intent.ref)) ?? [])])].filter((c) => isParty(c, s)).sort((a, b) => weight[b.severity] - weight[a.severity] || b.first_seen_at.localeCompare(a.first_seen_at));
    const intent = s.intent ? byRef.get(s.intent.ref) : undefined;
    return { id: s.id, session: s, user: s.user, intent, conflicts: mine, file: s.file ?? "", words: s.status_text ?? "", state: s.state, since: s.state_since, whyRef: s.state_ref ?? "", why: whyOf(s, byRef, mine) };
  });
}

const day = 24 * 60 * 60 * 1000;
/** Whether an agent went on unchecked of late, because svc did not answer it. */
export const unchecked = (s: Session): boolean => s.fail_opens > 0 && Date.now() - Date.parse(s.fail_opens_at ?? "") < day;

export type Grouping = "trouble" | "repo" | "person";

const rank = (a: Agent): number => states.indexOf(a.state);
/** The worst first; what is equally bad by who has been in it longest, the rest by who was heard of last. */
const byTrouble = (a: Agent, b: Agent): number => rank(a) - rank(b) || (a.why ? a.since.localeCompare(b.since) : b.since.localeCompare(a.since)) || a.id.localeCompare(b.id);

export interface AgentGroup {
  key: string;
  name: string;
  href: string;
  agents: Agent[];
}

/** Agents in groups, groups by the worst in them. By trouble there is one group without a name. */
export function grouped(agents: Agent[], by: Grouping): AgentGroup[] {
  const sorted = [...agents].sort(byTrouble);
  if (by === "trouble") return [{ key: "all", name: "", href: "", agents: sorted }];
  const out = new Map<string, AgentGroup>();
  for (const a of sorted) {
    const [key, name, href] = by === "repo" ? [a.session.repo.id, a.session.repo.full_name, `/repos/${a.session.repo.full_name}`] : [a.user.id, a.user.name, `/people/${a.user.id}`];
    const group = out.get(key);
    if (group) group.agents.push(a);
    else out.set(key, { key, name, href, agents: [a] });
  }
  return [...out.values()];
}
