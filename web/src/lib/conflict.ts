// What a conflict is about, for every page that shows one: how bad, between
// whom, where, and which of them belong together.
import type { Conflict, Evidence, Party, Severity } from "../api/records";

export const weight: Record<Severity, number> = { off: 0, info: 1, warn: 2, block: 3 };

/** Whether a conflict asks for anything. Info is listed and never interrupts. */
export const matters = (c: { severity: Severity }): boolean => weight[c.severity] >= weight.warn;

const nameOf = (p: Party | undefined): string => p?.intent?.ref ?? p?.user?.name ?? p?.repo.full_name ?? "somebody";

/** Who the other side is, as seen from a session or an intent. */
export function otherSide(c: Conflict, session: string, intent: string | undefined): string {
  return nameOf(c.parties.find((p) => p.session_id !== session && (!intent || p.intent?.ref !== intent)) ?? c.parties[1]);
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

/** Where the sides meet, in a few words after the names of both. */
export function place(c: Conflict): string {
  const both = filesOf(c).flatMap((f) => f.both)[0];
  if (both) return ` · ${lines(both)}`;
  const e = c.evidence.find((e) => e.contract ?? e.symbol);
  const what = e?.contract ?? e?.symbol?.split("#").at(-1);
  return what ? ` · ${what}` : "";
}

/** All conflicts between the same two pieces of work. */
export interface Pair {
  key: string;
  id: string;
  worst: Conflict;
  all: Conflict[];
}

const sideKey = (p: Party | undefined): string => p?.intent?.ref ?? p?.session_id ?? p?.user?.id ?? p?.repo.id ?? "";

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
