import "../../styles/sides.css";
import { useGet, useLiveSessions, useMembers } from "../../lib/queries";
import { toolName } from "../../lib/text";
import { Ago } from "../../ui/bits";
import { Load } from "../../ui/page";
import { sentence } from "../../lib/events";

/** What happened to one record, newest first. */
export function Timeline({ subject }: { subject: string }) {
  const events = useGet("events", "GET /v1/events", { query: { subject, limit: 100 } });
  const members = useMembers();
  const sessions = useLiveSessions();
  const name = (actor: { kind: string; id: string }): string => {
    const person = members.data?.items.find((m) => m.id === actor.id)?.name;
    if (person) return person;
    const session = sessions.data?.find((s) => s.id === actor.id);
    return session ? `${session.user.name}'s ${toolName(session.tool)}` : actor.kind === "session" ? "An agent" : "svc";
  };
  return (
    <Load query={events}>
      {(page) =>
        page.items.length === 0 ? (
          <p className="dim">Nothing has been logged about it yet.</p>
        ) : (
          <ol className="timeline rows-plain">
            {page.items.map((e) => (
              <li key={e.id} className="moment">
                <span className="moment-dot" aria-hidden />
                <div className="grow">
                  <b>{name(e.actor)}</b> {sentence(e)} <span className="dim"><Ago at={e.occurred_at} /></span>
                </div>
              </li>
            ))}
          </ol>
        )
      }
    </Load>
  );
}
