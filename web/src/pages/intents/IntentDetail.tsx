import { Button, Menu } from "@mantine/core";
import { IconChevronDown, IconExternalLink, IconGitBranch, IconGitPullRequest, IconMessage, IconTransfer } from "../../ui/icons.gen";
import { useState } from "react";
import { Link, useParams } from "wouter";
import type { Claim, Intent } from "../../api/records";
import { pullUrl } from "../../lib/githost";
import { useGet, useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { titleOf } from "../../lib/text";
import { contractPath } from "../../lib/url";
import { Ago, Code, IntentPill, Person, Pill, Ref } from "../../ui/bits";
import { Markdown } from "../../ui/Markdown";
import { Failed, Load, Loading, Page, Section } from "../../ui/page";
import { ConflictRow } from "../conflicts/ConflictRow";
import { Compose } from "../messages/Compose";
import { EditDialog } from "./EditDialog";
import { CloseDialog, HandoffDialog } from "./IntentDialogs";
import { Timeline } from "./Timeline";

const live = ["draft", "active", "blocked", "in_review"];

export function IntentDetail() {
  const { ref } = useParams<{ ref: string }>();
  const intent = useGet("intent", "GET /v1/intents/{ref}", { path: { ref } });
  if (!intent.data) {
    return <Page title={ref}>{intent.isError ? <Failed error={intent.error} retry={() => void intent.refetch()} /> : <Loading />}</Page>;
  }
  return <Detail intent={intent.data} />;
}

function Detail({ intent: i }: { intent: Intent }) {
  const me = useMe();
  const [dialog, setDialog] = useState<"edit" | "merged" | "abandoned" | "handoff" | "take" | "message" | null>(null);
  const may = live.includes(i.status) && (me.isAdmin || i.owner.id === me.user.id);
  const maySpeak = live.includes(i.status) && i.owner.id !== me.user.id;
  const close = () => setDialog(null);
  return (
    <Page
      title={titleOf(i)}
      written
      sub={
        <span className="wrap">
          <span className="ref">{i.ref}</span>
          <IntentPill status={i.status} />
          {i.effective_mode !== "shared" && <Pill tone="warn">{i.effective_mode}</Pill>}
          <span>
            {i.owner.name} in <Link href={`/repos/${i.repo.full_name}`}>{i.repo.full_name}</Link>
          </span>
          <Ago at={i.last_activity_at} prefix="active " />
        </span>
      }
      actions={
        <>
          {maySpeak && (
            <Button variant="default" leftSection={<IconMessage size={14} />} onClick={() => setDialog("message")}>
              Message
            </Button>
          )}
          {may && i.owner.id !== me.user.id && (
            <Button variant="default" onClick={() => setDialog("take")}>
              Take over
            </Button>
          )}
          {may && (
          <>
            <Button variant="default" onClick={() => setDialog("edit")}>
              Edit
            </Button>
            <Button variant="default" leftSection={<IconTransfer size={14} />} onClick={() => setDialog("handoff")}>
              Hand off
            </Button>
            <Menu position="bottom-end">
              <Menu.Target>
                <Button rightSection={<IconChevronDown size={14} />}>Close</Button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setDialog("merged")}>It is merged</Menu.Item>
                <Menu.Item onClick={() => setDialog("abandoned")}>Abandon it</Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </>
          )}
        </>
      }
    >
      <div className="detail">
        <div>
          <IntentConflicts intent={i} />
          {i.summary && (
            <Section title="Summary">
              <Markdown text={i.summary} />
            </Section>
          )}
          <Section title="Claims" sub="Declared ones come from the scope; observed ones from what the agent really edits.">
            <Claims claims={i.claims} repo={i.repo.full_name} />
            {i.mode_note && <p className="dim mode-note">{i.mode_note}</p>}
          </Section>
          {i.plan_md && (
            <Section title="Plan">
              <Markdown text={i.plan_md} />
            </Section>
          )}
          <Section title="Timeline">
            <Timeline subject={i.id} />
          </Section>
        </div>
        <IntentFacts intent={i} />
      </div>
      {dialog === "message" && <Compose to={`intent:${i.ref}`} name={`${i.owner.name}, ${i.ref}`} onClose={close} onSent={close} />}
      {dialog === "edit" && <EditDialog intent={i} onClose={close} />}
      {dialog === "handoff" && <HandoffDialog intent={i} onClose={close} />}
      {dialog === "take" && <HandoffDialog intent={i} to={me.user} onClose={close} />}
      {(dialog === "merged" || dialog === "abandoned") && <CloseDialog intent={i} outcome={dialog} onClose={close} />}
    </Page>
  );
}

function IntentConflicts({ intent }: { intent: Intent }) {
  const conflicts = useGet("conflicts", "GET /v1/conflicts", { query: { intent: intent.ref, limit: 50 } });
  return (
    <Load query={conflicts}>
      {(page) =>
        page.items.length > 0 && (
          <Section title="Conflicts" pad={false}>
            {page.items.map((c) => (
              <ConflictRow key={c.id} conflict={c} />
            ))}
          </Section>
        )
      }
    </Load>
  );
}

function Claims({ claims, repo }: { claims: Claim[]; repo: string }) {
  if (claims.length === 0) return <p className="dim">It claims nothing, so nobody is warned about it. Add a scope with Edit.</p>;
  return (
    <ul className="claims">
      {claims.map((c) => (
        <li key={c.kind + c.selector} className="claim">
          <Pill tone={c.kind === "contract" ? "accent" : c.kind === "symbol" ? "info" : "quiet"}>{c.kind}</Pill>
          {c.kind === "contract" ? (
            <Link href={contractPath(c.selector, repo)} className="clip">
              <Code>{c.selector}</Code>
            </Link>
          ) : (
            <span className="clip" title={c.selector}>
              <Code>{c.selector}</Code>
            </span>
          )}
          {c.mode === "exclusive" && <Pill tone="warn">exclusive</Pill>}
          {c.source === "observed" && <span className="dim">observed</span>}
        </li>
      ))}
    </ul>
  );
}

function IntentFacts({ intent: i }: { intent: Intent }) {
  return (
    <Section title="Facts">
      <dl className="facts">
        <dt>Owner</dt>
        <dd>
          <Person user={i.owner} />
        </dd>
        {i.handoff && (
          <>
            <dt>Handed off</dt>
            <dd>
              by {i.handoff.from.name} <Ago at={i.handoff.created_at} />
              {!i.handoff.adopted_at && <Pill tone="warn">not adopted yet</Pill>}
            </dd>
          </>
        )}
        {i.branch && (
          <>
            <dt>Branch</dt>
            <dd>
              <IconGitBranch size={14} aria-hidden />
              <Code>{i.branch}</Code>
            </dd>
          </>
        )}
        {i.pr_number !== null && (
          <>
            <dt>Pull request</dt>
            <dd>
              <IconGitPullRequest size={14} aria-hidden />
              <PullRequest intent={i} />
            </dd>
          </>
        )}
        {i.external_ref && (
          <>
            <dt>Ticket</dt>
            <dd>
              <Ticket {...i.external_ref} />
            </dd>
          </>
        )}
        {i.depends_on.length > 0 && (
          <>
            <dt>Depends on</dt>
            <dd>
              {i.depends_on.map((d) => (
                <Ref key={d} to={d} />
              ))}
            </dd>
          </>
        )}
        {i.leases.length > 0 && (
          <>
            <dt>Leases</dt>
            <dd>
              {i.leases.map((l) => (
                <span key={l.asked}>
                  <Code>{l.resource ?? l.asked}</Code>
                  {!l.resource && <span className="dim">waits: {l.note}</span>}
                </span>
              ))}
            </dd>
          </>
        )}
        {i.blocked_by.length > 0 && (
          <>
            <dt>Waits for</dt>
            <dd>
              {i.blocked_by.map((b) => (
                <Ref key={b.ref} to={b.ref} />
              ))}
            </dd>
          </>
        )}
        <dt>Mode</dt>
        <dd>
          {i.effective_mode}
          {i.mode !== i.effective_mode && <span className="dim">asked for {i.mode}</span>}
        </dd>
        <dt>Declared</dt>
        <dd>
          <Ago at={i.created_at} />
        </dd>
        {i.closed_at && (
          <>
            <dt>Closed</dt>
            <dd>
              <Ago at={i.closed_at} />
            </dd>
          </>
        )}
        {i.note && (
          <>
            <dt>Note</dt>
            <dd>{i.note}</dd>
          </>
        )}
      </dl>
    </Section>
  );
}

function PullRequest({ intent: i }: { intent: Intent }) {
  const repo = useRepos().data?.items.find((r) => r.id === i.repo.id);
  const url = pullUrl(repo, i.pr_number ?? 0);
  return url ? (
    <a href={url} target="_blank" rel="noreferrer noopener">
      #{i.pr_number}
    </a>
  ) : (
    <span>#{i.pr_number}</span>
  );
}

// Only addresses of the web become links: others may run something.
function Ticket({ kind, url, id }: { kind: string; url: string; id: string | null }) {
  const label = id ?? kind;
  if (!/^https?:\/\//i.test(url)) return <span>{label}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {label} <IconExternalLink size={13} aria-hidden />
    </a>
  );
}
