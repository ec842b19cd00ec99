import { Button, Checkbox, Textarea } from "@mantine/core";
import { IconArrowLeft, IconBell, IconBellOff, IconCheck, IconRobot } from "../../ui/icons.gen";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import type { Conversation, Message } from "../../api/records";
import { useDraft } from "../../lib/draft";
import { useAttention, useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { day, plural, senderName } from "../../lib/text";
import { contractPath } from "../../lib/url";
import { Ago, Avatar, Pill, Ref } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Said } from "../../ui/Markdown";
import { Failed, Load, Loading } from "../../ui/page";
import { useMute } from "../now/QuietMenu";
import { useTitle } from "./title";

/** The record that a message is about, which has a page. A contract goes by its repo and its key. */
function AboutIt({ about }: { about: NonNullable<Message["about"]> }) {
  if (about.kind !== "contract") return <Ref to={about.ref} />;
  const cut = about.ref.indexOf("#");
  return <Link href={contractPath(about.ref.slice(cut + 1), about.ref.slice(0, cut))}>{about.ref.slice(cut + 1)}</Link>;
}

export function Thread({ id }: { id: string }) {
  const conversation = useGet("conversations", "GET /v1/conversations/{id}", { path: { id } });
  return <Load query={conversation}>{(c) => <Open conversation={c} />}</Load>;
}

function Open({ conversation: c }: { conversation: Conversation }) {
  const title = useTitle(c);
  const messages = useInfiniteQuery({
    queryKey: ["messages", c.id],
    queryFn: ({ pageParam, signal }) => call("GET /v1/conversations/{id}/messages", { path: { id: c.id }, query: { limit: 50, before: pageParam || undefined }, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
  });
  const list = messages.data?.pages.toReversed().flatMap((p) => p.items);
  const box = useRef<HTMLDivElement>(null);
  const newest = list?.at(-1)?.id;
  // What was fetched is read now: the counts beside it are old.
  const client = useQueryClient();
  useEffect(() => {
    if (newest) for (const key of ["conversations", "attention"]) void client.invalidateQueries({ queryKey: [key] });
  }, [newest, client]);
  const place = useReadingPlace(box, list?.[0]?.id, newest, messages.isFetchingNextPage);
  return (
    <>
      <div className="thread-head">
        <Link href="/messages" className="icon-button phone-only" aria-label="All conversations">
          <IconArrowLeft size={18} />
        </Link>
        <div className="grow">
          <h2 className="clip">{c.kind === "channel" ? `#${title}` : title}</h2>
          <div className="dim wrap">
            {c.kind === "channel" ? (c.repo ? `Channel of ${c.repo.full_name}` : "Everybody in the org") : c.participants.map((p) => p.name).join(", ")}
            {c.about && c.about.kind !== "question" && (
              <>
                about <AboutIt about={c.about} />
              </>
            )}
          </div>
        </div>
        <MuteThread id={c.id} />
      </div>
      <div className="thread" ref={box} tabIndex={0} role="log" aria-label={`Messages in ${title}`}>
        {messages.isError && !list && <Failed error={messages.error} retry={() => void messages.refetch()} />}
        {!list && !messages.isError && <Loading />}
        {messages.hasNextPage && (
          <div className="more">
            <Button variant="default" loading={messages.isFetchingNextPage} onClick={() => void messages.fetchNextPage()}>
              Older messages
            </Button>
          </div>
        )}
        {list?.length === 0 && <p className="dim thread-none">Nothing has been said here yet.</p>}
        {list?.map((m, i) => (
          <Post key={m.id} message={m} newDay={i === 0 || day(m.created_at) !== day(list[i - 1]!.created_at)} />
        ))}
      </div>
      {place.below > 0 && (
        <button type="button" className="new-below" onClick={place.toEnd}>
          {plural(place.below, "new message", "new messages")} below
        </button>
      )}
      <Reply conversation={c} />
    </>
  );
}

/** Whether this thread may ask for the reader. */
function MuteThread({ id }: { id: string }) {
  const muted = useAttention().data?.mutes.some((m) => m.what === "thread" && m.id === id) ?? false;
  const mute = useMute(muted ? "This thread asks for you again." : "Muted: this thread no longer asks for you.");
  return (
    <button type="button" className="icon-button" aria-pressed={muted} aria-label="Mute this thread" title={muted ? "Muted. Ask for me again" : "Mute this thread"} onClick={() => mute.mutate({ what: "thread", id, off: muted })}>
      {muted ? <IconBellOff size={16} /> : <IconBell size={16} />}
    </button>
  );
}

const nearEnd = 60; // px from the end within which somebody reads along

/** Keeps the reader's place: at the end new messages are followed, elsewhere they are counted;
 * older ones come in above without moving what is read. */
function useReadingPlace(box: RefObject<HTMLDivElement | null>, oldest: string | undefined, newest: string | undefined, loadingOlder: boolean) {
  const [below, setBelow] = useState(0);
  const atEnd = useRef(true);
  const height = useRef(0);
  const seen = useRef<{ oldest?: string; newest?: string }>({});
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const onScroll = () => {
      atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < nearEnd;
      if (atEnd.current) setBelow(0);
    };
    el.addEventListener("scroll", onScroll, { passive: true });
    return () => el.removeEventListener("scroll", onScroll);
  }, [box]);
  useLayoutEffect(() => {
    const el = box.current;
    if (!el || !newest) return;
    const before = seen.current;
    if (before.newest === undefined || (before.newest !== newest && atEnd.current)) el.scrollTop = el.scrollHeight;
    else if (before.newest !== newest) setBelow((n) => n + 1);
    else if (before.oldest !== oldest) el.scrollTop += el.scrollHeight - height.current;
    seen.current = { oldest, newest };
    height.current = el.scrollHeight;
  }, [box, oldest, newest, loadingOlder]);
  const toEnd = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
    setBelow(0);
  };
  return { below, toEnd };
}

function Post({ message: m, newDay }: { message: Message; newDay: boolean }) {
  const me = useMe();
  const acked = m.acks.find((a) => a.user.id === me.user.id);
  const mine = m.from.kind === "user" && m.from.user?.id === me.user.id;
  const ack = useAction(() => call("POST /v1/messages/{id}/ack", { path: { id: m.id } }), { stale: ["messages", "conversations", "attention"] });
  return (
    <>
      {newDay && <div className="thread-day">{day(m.created_at)}</div>}
      <article className="post">
        {m.from.kind === "system" ? <img src="/icon.svg" alt="" width={26} height={26} className="post-system" /> : <Avatar user={m.from.user} size={26} />}
        <div className="grow">
          <div className="post-head">
            <b dir="auto">{senderName(m.from)}</b>
            {m.from.kind === "session" && <IconRobot size={14} role="img" aria-label="written by an agent" />}
            <span className="dim">
              <Ago at={m.created_at} />
            </span>
            {m.about && m.about.kind !== "question" && <AboutIt about={m.about} />}
          </div>
          {m.subject && (
            <b className="post-subject" dir="auto">
              {m.subject}
            </b>
          )}
          <Said text={m.body} />
          {m.requires_ack && (
            <div className="wrap post-acks">
              {m.acks.length > 0 ? (
                <Pill tone="good">
                  <IconCheck size={12} aria-hidden /> {m.acks.map((a) => a.user.name.split(" ")[0]).join(", ")}
                </Pill>
              ) : (
                <Pill tone="warn">Wants an acknowledgement</Pill>
              )}
              {!acked && !mine && (
                <Button size="compact-xs" variant="light" loading={ack.isPending} onClick={() => ack.mutate()}>
                  Acknowledge
                </Button>
              )}
            </div>
          )}
        </div>
      </article>
    </>
  );
}

function Reply({ conversation: c }: { conversation: Conversation }) {
  const me = useMe();
  const [body, setBody, forget] = useDraft(`thread ${c.id}`);
  const [wantsAck, setWantsAck] = useState(false);
  const may = c.kind === "channel" || c.participants.some((p) => p.id === me.user.id);
  const question = c.about?.kind === "question" ? c.about.ref : null;
  const send = useAction(
    async (text: string) => {
      if (question) await call("POST /v1/questions/{id}/answers", { path: { id: question }, body: { answer: text } });
      else await call("POST /v1/conversations/{id}/messages", { path: { id: c.id }, body: { body: text, requires_ack: wantsAck } });
    },
    { stale: ["messages", "conversations", "attention"], then: forget },
  );
  useEffect(() => setWantsAck(false), [c.id]);
  if (!may) return <p className="thread-none dim">Only the people in this thread can write here.</p>;
  const submit = () => body.trim() && !send.isPending && send.mutate(body.trim());
  return (
    <form
      className="reply"
      onSubmit={(e) => {
        e.preventDefault();
        submit();
      }}
    >
      <Textarea
        aria-label={question ? "Answer" : "Message"}
        placeholder={question ? "Answer the question. It goes to the agent that asked." : `Write to ${c.kind === "channel" ? "everybody's agents here" : "them and their agents"}. Ctrl Enter sends.`}
        minRows={2}
        dir="auto"
        maxLength={4000}
        value={body}
        onChange={(e) => setBody(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
            e.preventDefault();
            submit();
          }
        }}
      />
      <div className="row">
        {!question && <Checkbox size="xs" label="Wants an acknowledgement" checked={wantsAck} onChange={(e) => setWantsAck(e.currentTarget.checked)} />}
        <div className="grow" />
        <Button type="submit" loading={send.isPending} disabled={!body.trim()}>
          {question ? "Answer" : "Send"}
        </Button>
      </div>
    </form>
  );
}
