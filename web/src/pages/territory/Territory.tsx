// The repository as a map: area by what is done there, heat by collisions,
// initials where somebody works now.
import { Select } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconFile, IconFolder } from "../../ui/icons.gen";
import { useMemo } from "react";
import { Link } from "wouter";
import { stateText, type Agent } from "../../lib/agents";
import { useGet, useRepos } from "../../lib/queries";
import { plural } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Ago, Avatar, IntentPill } from "../../ui/bits";
import { Empty, Load } from "../../ui/page";
import { Boxes } from "./Boxes";
import { folderAt, spread, treeOf, type Folder, type Spot } from "./treemap";

const height = 420;

export function Territory({ agents, repo, setRepo }: { agents: Agent[]; repo: string; setRepo: (r: string | null) => void }) {
  const repos = useRepos();
  const names = (repos.data?.items ?? []).map((r) => r.full_name);
  // Without a choice, where most agents are.
  const busiest = names.toSorted((a, b) => agents.filter((x) => x.session.repo.full_name === b).length - agents.filter((x) => x.session.repo.full_name === a).length)[0];
  const name = repo || busiest;
  if (!name) return <Empty icon={<IconFolder size={22} stroke={1.5} />} title="No repo is known yet" />;
  return (
    <div className="territory">
      <div className="view-head">
        <Select size="xs" w={240} aria-label="Territory of" allowDeselect={false} searchable value={name} onChange={setRepo} data={names} />
        <span className="dim">Area by work of 30 days, colour by collisions, initials who is there now.</span>
      </div>
      <Mapped key={name} repo={name} agents={agents.filter((a) => a.session.repo.full_name === name)} />
    </div>
  );
}

function Mapped({ repo, agents }: { repo: string; agents: Agent[] }) {
  const territory = useGet("territory", "GET /v1/territory", { query: { repo } }, { staleTime: 60_000 });
  const [path, setPath] = useFilter("folder");
  return (
    <Load query={territory}>
      {(t) => <Map repo={repo} spots={t.items} agents={agents} path={path} setPath={setPath} />}
    </Load>
  );
}

/** Where an agent is: the file it is in, else what its intent claims. */
const placesOf = (a: Agent): string[] => (a.file ? [a.file] : (a.intent?.scope.paths ?? []));
const under = (folder: string, path: string): boolean => folder === "" || path === folder || path.startsWith(folder + "/");

function Map({ repo, spots, agents, path, setPath }: { repo: string; spots: Spot[]; agents: Agent[]; path: string; setPath: (p: string | null) => void }) {
  const { ref, width } = useElementSize();
  const root = useMemo(() => treeOf(spots), [spots]);
  const here = folderAt(root, path);
  const list = useMemo(() => spread(here), [here]);
  const at = (f: Folder) => agents.filter((a) => placesOf(a).some((p) => under(f.path, p)));
  const narrow = width > 0 && width < 560;
  if (spots.length === 0) return <Empty icon={<IconFolder size={22} stroke={1.5} />} title="Nothing was done here in 30 days">Folders appear as agents claim or change them.</Empty>;
  return (
    <div ref={ref}>
      <nav className="crumbs territory-crumbs" aria-label="Folder">
        <button type="button" className="crumb" onClick={() => setPath(null)} aria-current={here.path === "" ? "page" : undefined}>
          {repo}
        </button>
        {here.path.split("/").filter(Boolean).map((part, i, all) => (
          <button key={i} type="button" className="crumb" onClick={() => setPath(all.slice(0, i + 1).join("/"))} aria-current={i === all.length - 1 ? "page" : undefined}>
            / {part}
          </button>
        ))}
      </nav>
      {!narrow && list.length > 0 && (
        <Boxes list={list} at={at} width={width} height={height} label={`Folders of ${here.path || repo}; the list below says the same`} open={setPath} />
      )}
      <ul className="rows territory-list" aria-label="Folders">
        {list.slice(0, narrow ? 200 : 12).map((f) => {
          const who = at(f);
          return (
            <li key={f.path} className="row-item">
              {f.isFile ? <IconFile size={15} aria-hidden /> : <IconFolder size={15} aria-hidden />}
              <button type="button" className="grow crumb clip" onClick={() => setPath(f.path)}>
                {f.name}
              </button>
              <span className="treemap-who">
                {who.slice(0, 6).map((a) => (
                  <Avatar key={a.id} user={a.user} size={18} />
                ))}
              </span>
              <span className="dim nowrap">{plural(f.touched, "piece")} of work</span>
              <span className={f.collided ? "tone-block nowrap" : "dim nowrap"}>{plural(f.collided, "collision")}</span>
            </li>
          );
        })}
      </ul>
      <Inside repo={repo} folder={here.path} agents={at(here)} />
    </div>
  );
}

/** Who and what is in a folder now, and what happened there. */
function Inside({ repo, folder, agents }: { repo: string; folder: string; agents: Agent[] }) {
  const conflicts = useGet("conflicts", "GET /v1/conflicts", { query: { repo, limit: 200 } });
  const intents = useGet("intents", "GET /v1/intents", { query: { repo, limit: 200 } });
  const hits = (conflicts.data?.items ?? []).filter((c) => c.evidence.some((e) => e.path && under(folder, e.path)));
  const works = (intents.data?.items ?? []).filter((i) => i.scope.paths.some((p) => under(folder, p)));
  const live = works.filter((i) => !i.closed_at);
  const past = works.filter((i) => i.closed_at).slice(0, 8);
  return (
    <div className="territory-inside">
      <section>
        <h3>Here now</h3>
        {agents.length === 0 && <p className="dim">No agent.</p>}
        <ul className="rows-plain">
          {agents.slice(0, 12).map((a) => (
            <li key={a.id} className="wrap">
              <Avatar user={a.user} size={18} />
              <Link href={`/agents/${a.id}`} className="clip" dir="auto">
                {a.user.name}
              </Link>
              <span className={`tone-${stateText[a.state].tone}`}>{stateText[a.state].name.toLowerCase()}</span>
              <span className="dim clip">{placesOf(a)[0]}</span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>Claims</h3>
        {intents.data && live.length === 0 && <p className="dim">Nobody claims anything here.</p>}
        <ul className="rows-plain">
          {live.slice(0, 8).map((i) => (
            <li key={i.id} className="wrap">
              <Link href={`/intents/${i.ref}`} className="clip" dir="auto">
                {i.ref} {i.title}
              </Link>
              <IntentPill status={i.status} />
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>Conflicts</h3>
        {conflicts.data && hits.length === 0 && <p className="dim">None.</p>}
        <ul className="rows-plain">
          {hits.slice(0, 8).map((c) => (
            <li key={c.id} className="wrap">
              <Link href={`/conflicts/${c.ref}`}>{c.ref}</Link>
              <span className="dim">
                {c.severity}, {c.status} <Ago at={c.first_seen_at} />
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>History</h3>
        {intents.data && past.length === 0 && <p className="dim">Nothing was finished here yet.</p>}
        <ul className="rows-plain">
          {past.map((i) => (
            <li key={i.id} className="wrap">
              <Link href={`/intents/${i.ref}`} className="clip" dir="auto">
                {i.ref} {i.title}
              </Link>
              <span className="dim">
                {i.outcome ?? i.status} <Ago at={i.closed_at ?? i.updated_at} />
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
