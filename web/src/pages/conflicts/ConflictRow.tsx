import type { Conflict, User } from "../../api/records";
import { told } from "../../lib/conflict";
import { conflictKind, exact, moment, plural } from "../../lib/text";
import { Ago, Avatar, ConflictPill, SeverityPill } from "../../ui/bits";
import { Inline } from "../../ui/Markdown";
import { WorkRow } from "../../ui/RowTools";

/** The people on both sides, each once. */
function peopleIn(c: Conflict): User[] {
  return c.parties.flatMap((p) => p.user ?? []).filter((u, i, all) => all.findIndex((v) => v.id === u.id) === i);
}

function whoIn(c: Conflict): string {
  const names = peopleIn(c).map((u) => u.name.split(" ")[0]);
  const code = c.parties.filter((p) => !p.user).map((p) => `the code of ${p.repo.full_name}`);
  return code.length === 0 && names.length === 1 && c.parties.length > 1 ? `two agents of ${names[0]}` : [...names, ...code].join(" and ");
}

export function ConflictRow({ conflict: c, more = 0 }: { conflict: Conflict; more?: number }) {
  return (
    <WorkRow href={`/conflicts/${c.ref}`} name={c.ref}>
      <span className="duo" aria-hidden>
        {peopleIn(c).map((u) => (
          <Avatar key={u.id} user={u} size={26} />
        ))}
      </span>
      <span className="work-main">
        <span className="work-title">
          <b dir="auto" className="clip">
            {conflictKind[c.kind].name}: {whoIn(c)}
          </b>
          <span className="ref">{c.ref}</span>
        </span>
        <span className="work-text">
          <Inline text={told(c)} />
        </span>
        <span className="work-meta">
          <span>{c.repo.full_name}</span>
          {c.cross_repo && c.dependent_repo && <span>hits {c.dependent_repo.full_name}</span>}
          <span dir="auto">{c.parties.flatMap((p) => (p.intent ? `${p.intent.title ?? p.branch ?? ""} (${p.intent.ref})` : [])).join(" · ")}</span>
          {more > 0 && <span>and {plural(more, "more", "more")} between the same two</span>}
          {c.override_requested && c.status !== "overridden" && <span className="tone-block">override asked for</span>}
        </span>
      </span>
      <span className="work-side">
        <span className="wrap">
          <SeverityPill severity={c.severity} />
          <ConflictPill status={c.status} severity={c.severity} />
        </span>
        <span className="dim">
          {c.closed_at ? (
            <time dateTime={c.closed_at} title={exact(c.closed_at)}>
              {moment(c.closed_at)}
            </time>
          ) : (
            <Ago at={c.first_seen_at} />
          )}
        </span>
      </span>
    </WorkRow>
  );
}
