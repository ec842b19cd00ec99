import { IconFileCode } from "../../ui/icons.gen";
import { Link } from "wouter";
import type { ContractRecord } from "../../api/records";
import { useGet } from "../../lib/queries";
import { plural, titleOf } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Ago, Code, IntentPill, Person, Pill } from "../../ui/bits";
import { RepoFilter } from "../../ui/Filters";
import { Empty, Load, Page, Section } from "../../ui/page";

const compatTone = { compatible: "good", breaking: "block", unknown: "warn" } as const;
const level = { unused: "quiet", low: "quiet", medium: "info", high: "warn" } as const;

export function ContractDetail() {
  const [key] = useFilter("key");
  const [repo, setRepo] = useFilter("repo");
  const picture = useGet("contracts", "GET /v1/contracts/lookup", { query: { key, repo } }, { enabled: key !== "" && repo !== "" });
  return (
    <Page title={key.replace(/^\w+:/, "") || "Contracts"} sub={key && <Code>{key}</Code>}>
      {!repo || !key ? (
        <Section pad={false}>
          <Empty icon={<IconFileCode size={22} stroke={1.5} />} title="From which repo?">
            <RepoFilter value={repo} onChange={setRepo} />
          </Empty>
        </Section>
      ) : (
        <Load query={picture}>
          {(p) =>
            p.contracts.length === 0 ? (
              <Section pad={false}>
                <Empty icon={<IconFileCode size={22} stroke={1.5} />} title="Nobody is known to provide or use this">
                  Contracts are learned from what agents edit.
                </Empty>
              </Section>
            ) : (
              <>
                {p.contracts.map((c) => (
                  <Contract key={c.key} contract={c} />
                ))}
                <p className="dim fine">{p.limits.join(" ")}</p>
              </>
            )
          }
        </Load>
      )}
    </Page>
  );
}

function Contract({ contract: c }: { contract: ContractRecord }) {
  return (
    <div className="detail">
      <div>
        {c.signature && (
          <Section title="Signature">
            <pre className="plain-pre" tabIndex={0}>
              {c.signature}
            </pre>
          </Section>
        )}
        <Section title="Changes in flight" pad={false}>
          {c.in_flight.length === 0 ? <Empty title="Nobody is changing it" /> : c.in_flight.map((f, i) => <Change key={i} change={f} />)}
        </Section>
      </div>
      <Section title="Who">
        <dl className="facts">
          <dt>Provided by</dt>
          <dd>
            <Places list={c.providers} />
          </dd>
          <dt>Used by</dt>
          <dd>
            <Places list={c.users} />
          </dd>
          <dt>Weight</dt>
          <dd>
            <Pill tone={level[c.criticality.level]}>{c.criticality.level}</Pill>
            <span className="dim">
              {plural(c.criticality.users, "user")} in {plural(c.criticality.repos, "repo")}
            </span>
          </dd>
          {c.criticality.changed_by && (
            <>
              <dt>Last changed by</dt>
              <dd>
                <Person user={c.criticality.changed_by} />
              </dd>
            </>
          )}
        </dl>
      </Section>
    </div>
  );
}

function Places({ list }: { list: ContractRecord["users"] }) {
  if (list.length === 0) return <>nobody known</>;
  return (
    <ul>
      {list.slice(0, 12).map((p, i) => (
        <li key={i}>
          <Link href={`/repos/${p.repo.full_name}`}>{p.repo.full_name}</Link>
          <div className="dim">
            {p.path}
            {p.line > 0 && `:${p.line}`}
          </div>
        </li>
      ))}
      {list.length > 12 && <li className="dim">and {list.length - 12} more</li>}
    </ul>
  );
}

function Change({ change: f }: { change: ContractRecord["in_flight"][number] }) {
  return (
    <div className="work-row">
      <span className="work-main">
        <span className="work-title">
          {f.intent && (
            <Link href={`/intents/${f.intent.ref}`}>
              {titleOf(f.intent)} <span className="ref">{f.intent.ref}</span>
            </Link>
          )}
        </span>
        <span className="work-meta">
          {f.by && <span>{f.by.name}</span>}
          <span>{f.repo.full_name}</span>
          <span>{f.path}</span>
          {f.detail && <span>{f.detail}</span>}
          <Ago at={f.since} />
        </span>
        {f.before && <pre className="sig sig-before"><span aria-label="before">−</span><span>{f.before}</span></pre>}
        {f.after && <pre className="sig sig-after"><span aria-label="after">+</span><span>{f.after}</span></pre>}
      </span>
      <span className="work-side">
        <Pill tone={compatTone[f.compatibility]}>{f.compatibility}</Pill>
        {f.intent && <IntentPill status={f.intent.status} />}
      </span>
    </div>
  );
}
