// Words for people: times, counts, names of states.
import { daysAgo } from "../api/visible";
import type { ConflictAction, ConflictKind, ConflictStatus, IntentStatus, Sender, SessionStatus } from "../api/records";

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const dayFormat = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });

// What is past counts full units; what is to come is rounded, so that a week
// from now is seven days.
const whole = (n: number): number => (n > 0 ? Math.round(n) : Math.ceil(n)) || Math.sign(n);

export function ago(at: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - now) / 1000);
  if (Math.abs(seconds) < 45) return seconds > 15 ? "in a moment" : "just now";
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size * 0.95) return relative.format(whole(seconds / size), unit);
  }
  return relative.format(whole(seconds / 60), "minute");
}

export const exact = (at: string): string => exactFormat.format(new Date(at));
/** A day, with its year unless that is this one. */
export function day(at: string | Date): string {
  const date = new Date(at);
  const year = date.getFullYear();
  return dayFormat.format(date) + (year === new Date().getFullYear() ? "" : `, ${year}`);
}

const clockFormat = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayClockFormat = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit" });
/** A moment as a clock of the reader's zone shows it; over more than a day, with the weekday. */
export const clock = (at: number, span = 0): string => (span > 86_400_000 ? dayClockFormat : clockFormat).format(new Date(at));

/** A moment that is over, with its day: today 14:05, yesterday 09:30, 3 Nov 14:05. */
export function moment(at: string): string {
  const then = new Date(at);
  const days = daysAgo(then);
  return `${days === 0 ? "today" : days === 1 ? "yesterday" : day(then)} ${clock(then.getTime())}`;
}

export function plural(n: number, one: string, many = one + "s"): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

export function duration(minutes: number): string {
  if (minutes < 90) return plural(Math.round(minutes), "minute");
  const hours = minutes / 60;
  if (hours < 48) return `${hours.toFixed(hours < 10 ? 1 : 0)} hours`;
  return `${(hours / 8).toFixed(0)} working days`;
}

export const intentStatus: Record<IntentStatus, string> = {
  draft: "Draft",
  active: "Active",
  blocked: "Blocked",
  in_review: "In review",
  merged: "Merged",
  abandoned: "Abandoned",
  expired: "Expired",
};

/** What work is called. A draft of somebody else's has no title to show: its branch says more than the word. */
export const titleOf = (i: { title?: string | null; status: IntentStatus; branch?: string | null }): string => (i.title && (i.status !== "draft" || i.title !== "Draft") ? i.title : i.branch ? `Work on ${i.branch}` : "Draft");

export const conflictStatus: Record<ConflictStatus, string> = {
  open: "Open",
  acknowledged: "Acknowledged",
  resolving: "Resolving",
  resolved: "Resolved",
  overridden: "Overridden",
  stale: "Stale",
};

export const sessionStatus: Record<SessionStatus, string> = { active: "Working", idle: "Idle", ended: "Ended", expired: "Expired" };

export const conflictKind: Record<ConflictKind, { name: string; means: string }> = {
  exclusive_claim: { name: "Exclusive claim", means: "Work enters something that another intent holds for itself." },
  edit_overlap: { name: "Same lines", means: "Both changed overlapping lines; git will not merge the two." },
  symbol_overlap: { name: "Same symbol", means: "Both claim or change the same definition." },
  contract_overlap: { name: "Same contract", means: "Both claim or change the same contract." },
  contract_break: { name: "Contract break", means: "One side changes a contract incompatibly while the other uses it." },
  dependency_order: { name: "Dependency order", means: "The work overlaps an intent it depends on that is not merged yet." },
  path_overlap: { name: "Same files", means: "Both touch the same files in places that git can merge." },
  duplicate_work: { name: "Duplicate work", means: "Two intents seem to do the same thing." },
  rebase_needed: { name: "Rebase needed", means: "Something merged since touches the same lines or symbols." },
};

export const actionText: Record<ConflictAction, { verb: string; past: string; help: string; noteHint: string }> = {
  ack: { verb: "Acknowledge", past: "acknowledged it", help: "Tell the other side that you know.", noteHint: "Anything they should know?" },
  propose_sequence: { verb: "Propose an order", past: "proposed an order", help: "Say who goes first. The note goes to the other side.", noteHint: "For example: I merge mine today, then you rebase." },
  will_rebase: { verb: "I will rebase", past: "will rebase", help: "Promise to rebase onto the other side's work.", noteHint: "When?" },
  resolved: { verb: "Mark resolved", past: "marked it resolved", help: "The collision is settled.", noteHint: "How was it settled?" },
  false_positive: { verb: "False alarm", past: "called it a false alarm", help: "Close it and never raise this one again.", noteHint: "Why is it harmless?" },
  request_override: { verb: "Ask for an override", past: "asked for an override", help: "Ask a person who may to let both sides go on.", noteHint: "Why should both go on?" },
};

// Tools as their makers write them.
const tools: Record<string, string> = {
  claude_code: "Claude Code",
  codex: "Codex",
  cursor: "Cursor",
  copilot: "Copilot",
  gemini: "Gemini CLI",
  opencode: "OpenCode",
  windsurf: "Windsurf",
  cline: "Cline",
  amp: "Amp",
  omp: "Oh My Pi",
  zed: "Zed",
  editor: "Editor",
};
export const toolName = (tool: string): string => tools[tool] ?? tool.replaceAll("_", " ").replace(/^\w/, (c) => c.toUpperCase());

export function senderName(s: Sender): string {
  if (s.kind === "system") return "svc";
  if (s.kind === "service") return "A service";
  const name = s.user?.name ?? "Somebody";
  return s.kind === "session" ? `${name}'s ${s.tool ? toolName(s.tool) : "agent"}` : name;
}

export const shortRepo = (fullName: string): string => fullName.split("/").at(-1) ?? fullName;
