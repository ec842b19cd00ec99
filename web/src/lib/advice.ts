// What a person can do about a conflict, by their part in it. Agents are told
// the same in calls of their tools, by the server.
import type { LandingStep, Conflict, ConflictAction, ConflictKind, ConflictStatus, Party } from "../api/records";
import { sideOf } from "./conflict";

export type Part = "holder" | "challenger" | "lead" | "onlooker";

/** What somebody is to a conflict: on one of its sides, able to decide, or neither. */
export function partOf(c: Conflict, user: string, isAdmin: boolean): Part {
  const mine = c.parties.filter((p) => p.user?.id === user);
  // Who is on both sides came second with one agent: that one can give way.
  return mine.find((p) => p.role === "challenger")?.role ?? mine[0]?.role ?? (isAdmin ? "lead" : "onlooker");
}

export const isParty = (part: Part): boolean => part === "holder" || part === "challenger";

/** What each state allows, as the server has it. */
const byStatus: Record<ConflictStatus, ConflictAction[]> = {
  open: ["ack", "propose_sequence", "will_rebase", "resolved", "false_positive", "request_override"],
  acknowledged: ["propose_sequence", "will_rebase", "resolved", "false_positive", "request_override"],
  resolving: ["resolved", "false_positive", "request_override"],
  resolved: [],
  overridden: [],
  stale: [],
};
// Nobody promises or knows anything for a side that is not theirs.
const byPart: Record<Part, ConflictAction[]> = {
  holder: ["ack", "propose_sequence", "will_rebase", "resolved", "false_positive", "request_override"],
  challenger: ["ack", "propose_sequence", "will_rebase", "resolved", "false_positive", "request_override"],
  lead: ["propose_sequence", "resolved", "false_positive"],
  onlooker: [],
};

export function actionsFor(status: ConflictStatus, part: Part, mayOverride: boolean): ConflictAction[] {
  return byStatus[status].filter((a) => byPart[part].includes(a) && (a !== "request_override" || !mayOverride));
}

export const side = (c: Conflict, role: Party["role"]): Party | undefined => c.parties.find((p) => p.role === role);
export const call = (p: Party | undefined): string => p?.intent?.ref ?? p?.outside?.author ?? p?.user?.name ?? p?.repo.full_name ?? "the other side";

interface Voices {
  holder: string;
  challenger: string;
  onlooker: string;
}

const same = (s: string): Voices => ({ holder: s, challenger: s, onlooker: s });

// {first} was there first, {second} came second; for a break {first} depends and {second} changes.
const advice: Record<ConflictKind, Voices> = {
  exclusive_claim: {
    holder: "Finish or narrow your claim if {second} should go on, or tell its owner how long it takes.",
    challenger: "Wait until {first} has released it, work on something else, or ask for an override.",
    onlooker: "{second} waits for {first}. A person who may override can let both continue.",
  },
  edit_overlap: {
    holder: "Agree with the owner of {second} whose change goes first. Yours was there first.",
    challenger: "Wait until {first} has landed and rebase onto it, or agree on another order with its owner.",
    onlooker: "Git will stop where both changed the same lines. One of the two has to go first and the other rebase.",
  },
  symbol_overlap: same("Agree on who changes the definition; the second one reads the result as a whole."),
  contract_overlap: same("Agree on the form of the contract before either lands."),
  contract_break: {
    holder: "Adapt to the new form, or ask the owner of {second} to keep the old one beside it for a while.",
    challenger: "Keep the old form beside the new one until {first} has moved, or agree on a moment with its owner.",
    onlooker: "{second} changes what {first} uses. The old form should stay until {first} has moved.",
  },
  dependency_order: { holder: "Nothing to do; {second} comes after you.", challenger: "Wait until {first} has landed before you touch what both work on.", onlooker: "{second} comes after {first}." },
  path_overlap: same("Nothing to do now. Both work in one place that git can merge; narrow the scope of one if they should be kept apart."),
  duplicate_work: same("Talk before going on: both may be doing the same work."),
  rebase_needed: { holder: "Nothing to do.", challenger: "Rebase onto the default branch before going on.", onlooker: "{second} has to rebase onto what {first} merged." },
};

/** One sentence on what to do, for a reader. */
export function adviceFor(c: Conflict, part: Part): string {
  const words = advice[c.kind][part === "lead" ? "onlooker" : part];
  return words.replaceAll("{first}", sideOf(side(c, "holder"))).replaceAll("{second}", sideOf(side(c, "challenger")));
}

export interface Order {
  first: Party;
  second: Party;
  note: string;
}

/** Who had better go first: who lands first in the order that costs least, and where none is known, who was there first.
 * Null where no order helps: nobody rebases onto another repository. */
export function orderOf(c: Conflict, landing: LandingStep[] = []): Order | null {
  const place = (p: Party | undefined): number => landing.findIndex((s) => s.intent && s.intent.ref === p?.intent?.ref);
  let [a, b] = [side(c, "holder"), side(c, "challenger")];
  if (place(b) >= 0 && place(b) < place(a)) [a, b] = [b, a];
  if (!a?.user || !b?.user || a.repo.id !== b.repo.id || c.kind === "path_overlap" || c.kind === "duplicate_work" || call(a) === call(b)) return null;
  return { first: a, second: b, note: `${sideOf(a)} lands first; ${sideOf(b)} rebases onto it and goes second.` };
}
