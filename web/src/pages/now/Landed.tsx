// What merged in the last hours, and who has to rebase because of it.
import { useState } from "react";
import { Link } from "wouter";
import { serverNow } from "../../api/client";
import type { Conflict } from "../../api/records";
import { whoOf, workOf } from "../../lib/conflict";
import { useGet, useLiveConflicts } from "../../lib/queries";
import { plural, shortRepo, titleOf } from "../../lib/text";
import { Ago, Avatar } from "../../ui/bits";
import { IconGitMerge } from "../../ui/icons.gen";

const hours = 8;
const most = 6; // that are listed

export function Landed() {
  const [since] = useState(() => new Date(serverNow() - hours * 3_600_000).toISOString());
  const merged = useGet("landed", "GET /v1/intents", { query: { status: "merged", changed_since: since, limit: 100 } });
  const conflicts = useLiveConflicts().data ?? [];
  const list = (merged.data?.items ?? []).filter((i) => i.closed_at && i.closed_at >= since).sort((a, b) => (a.closed_at! < b.closed_at! ? 1 : -1));
  if (list.length === 0) return null;
  return (
    <section className="card" aria-label="Landed">
      <div className="card-head">
        <h2 className="grow">
          Landed in {hours} hours<span className="count-badge">{list.length}</span>
        </h2>
      </div>
      <ul className="landed">
        {list.slice(0, most).map((i) => (
          <li key={i.id}>
            <IconGitMerge size={14} className="tone-good" aria-hidden />
            <div className="grow clip">
              <Link href={`/intents/${i.ref}`} className="plain-link" dir="auto">
                {titleOf(i)}
              </Link>
              <div className="dim clip">
                <Avatar user={i.owner} size={14} /> {i.owner.name}, {shortRepo(i.repo.full_name)} <Ago at={i.closed_at!} />
              </div>
              <Behind conflicts={conflicts.filter((c) => c.kind === "rebase_needed" && c.parties.some((p) => p.role === "holder" && p.intent?.ref === i.ref))} />
            </div>
          </li>
        ))}
      </ul>
      {list.length > most && (
        <div className="landed-more">
          <Link href="/intents?status=merged,abandoned,expired">And {list.length - most} more</Link>
        </div>
      )}
    </section>
  );
}

/** Whose work stands on what was there before. */
function Behind({ conflicts }: { conflicts: Conflict[] }) {
  const sides = conflicts.flatMap((c) => c.parties.filter((p) => p.role === "challenger").map((p) => ({ p, ref: c.ref })));
  if (sides.length === 0) return null;
  return (
    <div className="tone-warn">
      {plural(sides.length, "has", "have")} to rebase:{" "}
      {sides.map(({ p, ref }, n) => (
        <span key={ref}>
          {n > 0 && ", "}
          <Link href={`/conflicts/${ref}`} title={workOf(p)}>
            {whoOf(p)}
          </Link>
        </span>
      ))}
    </div>
  );
}
