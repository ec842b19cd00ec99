import type { Conversation } from "../../api/records";
import { useMe } from "../../lib/session";
import { shortRepo } from "../../lib/text";

/** What a conversation is called from where the reader sits. */
export function useTitle(c: Conversation): string {
  const me = useMe();
  if (c.kind === "channel") return c.repo ? shortRepo(c.repo.full_name) : c.name.replace(/^#/, "");
  // A question has no subject of its own: what is asked says more.
  if (c.subject && !/^question$/i.test(c.subject)) return c.subject;
  if (c.about?.kind === "question" && c.last_message?.body) return beginning(c.last_message.body);
  const others = c.participants.filter((p) => p.id !== me.user.id).map((p) => p.name);
  return others.length ? others.join(", ") : "Note to yourself";
}

/** The first words of a text, on one line. */
const beginning = (text: string): string => {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};
