// What people and agents wrote, as a person must see it. Every answer of the
// server goes through here, so that no page can forget it: characters that
// hide text, turn its direction or move a cursor are named instead of obeyed.
// Single joiners and the emoji selector stay, since names and emoji need them.
const hidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]+|[\u200c\u200d\ufe0f]{3,}/gu;
const breaks = /\r\n?|[\u0085\u2028\u2029]/g;
const piled = /([\p{Mn}\p{Me}]{3})[\p{Mn}\p{Me}]+/gu;

const named = (run: string): string => {
  const n = [...run].length;
  return n > 1 ? `⟨${n} hidden characters⟩` : `⟨U+${run.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`;
};

export const visible = (s: string): string => s.replace(breaks, "\n").replace(hidden, named).replace(piled, "$1");

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const instant = /\b(?:at )?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?: UTC|Z)/g;

/** How many days of the reader's calendar ago something was: 0 today, 1 yesterday. */
export const daysAgo = (at: Date): number => Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000);

/** A moment inside a sentence, by the reader's own clock. */
function localMoment(_: string, day: string, time: string): string {
  const at = new Date(`${day}T${time}Z`);
  const days = daysAgo(at);
  return `at ${clock.format(at)}${days === 0 ? "" : days === 1 ? " yesterday" : ` on ${date.format(at)}`}`;
}

/** The service's own sentence as people read it: what somebody chose stands in ⟦…⟧ for models; here it is only kept from
 * turning its surroundings around. Moments are told by the reader's clock. */
export const sentence = (text: string): string => text.replace(/⟦([^⟦⟧]*)⟧/g, "\u2068$1\u2069").replace(instant, localMoment);

const unusual = /[^\t\n\r -~]|\\[bfru]/;

/** Reads JSON; most of it is plain and needs no second look. */
export function read<T>(json: string): T {
  return JSON.parse(json, unusual.test(json) ? (_, v: unknown) => (typeof v === "string" ? visible(v) : v) : undefined) as T;
}
