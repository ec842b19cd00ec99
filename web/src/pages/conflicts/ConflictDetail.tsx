import { IconBulb, IconGitBranch, IconHandStop, IconShieldCheck } from "@tabler/icons-react";
import { Link, useParams } from "wouter";
import type { Conflict, Evidence, Party } from "../../api/records";
import { useGet } from "../../lib/queries";
import { actionText, conflictKind } from "../../lib/text";
import { contractPath } from "../../lib/url";
import { Ago, Avatar, Code, ConflictPill, IntentPill, Pill, Ref, SeverityPill } from "../../ui/bits";
import { Inline } from "../../ui/Markdown";
import { Failed, Loading, Page, Section } from "../../ui/page";
import { Actions, Feedback } from "./ConflictActions";

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
  return (
    <Page
      title={`${c.ref} ${kind.name}`}
      wide
      sub={
        <span className="wrap">
          <SeverityPill severity={c.severity} />
          <ConflictPill status={c.status} />
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
                <Inline text={c.explanation} />
              </p>
            </div>
            {c.suggestion?.text && (
              <div className="callout">
                <IconBulb size={17} className="tone-warn" aria-hidden />
                <div>
                  <b>What to do</b>
                  <p>
                    <Inline text={c.suggestion.text} />
                  </p>
                </div>
              </div>
            )}
            <OverrideNote conflict={c} />
          </Section>
          <Section title="Both sides" sub={kind.means} pad={false}>
            <div className="sides">
              {sides.map((role) => (
                <Side key={role} role={role} party={c.parties.find((p) => p.role === role)} evidence={c.evidence.filter((e) => e.party === role)} breaks={c.kind === "contract_break"} />
              ))}
            </div>
          </Section>
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
          <b>{party?.user?.name ?? (party ? party.repo.full_name : "Nobody any more")}</b>
          {party?.intent && (
            <div className="wrap">
              <Ref to={party.intent.ref} />
              <Link href={`/intents/${party.intent.ref}`} className="plain-link">
                {party.intent.title ?? "Draft"}
              </Link>
              <IntentPill status={party.intent.status} />
            </div>
          )}
          {party?.branch && (
            <div className="dim wrap">
              <IconGitBranch size={13} aria-hidden />
              {party.branch}
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
      {e.detail && <div className="evidence-detail">{e.detail}</div>}
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
