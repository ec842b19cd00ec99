import { useGet, useMembers } from "../../lib/queries";
import { Ago } from "../../ui/bits";
import { Load } from "../../ui/page";
import { sentence } from "../../lib/events";

/** What happened to one record, newest first. */
export function Timeline({ subject }: { subject: string }) {
  const events = useGet("events", "GET /v1/events", { query: { subject, limit: 100 } });
  const members = useMembers();
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
                  <b>{members.data?.items.find((m) => m.id === e.actor.id)?.name ?? (e.actor.kind === "session" ? "An agent" : "svc")}</b> {sentence(e)} <span className="dim"><Ago at={e.occurred_at} /></span>
                </div>
              </li>
            ))}
          </ol>
        )
      }
    </Load>
  );
}
