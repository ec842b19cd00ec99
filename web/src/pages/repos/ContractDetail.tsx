import "../../styles/sides.css";
import { Button } from "@mantine/core";
import { IconFileCode } from "../../ui/icons.gen";
import { useState } from "react";
import { Link } from "wouter";
import type { ContractRecord, User } from "../../api/records";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { plural, titleOf } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Ago, Code, IntentPill, Person, Pill, type Tone } from "../../ui/bits";
import { RepoFilter } from "../../ui/Filters";
import { Empty, Load, Page, Section } from "../../ui/page";
import { Compose } from "../messages/Compose";

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
                  <Contract key={c.key} contract={c} repo={p.repo.full_name} />
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

function Contract({ contract: c, repo }: { contract: ContractRecord; repo: string }) {
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
        <Impact contract={c} repo={repo} />
      </div>
      <Section title="Who">
        <dl className="facts">
          <dt>Provided by</dt>
          <dd>
            <Places list={c.providers} />
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

type Use = ContractRecord["users"][number];

/** How a place stands to what becomes of the contract, the worst first. */
const states: Record<Use["state"], { tone: Tone; name: string; many: string }> = {
  fails: { tone: "block", name: "fails", many: "fail" },
  may_fail: { tone: "warn", name: "may fail", many: "may fail" },
  moving: { tone: "info", name: "on its way", many: "on their way" },
  uses: { tone: "quiet", name: "uses it", many: "use it" },
  fits: { tone: "good", name: "goes on to work", many: "go on to work" },
  moved: { tone: "good", name: "moved on", many: "moved on" },
};
const order = Object.keys(states) as Use["state"][];

/** Who uses a contract, who answers for that, who has moved on, and one message to all who have not. */
function Impact({ contract: c, repo }: { contract: ContractRecord; repo: string }) {
  const me = useMe();
  const [writing, setWriting] = useState(false);
  const [all, setAll] = useState(false);
  const uses = [...c.users].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const people = new Map<string, User>();
  for (const u of [...uses.filter((u) => u.state !== "moved").map((u) => u.owner), ...c.in_flight.filter((f) => f.role === "uses" && f.change !== "removed").map((f) => f.by)]) {
    if (u && u.id !== me.user.id) people.set(u.id, u);
  }
  const counts = order.map((s) => [s, uses.filter((u) => u.state === s).length] as const).filter(([, n]) => n > 0);
  const shown = all ? uses : uses.slice(0, 20);
  return (
    <Section
      title="Who uses it"
      sub={counts.map(([s, n]) => `${n} ${n === 1 ? states[s].name : states[s].many}`).join(", ")}
      pad={false}
      actions={
        people.size > 0 && (
          <Button size="compact-sm" variant="default" onClick={() => setWriting(true)}>
            {people.size === 1 ? `Message ${[...people.values()][0]!.name}` : `Message all ${people.size}`}
          </Button>
        )
      }
    >
      {uses.length === 0 && <Empty title="Nobody is known to use it" />}
      {shown.map((u) => (
        <UseRow key={`${u.repo.id} ${u.path} ${u.line}`} use={u} />
      ))}
      {uses.length > shown.length && (
        <div className="work-row">
          <Button size="compact-sm" variant="subtle" onClick={() => setAll(true)}>
            Show the other {uses.length - shown.length}
          </Button>
        </div>
      )}
      {writing && <Compose to={`contract:${repo}#${c.key}`} name={[...people.values()].map((p) => p.name).join(", ")} onClose={() => setWriting(false)} onSent={() => setWriting(false)} />}
    </Section>
  );
}

function UseRow({ use: u }: { use: Use }) {
  return (
    <div className="work-row">
      <span className="work-main">
        <span className="work-title">
          <Link href={`/repos/${u.repo.full_name}`}>{u.repo.full_name}</Link>
        </span>
        <span className="work-meta">
          <span className="dim">
            {u.path}
            {u.line > 0 && `:${u.line}`}
          </span>
          {u.probable && <span>probably this one</span>}
          {u.by && u.by.id !== u.owner?.id && <span>{u.by.name}</span>}
          {u.intent && (
            <Link href={`/intents/${u.intent.ref}`}>
              {titleOf(u.intent)} <span className="ref">{u.intent.ref}</span>
            </Link>
          )}
          {u.since && <Ago at={u.since} />}
        </span>
      </span>
      <span className="work-side">
        <Pill tone={states[u.state].tone}>{states[u.state].name}</Pill>
        {u.owner ? <Person user={u.owner} size={18} /> : <span className="dim">nobody known answers for it</span>}
      </span>
    </div>
  );
}

function Places({ list }: { list: ContractRecord["providers"] }) {
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
