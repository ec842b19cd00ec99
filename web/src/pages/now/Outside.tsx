// Work of people who do not use svc, as their git host shows it.
import type { Branch } from "../../api/records";
import { outsideName } from "../../lib/conflict";
import { plural, shortRepo } from "../../lib/text";
import { Ago } from "../../ui/bits";
import { IconGitBranch } from "../../ui/icons.gen";

const most = 6; // that are listed

export function Outside({ list }: { list: Branch[] }) {
  return (
    <section className="card" aria-label="Without svc">
      <div className="card-head">
        <h2 className="grow">
          Without svc<span className="count-badge">{list.length}</span>
        </h2>
      </div>
      <ul className="landed">
        {list.slice(0, most).map((b) => (
          <li key={b.id}>
            <IconGitBranch size={14} className="dim" aria-hidden />
            <div className="grow clip">
              <a href={b.outside.url} target="_blank" rel="noreferrer" className="plain-link" dir="auto">
                {outsideName(b.outside)} {b.branch}
              </a>
              <div className="dim clip">
                {b.outside.author}, {shortRepo(b.repo.full_name)}, {plural(b.files, "file")} <Ago at={b.pushed_at} />
              </div>
            </div>
          </li>
        ))}
      </ul>
      {list.length > most && <div className="landed-more dim">And {list.length - most} more</div>}
    </section>
  );
}
