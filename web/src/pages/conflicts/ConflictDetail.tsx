import "../../styles/sides.css";
import { Button } from "@mantine/core";
import { IconBulb, IconGitBranch, IconHandStop, IconShieldCheck, IconSortAscending } from "../../ui/icons.gen";
import { Link, useParams } from "wouter";
import { call } from "../../api/client";
import type { Conflict, Event, Evidence, Party } from "../../api/records";
import { adviceFor, isParty, orderOf, partOf, side, type Part } from "../../lib/advice";
import { outsideName, sideOf, told, whoOf } from "../../lib/conflict";
import { pullUrl } from "../../lib/githost";
import { useGet, useLiveIntents, useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { sentence } from "../../api/visible";
import { actionText, conflictKind, titleOf } from "../../lib/text";
import { contractPath } from "../../lib/url";
import { Ago, Avatar, Code, ConflictPill, IntentPill, Pill, Ref, SeverityPill } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Inline } from "../../ui/Markdown";
import { Failed, Loading, Page, Section } from "../../ui/page";
import { Actions, Feedback } from "./ConflictActions";
import { drawn, Rulers } from "./Ruler";

export function ConflictDetail() {
  const { ref } = useParams<{ ref: string }>();
  const conflict = useGet("conflict", "GET /v1/conflicts/{ref}", { path: { ref } });
  if (!conflict.data) {
    return <Page title={ref}>{conflict.isError ? <Failed error={conflict.error} retry={() => void conflict.refetch()} /> : <Loading />}</Page>;
  }
  return <Detail conflict={conflict.data} />;
}

function Detail({ conflict: c }: { conflict: Conflict }) {
  const kind = conflictKind[c.kind];
  const sides: Party["role"][] = ["holder", "challenger"];
  const me = useMe();
  const part = partOf(c, me.user.id, me.isAdmin);
  const repo = useRepos().data?.items.find((r) => r.id === c.repo.id);
  return (
    <Page
      title={`${c.ref} ${kind.name}`}
      wide
      sub={
        <span className="wrap">
          <SeverityPill severity={c.severity} />
          <ConflictPill status={c.status} severity={c.severity} />
          <span>
            {c.repo.full_name}
            {c.cross_repo && c.dependent_repo && ` → ${c.dependent_repo.full_name}`}
          </span>
          <Ago at={c.first_seen_at} prefix="seen " />
          {c.previous && (
            <span>
              came back from <Ref to={c.previous} />
            </span>
          )}
        </span>
      }
    >
      <div className="detail">
        <div>
          <Section pad={false}>
            <div className="callout">
              <p className="explanation">
                <Inline text={told(c)} />
              </p>
            </div>
            <div className="callout">
              <IconBulb size={17} className="tone-warn" aria-hidden />
              <div className="grow">
                <b>What to do</b>
                <p>{adviceFor(c, part)}</p>
              </div>
            </div>
            <SuggestedOrder conflict={c} part={part} />
            <OverrideNote conflict={c} />
          </Section>
          {drawn(c).length > 0 && (
            <Section title="Where they meet" sub={kind.means}>
              <Rulers conflict={c} repo={repo} />
            </Section>
          )}
          <Section title="Both sides" sub={drawn(c).length > 0 ? undefined : kind.means} pad={false}>
            <div className="sides">
              {sides.map((role) => (
                <Side key={role} role={role} party={c.parties.find((p) => p.role === role)} evidence={c.evidence.filter((e) => e.party === role)} breaks={c.kind === "contract_break"} />
              ))}
            </div>
          </Section>
          <Told conflict={c} />
          <Section title="What happened">
            <History conflict={c} />
          </Section>
        </div>
        <div>
          <Actions conflict={c} />
          <Feedback conflict={c} />
        </div>
      </div>
    </Page>
  );
}

/** Who goes first and who second, proposed with one click. */
function SuggestedOrder({ conflict: c, part }: { conflict: Conflict; part: Part }) {
  const landing = useGet("intents", "GET /v1/repos/{repo}/landing", { path: { repo: c.repo.full_name } }, { enabled: isParty(part) || part === "lead" });
  const steps = landing.data?.steps ?? [];
  const order = orderOf(c, steps);
  const why = steps.find((s) => s.intent?.ref === order?.first.intent?.ref && steps.some((o) => o.intent?.ref === order?.second.intent?.ref))?.reason;
  const began = useLiveIntents().data?.find((i) => i.ref === order?.first.intent?.ref)?.created_at;
  const may = part !== "onlooker" && (c.status === "open" || c.status === "acknowledged");
  const propose = useAction(() => call("POST /v1/conflicts/{ref}/actions", { path: { ref: c.ref }, body: { action: "propose_sequence", note: order?.note } }), { says: "Both sides are told.", stale: ["conflict", "conflicts", "attention"] });
  if (!order || ["resolved", "overridden", "stale"].includes(c.status)) return null;
  return (
    <div className="callout">
      <IconSortAscending size={17} className="tone-info" aria-hidden />
      <div className="grow">
        <b>Suggested order</b>
        <p>
          1. {sideOf(order.first)}
          {order.first === side(c, "holder") && <>, was there first{began && <> (began <Ago at={began} />)</>}</>}. 2. {sideOf(order.second)} rebases onto it.
        </p>
        {why && (
          <p className="dim">
            <Inline text={why} />
          </p>
        )}
      </div>
      {may && (
        <Button size="compact-sm" loading={propose.isPending} onClick={() => propose.mutate()}>
          Propose this order
        </Button>
      )}
    </div>
  );
}

/** What svc told the agents of either side before an edit, and when. */
function Told({ conflict: c }: { conflict: Conflict }) {
  const [a, b] = [c.parties[0]?.session_id, c.parties[1]?.session_id];
  const told = [useTold(a), useTold(b)];
  const rows = c.parties.flatMap((p, i) => (told[i] ?? []).filter((e) => e.occurred_at >= c.first_seen_at || refsIn(e).includes(c.ref)).map((e) => ({ who: call2(p), e })));
  if (rows.length === 0) return null;
  rows.sort((x, y) => y.e.occurred_at.localeCompare(x.e.occurred_at));
  return (
    <Section title="What each was told" sub="Before an edit, since this was seen." pad={false}>
      <ul className="rows">
        {rows.slice(0, 12).map(({ who, e }) => (
          <li key={e.id} className="row-item">
            <span className={`happening-dot mark-${e.type === "hook.blocked" ? "block" : "warn"}`} aria-hidden />
            <span className="grow" dir="auto">
              <b>{who}</b> {e.type === "hook.blocked" ? "was stopped before an edit" : "was warned before an edit"}
              {refsIn(e).length > 0 && ` because of ${refsIn(e).join(", ")}`}
            </span>
            <span className="dim">
              <Ago at={e.occurred_at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const call2 = (p: Party): string => (p.user ? `${p.user.name}'s agent` : "An agent");
const refsIn = (e: Event): string[] => {
  const refs = (e.payload as Record<string, unknown> | null)?.["refs"];
  return Array.isArray(refs) ? refs.filter((r): r is string => typeof r === "string") : [];
};
const useTold = (session: string | null | undefined): Event[] => useGet("events", "GET /v1/events", { query: { subject: session ?? "", type: "hook.blocked,hook.warned", limit: 20 } }, { enabled: Boolean(session) }).data?.items ?? [];

function OverrideNote({ conflict: c }: { conflict: Conflict }) {
  if (c.override) {
    return (
      <div className="callout">
        <IconShieldCheck size={17} className="tone-info" aria-hidden />
        <div>
          <b>{c.override.by.name} lets both sides go on</b> <span className="dim"><Ago at={c.override.at} /></span>
          {c.override.reason && <p>{c.override.reason}</p>}
        </div>
      </div>
    );
  }
  if (!c.override_requested) return null;
  return (
    <div className="callout">
      <IconHandStop size={17} className="tone-block" aria-hidden />
      <div>
        <b>{c.override_requested.by.name} asks for an override</b> <span className="dim"><Ago at={c.override_requested.at} /></span>
        {c.override_requested.note && <p>{c.override_requested.note}</p>}
      </div>
    </div>
  );
}

function Side({ role, party, evidence, breaks }: { role: Party["role"]; party: Party | undefined; evidence: Evidence[]; breaks: boolean }) {
  const roleText = role === "holder" ? (breaks ? "Depends on it" : "Was there first") : breaks ? "Changes it" : "Came second";
  return (
    <div className="party" data-party={role}>
      <div className="party-role">{roleText}</div>
      <div className="party-head">
        <Avatar user={party?.user ?? null} size={30} />
        <div className="grow">
          <b dir="auto">{party ? whoOf(party) : "Nobody any more"}</b>
          {party?.outside && (
            <div className="wrap">
              <a href={party.outside.url} target="_blank" rel="noreferrer">
                {outsideName(party.outside)}
              </a>
              <span className="dim">without svc</span>
            </div>
          )}
          {party?.intent && (
            <div className="wrap">
              <Link href={`/intents/${party.intent.ref}`} className="plain-link" dir="auto">
                {titleOf({ ...party.intent, branch: party.branch })}
              </Link>
              <Ref to={party.intent.ref} />
              <IntentPill status={party.intent.status} />
            </div>
          )}
          {party?.branch && (
            <div className="dim wrap">
              <IconGitBranch size={13} aria-hidden />
              {party.branch}
              <PullLink party={party} />
            </div>
          )}
        </div>
      </div>
      {evidence.length === 0 && <p className="dim">No evidence on this side.</p>}
      {evidence.map((e, i) => (
        <EvidenceCard key={i} evidence={e} repo={party?.repo.full_name ?? ""} />
      ))}
    </div>
  );
}

/** The pull request of a side, at the git host. */
function PullLink({ party: p }: { party: Party }) {
  const repo = useRepos().data?.items.find((r) => r.id === p.repo.id);
  const intent = useLiveIntents().data?.find((i) => i.ref === p.intent?.ref);
  if (!intent?.pr_number) return null;
  const url = pullUrl(repo, intent.pr_number);
  return url ? (
    <a href={url} target="_blank" rel="noreferrer noopener">
      #{intent.pr_number}
    </a>
  ) : (
    <span>#{intent.pr_number}</span>
  );
}

const via: Record<Evidence["via"], string> = { claim: "claims", change: "changed", reference: "uses", contract: "contract" };

function EvidenceCard({ evidence: e, repo }: { evidence: Evidence; repo: string }) {
  const what = e.contract ?? e.symbol ?? e.path ?? e.selector;
  return (
    <div className="evidence">
      <div className="evidence-head">
        <Pill tone={e.via === "change" ? "warn" : "quiet"}>{via[e.via]}</Pill>
        {e.contract ? (
          <Link href={contractPath(e.contract, repo)}>
            <Code>{e.contract}</Code>
          </Link>
        ) : (
          <Code>{what}</Code>
        )}
        {e.lines && <span className="dim">{e.lines.start === e.lines.end ? `line ${e.lines.start}` : `lines ${e.lines.start}–${e.lines.end}`}</span>}
        {e.path && e.path !== what && <span className="dim clip">{e.path}</span>}
      </div>
      {e.detail && <div className="evidence-detail">{sentence(e.detail)}</div>}
      {e.before && (
        <pre className="sig sig-before">
          <span aria-label="before">−</span>
          <span>{e.before}</span>
        </pre>
      )}
      {e.after && (
        <pre className="sig sig-after">
          <span aria-label="after">+</span>
          <span>{e.after}</span>
        </pre>
      )}
    </div>
  );
}

function History({ conflict: c }: { conflict: Conflict }) {
  const moments = [
    { at: c.first_seen_at, who: "svc", did: "saw the collision", note: null as string | null, agent: false },
    ...c.actions.map((a) => ({ at: a.at, who: a.by.name, did: actionText[a.action].past, note: a.note, agent: a.session_id !== null })),
    ...(c.override ? [{ at: c.override.at, who: c.override.by.name, did: "overrode it", note: c.override.reason, agent: false }] : []),
    ...(c.closed_at && !c.override ? [{ at: c.closed_at, who: "svc", did: c.resolution ? `closed it as ${c.resolution.replaceAll("_", " ")}` : `closed it as ${c.status}`, note: null, agent: false }] : []),
  ].sort((a, b) => b.at.localeCompare(a.at));
  return (
    <ol className="timeline rows-plain">
      {moments.map((m, i) => (
        <li key={i} className="moment">
          <span className="moment-dot" aria-hidden />
          <div className="grow">
            <b>{m.who}</b>
            {m.agent && <span className="dim">'s agent</span>} {m.did} <span className="dim"><Ago at={m.at} /></span>
            {m.note && <div className="moment-note">{m.note}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
