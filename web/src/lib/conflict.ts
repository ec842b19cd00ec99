// What a conflict is about, for every page that shows one: how bad, between
// whom, where, and which of them belong together.
import type { Conflict, Evidence, Party, Severity } from "../api/records";
import { conflictKind, titleOf } from "./text";

export const weight: Record<Severity, number> = { off: 0, info: 1, warn: 2, block: 3 };

/** The states in which a conflict is over, as a list's filter takes them. */
export const over = "resolved,overridden,stale";

/** Whether a conflict asks for anything. Info is listed and never interrupts. */
export const matters = (c: { severity: Severity }): boolean => weight[c.severity] >= weight.warn;

/** Keeps a name that runs from right to left from turning the sentence around it. */
const apart = (s: string): string => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(s) ? `\u2068${s}\u2069` : s);

/** What work is called whose people do not use svc. */
export const outsideName = (o: NonNullable<Party["outside"]>): string => (o.number == null ? "pushed branch" : o.provider === "gitlab" ? `merge request !${o.number}` : `pull request #${o.number}`);

/** A side as people call it: the person, or where nobody is, the repository. */
export const whoOf = (p: Party | undefined): string => apart(p?.outside?.author || (p?.user?.name ?? p?.repo.full_name ?? "somebody"));

/** What a side works on, without its number. */
export const workOf = (p: Party | undefined): string => apart(p?.intent ? titleOf({ ...p.intent, branch: p.branch }) : (p?.branch ?? ""));

/** A side by name and title, its number last: Lena's “Rotate tokens” (INT-1). */
export function sideOf(p: Party | undefined): string {
  if (!p) return "the other side";
  const [who, work] = [whoOf(p), workOf(p)];
  if (p.outside) return `${who}'s ${outsideName(p.outside)}`;
  if (!p.user) return `the code of ${who}`;
  return work ? `${who}'s “${work}”${p.intent ? ` (${p.intent.ref})` : ""}` : who;
}

/** What the server says of a conflict, with its sides by name and title instead of number and branch. */
export const told = (c: Conflict): string => c.parties.reduce((text, p) => (p.intent ? text.replace(new RegExp(`\\b${p.intent.ref} \\([^()]*\\)`, "g"), () => sideOf(p)) : text), c.explanation);

const isSide = (p: Party, session: string, intent: string | undefined): boolean => p.session_id === session || Boolean(intent && p.intent?.ref === intent);

/** What keeps an agent, in a few words: who, then what, then where. */
export function clashOf(c: Conflict, session: string, intent: string | undefined): string {
  const own = c.parties.find((p) => isSide(p, session, intent));
  const other = c.parties.find((p) => p !== own);
  const [who, work] = [own?.user && other?.user?.id === own.user.id ? "another agent of theirs" : whoOf(other), workOf(other)];
  const on = work ? ` (“${work}”)` : "";
  const where = placeOf(c);
  switch (c.kind) {
    case "exclusive_claim":
      return own?.role === "holder" ? `${who} wants in${where && `: ${where}`}` : `${who} holds ${work ? `“${work}”` : where || "the place"}${work && where ? `: ${where}` : ""}`;
    case "contract_break":
      return own?.role === "challenger" ? `breaks ${where || "what is used"} for ${who}${on}` : `${who}${on} breaks ${where || "what it uses"}`;
    default:
      return `${conflictKind[c.kind].name.toLowerCase()} as ${who}${on}${where && `: ${where}`}`;
  }
}

export interface Range {
  start: number;
  end: number;
}

/** A file that both sides are in, with what each has there. */
export interface SharedFile {
  path: string;
  holder: Evidence[];
  challenger: Evidence[];
  both: Range[];
}

const meet = (a: Range, b: Range): Range | null => {
  const r = { start: Math.max(a.start, b.start), end: Math.min(a.end, b.end) };
  return r.start <= r.end ? r : null;
};

/** The files of a conflict with the lines where both sides meet. */
export function filesOf(c: Conflict): SharedFile[] {
  const files = new Map<string, SharedFile>();
  for (const e of c.evidence) {
    if (!e.path) continue;
    let f = files.get(e.path);
    if (!f) files.set(e.path, (f = { path: e.path, holder: [], challenger: [], both: [] }));
    f[e.party].push(e);
  }
  for (const f of files.values()) {
    for (const h of f.holder) for (const k of f.challenger) if (h.lines && k.lines && h.via === "change" && k.via === "change") f.both.push(...[meet(h.lines, k.lines)].filter((r) => r !== null));
    f.both = joined(f.both);
  }
  return [...files.values()];
}

/** Ranges in order, those that touch made one. */
export function joined(ranges: Range[]): Range[] {
  const out: Range[] = [];
  for (const r of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last && r.start <= last.end + 1) last.end = Math.max(last.end, r.end);
    else out.push({ ...r });
  }
  return out;
}

export const lines = (r: Range): string => (r.start === r.end ? `line ${r.start}` : `lines ${r.start}–${r.end}`);

/** Where the sides meet, as short as it can be said: a file and lines, a contract, a definition, a claimed place. */
export function placeOf(c: Conflict): string {
  const base = (path: string) => path.split("/").at(-1) ?? path;
  const file = filesOf(c).find((f) => f.both.length > 0);
  if (file) return `${base(file.path)} ${lines(file.both[0]!)}`;
  const e = c.evidence.find((e) => e.contract ?? e.symbol);
  const what = e?.contract ?? e?.symbol?.split("#").at(-1);
  const path = c.evidence.find((e) => e.path)?.path;
  return what ?? (path ? base(path) : (c.evidence.find((e) => e.selector)?.selector ?? ""));
}

/** All conflicts between the same two pieces of work. */
export interface Pair {
  key: string;
  id: string;
  worst: Conflict;
  all: Conflict[];
}

const sideKey = (p: Party | undefined): string => p?.outside?.url ?? p?.intent?.ref ?? p?.session_id ?? p?.user?.id ?? p?.repo.id ?? "";

/** Whether a conflict is in a repo, or is felt there. */
export const concerns = (c: Conflict, repo: string): boolean => c.repo.full_name === repo || c.dependent_repo?.full_name === repo;

/** One row per pair of intents, the worst and newest first. */
export function pairsOf(conflicts: Conflict[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const c of conflicts) {
    const key = c.parties.map(sideKey).sort().join(" ");
    const pair = pairs.get(key);
    if (pair) pair.all.push(c);
    else pairs.set(key, { key, id: key, worst: c, all: [c] });
  }
  for (const p of pairs.values()) {
    p.all.sort((a, b) => weight[b.severity] - weight[a.severity] || b.number - a.number);
    p.worst = p.all[0]!;
  }
  return [...pairs.values()].sort((a, b) => weight[b.worst.severity] - weight[a.worst.severity] || b.worst.number - a.worst.number);
}

/** The one number of conflicts: pairs of work that collide so that somebody should care. Every page counts by this. */
export const countOf = (conflicts: Conflict[]): number => pairsOf(conflicts.filter(matters)).length;

/** What several pairs have in common: one claim that stops many, one break that hits many. */
export interface Cause {
  id: string;
  text: string; // empty for a pair that stands alone
  pairs: Pair[];
}

const party = (c: Conflict, role: Party["role"]): Party | undefined => c.parties.find((p) => p.role === role);
const contractIn = (c: Conflict): string => c.evidence.find((e) => e.contract)?.contract ?? "";

function causeKey(p: Pair): string {
  const c = p.worst;
  if (c.kind === "exclusive_claim") return `claim ${sideKey(party(c, "holder"))}`;
  if (c.kind === "contract_break") return `break ${sideKey(party(c, "challenger"))} ${contractIn(c)}`;
  return p.key;
}

function causeText(pairs: Pair[]): string {
  const c = pairs[0]!.worst;
  if (c.kind === "contract_break") return `${whoOf(party(c, "challenger"))} breaks ${contractIn(c) || "a contract"}: ${pairs.length} users are hit`;
  const holder = party(c, "holder");
  return `${whoOf(holder)} holds “${workOf(holder) || placeOf(c)}”: ${pairs.length} agents are stopped`;
}

/** Pairs by what they come from, in the order of the worst of each. */
export function causesOf(pairs: Pair[]): Cause[] {
  const causes = new Map<string, Pair[]>();
  for (const p of pairs) causes.set(causeKey(p), [...(causes.get(causeKey(p)) ?? []), p]);
  return [...causes].map(([id, list]) => ({ id, pairs: list, text: list.length > 1 ? causeText(list) : "" }));
}
