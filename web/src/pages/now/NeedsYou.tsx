// What waits for the reader, one row per kind of thing, answered in place.
import { Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconArrowsSplit, IconCheckupList, IconChevronDown, IconChevronRight, IconGauge, IconGitFork, IconHandStop, IconInbox, IconLock, IconMail, IconMessage, IconMessageQuestion, IconPlugConnectedX, IconShieldOff, IconTransfer, IconTrendingDown, IconUserOff, IconX, type Icon } from "../../ui/icons.gen";
import { Suspense, useId, useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import type { AttentionItem } from "../../api/records";
import { over } from "../../lib/conflict";
import { useDismissals } from "../../lib/dismiss";
import { hasDraft } from "../../lib/draft";
import { later } from "../../lib/lazy";
import { useAttention } from "../../lib/queries";
import { sentence } from "../../api/visible";
import { plural, shortRepo } from "../../lib/text";
import { pathOf } from "../../lib/url";
import { Ago } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Inline } from "../../ui/Markdown";
import { Empty, Load } from "../../ui/page";
import { moveFocus } from "../../ui/VirtualRows";
import { QuietMenu } from "./QuietMenu";

const Answer = later(() => import("./Answer"), "Answer");
const Muted = later(() => import("./Muted"), "Muted");

type Kind = AttentionItem["kind"];

interface Look {
  icon: Icon;
  tone: string;
  one: string;
  many: string;
  /** Something that can be done to all of them at once. */
  all?: { label: string; each: (i: AttentionItem) => Promise<unknown> };
  /** Something that is said about one of them. */
  say?: { label: string; hint: string; least: number; send: (i: AttentionItem, text: string) => Promise<unknown> };
}

const thread = (i: AttentionItem): string => (i.ref ?? "").replace("thread:", "");
const acknowledge = (i: AttentionItem) => (i.kind === "ack" ? call("POST /v1/messages/{id}/ack", { path: { id: i.message_id ?? "" } }) : call("POST /v1/conflicts/{ref}/actions", { path: { ref: i.ref ?? "" }, body: { action: "ack" } }));

const looks: Record<Kind, Look> = {
  override_request: {
    icon: IconHandStop, tone: "block", one: "override asked for", many: "overrides asked for",
    say: { label: "Override", hint: "Why may both sides go on? The audit log keeps it.", least: 3, send: (i, reason) => call("POST /v1/conflicts/{ref}/override", { path: { ref: i.ref ?? "" }, body: { reason } }) },
  },
  conflict: { icon: IconArrowsSplit, tone: "warn", one: "conflict of yours", many: "conflicts of yours", all: { label: "Acknowledge", each: acknowledge } },
  ack: { icon: IconCheckupList, tone: "info", one: "to acknowledge", many: "to acknowledge", all: { label: "Acknowledge", each: acknowledge } },
  question: {
    icon: IconMessageQuestion, tone: "info", one: "question to you", many: "questions to you",
    say: { label: "Answer", hint: "It goes to the agent that asked.", least: 1, send: (i, answer) => call("POST /v1/questions/{id}/answers", { path: { id: i.ref ?? "" }, body: { answer } }) },
  },
  message: {
    icon: IconMessage, tone: "info", one: "unread message", many: "unread messages",
    say: { label: "Reply", hint: "To them and their agents.", least: 1, send: (i, body) => call("POST /v1/conversations/{id}/messages", { path: { id: thread(i) }, body: { body } }) },
  },
  claim: { icon: IconLock, tone: "warn", one: "claim of yours that keeps somebody out", many: "claims of yours that keep somebody out" },
  orphan: { icon: IconUserOff, tone: "warn", one: "intent of somebody who left", many: "intents of people who left" },
  twin_repos: { icon: IconGitFork, tone: "warn", one: "repository known twice", many: "repositories known twice" },
  demotion: { icon: IconTrendingDown, tone: "warn", one: "kind of conflict lowered by verdicts", many: "kinds of conflict lowered by verdicts" },
  handoff: { icon: IconTransfer, tone: "good", one: "handoff to you", many: "handoffs to you" },
  integration: { icon: IconPlugConnectedX, tone: "warn", one: "connection that does not work", many: "connections that do not work" },
  silent_hooks: { icon: IconPlugConnectedX, tone: "warn", one: "agent without hooks", many: "agents without hooks" },
  unchecked: { icon: IconShieldOff, tone: "warn", one: "agent that went on unchecked", many: "agents that went on unchecked" },
  plan: { icon: IconGauge, tone: "warn", one: "limit of the plan", many: "limits of the plan" },
  invite: { icon: IconMail, tone: "quiet", one: "invite not accepted", many: "invites not accepted" },
};

const stale = ["attention", "conflicts", "conflict", "messages", "conversations"];

export function NeedsYou() {
  const attention = useAttention();
  const narrow = useMediaQuery("(max-width: 1199px)", undefined, { getInitialValueInEffect: false });
  const [open, setOpen] = useState(false);
  const { hidden, dismiss } = useDismissals();
  const id = useId();
  const items = (attention.data?.items ?? []).filter((i) => !hidden.has(i.id));
  const total = Math.max(0, (attention.data?.total ?? 0) - hidden.size);
  const shown = !narrow || open;
  return (
    <section className="card needs-card" aria-label="Needs you">
      <div className="card-head">
        <h2 className="grow">Needs you{total > 0 && <span className="count-badge">{total}</span>}</h2>
        {narrow && (
          <button type="button" className="icon-button" aria-expanded={open} aria-controls={id} aria-label={open ? "Fold away what needs you" : "Show what needs you"} onClick={() => setOpen(!open)}>
            {open ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
          </button>
        )}
        {narrow && !open && total > 0 && <span className="dim clip needs-short">{summary(attention.data?.by_kind ?? {})}</span>}
      </div>
      {shown && (
        <div className="needs-body" id={id} tabIndex={0} role="region" aria-label="What needs you">
          <Load query={attention}>
            {() =>
              items.length === 0 ? (
                <Empty icon={<IconInbox size={22} stroke={1.5} />} title="Nothing waits for you">
                  Conflicts of your work, questions, handoffs and messages that want an answer come here.
                </Empty>
              ) : (
                <ul className="needs" onKeyDown={moveFocus}>
                  {kindsOf(items).map(([kind, list]) => (
                    <Need key={kind} kind={kind} items={list} count={Math.max(list.length, (attention.data?.by_kind?.[kind] ?? 0) - [...hidden].filter((h) => h.startsWith(kind + ":")).length)} dismiss={dismiss} />
                  ))}
                </ul>
              )
            }
          </Load>
          <div className="needs-foot">
            <Link href={`/conflicts?status=${over}&age=yesterday`}>Yesterday's near misses</Link>
            {attention.data && attention.data.mutes.length > 0 && (
              <Suspense fallback={null}>
                <Muted mutes={attention.data.mutes} held={attention.data.muted} kindName={(k) => looks[k as Kind]?.many ?? k} />
              </Suspense>
            )}
          </div>
        </div>
      )}
    </section>
  );
}

const named = (kind: Kind, n: number): string => plural(n, looks[kind].one, looks[kind].many);
const summary = (by: Partial<Record<Kind, number>>): string => (Object.keys(looks) as Kind[]).flatMap((k) => (by[k] ? named(k, by[k]) : [])).join(", ");

function kindsOf(items: AttentionItem[]): [Kind, AttentionItem[]][] {
  const out = new Map<Kind, AttentionItem[]>();
  for (const i of items) out.set(i.kind, [...(out.get(i.kind) ?? []), i]);
  return [...out];
}

/** One kind of thing: its count, what can be done to all, and each of them once it is opened. */
function Need({ kind, items, count, dismiss }: { kind: Kind; items: AttentionItem[]; count: number; dismiss: (list: AttentionItem[], what: string) => void }) {
  const look = looks[kind];
  const [open, setOpen] = useState(items.length === 1 || Boolean(look.say));
  const all = useAction(
    async () => {
      for (const i of items) await look.all?.each(i);
    },
    { says: `${named(kind, items.length)}: done.`, stale },
  );
  return (
    <li className="need-kind">
      <div className="need-row">
        <look.icon size={16} className={`tone-${look.tone}`} aria-hidden />
        <button type="button" className="need-name grow" aria-expanded={open} onClick={() => setOpen(!open)} data-row>
          {named(kind, count)}
        </button>
        {look.all && (
          <Button size="compact-xs" variant="light" aria-label={`${items.length > 1 ? "All" : look.all.label} ${named(kind, items.length)}`} loading={all.isPending} onClick={() => all.mutate()}>
            {items.length > 1 ? "All" : look.all.label}
          </Button>
        )}
        <QuietMenu items={items} many={look.many} label={named(kind, count)} />
        <button type="button" className="icon-button" aria-label={`Dismiss ${named(kind, items.length)} until they change`} title="Dismiss until it changes" onClick={() => dismiss(items, named(kind, items.length))}>
          <IconX size={14} />
        </button>
      </div>
      {open && (
        <ul className="need-items">
          {items.map((i) => (
            <One key={i.id} item={i} look={look} single={items.length === 1} dismiss={dismiss} />
          ))}
        </ul>
      )}
    </li>
  );
}

function One({ item: i, look, single, dismiss }: { item: AttentionItem; look: Look; single: boolean; dismiss: (list: AttentionItem[], what: string) => void }) {
  return (
    <li className="need">
      <div className="row need-line">
        <Link href={pathOf(i.url)} className="grow need-text" data-row>
          <b>{sentence(i.title)}</b>
          <span className="dim need-detail" dir="auto">
            <Inline text={i.detail} />
          </span>
          <span className="dim need-meta">
            {i.repo && shortRepo(i.repo.full_name)} <Ago at={i.since} />
          </span>
        </Link>
        {!single && (
          <button type="button" className="icon-button" aria-label={`Dismiss until it changes: ${i.title}`} title="Dismiss until it changes" onClick={() => dismiss([i], i.title)}>
            <IconX size={14} />
          </button>
        )}
      </div>
      {look.say && <Say item={i} label={look.say.label} hint={look.say.hint} least={look.say.least} send={look.say.send} />}
    </li>
  );
}

interface SayProps {
  item: AttentionItem;
  label: string;
  hint: string;
  least: number;
  send: (i: AttentionItem, text: string) => Promise<unknown>;
}

/** A line to answer in. It opens with the first click, or where something was begun. */
function Say(props: SayProps) {
  const { item: i, label } = props;
  const draft = `need ${i.kind} ${i.ref ?? i.id}`;
  const [open, setOpen] = useState(() => hasDraft(draft));
  if (!open) {
    return (
      <div className="need-do">
        <Button size="compact-xs" variant="default" onClick={() => setOpen(true)} aria-label={`${label}: ${i.title}`}>
          {label}
        </Button>
      </div>
    );
  }
  return (
    <Suspense fallback={null}>
      <Answer {...props} draft={draft} stale={stale} close={() => setOpen(false)} />
    </Suspense>
  );
}
