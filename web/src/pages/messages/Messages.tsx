import "../../styles/mail.css";
import { Button } from "@mantine/core";
import { IconHash, IconMessages, IconPencilPlus, IconUser } from "../../ui/icons.gen";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import type { Conversation } from "../../api/records";
import { useGet } from "../../lib/queries";
import { senderName } from "../../lib/text";
import { Ago } from "../../ui/bits";
import { Empty, Load, Page } from "../../ui/page";
import { moveFocus } from "../../ui/VirtualRows";
import { Compose } from "./Compose";
import { Thread } from "./Thread";
import { useTitle } from "./title";

export function Messages() {
  const { id } = useParams<{ id?: string }>();
  const conversations = useGet("conversations", "GET /v1/conversations", { query: { limit: 100 } });
  const [writing, setWriting] = useState(false);
  const [, navigate] = useLocation();
  return (
    <Page
      title="Messages"
      wide
      actions={
        <Button leftSection={<IconPencilPlus size={15} />} onClick={() => setWriting(true)}>
          New message
        </Button>
      }
    >
      <div className={id ? "mail mail-open" : "mail"}>
        <div className="card mail-list">
          <Load query={conversations}>
            {(page) =>
              page.items.length === 0 ? (
                <Empty icon={<IconMessages size={22} stroke={1.5} />} title="No conversations yet">
                  Every repo has a channel, and agents write to each other when their work touches.
                </Empty>
              ) : (
                <ConversationList list={page.items} here={id} />
              )
            }
          </Load>
        </div>
        <div className="card mail-thread">
          {id ? (
            <Thread key={id} id={id} />
          ) : (
            <Empty icon={<IconMessages size={22} stroke={1.5} />} title="Choose a conversation">
              What you read here stays unread for your agents: they still get it with their next prompt.
            </Empty>
          )}
        </div>
      </div>
      {writing && (
        <Compose
          onClose={() => setWriting(false)}
          onSent={(m) => {
            setWriting(false);
            navigate(`/messages/${m.conversation_id}`);
          }}
        />
      )}
    </Page>
  );
}

function ConversationList({ list, here }: { list: Conversation[]; here: string | undefined }) {
  const groups = [
    { name: "Channels", items: list.filter((c) => c.kind === "channel") },
    { name: "Direct", items: list.filter((c) => c.kind === "direct") },
  ];
  return (
    <nav aria-label="Conversations" onKeyDown={moveFocus}>
      {groups.map(
        (g) =>
          g.items.length > 0 && (
            <div key={g.name}>
              <div className="mail-group">{g.name}</div>
              {g.items.map((c) => (
                <ConversationLink key={c.id} conversation={c} here={c.id === here} />
              ))}
            </div>
          ),
      )}
    </nav>
  );
}

function ConversationLink({ conversation: c, here }: { conversation: Conversation; here: boolean }) {
  const title = useTitle(c);
  return (
    <Link href={`/messages/${c.id}`} className={here ? "mail-item mail-here" : "mail-item"} aria-current={here ? "page" : undefined} data-row>
      {c.kind === "channel" ? <IconHash size={15} aria-hidden /> : <IconUser size={15} aria-hidden />}
      <span className="grow">
        <span className="mail-title">
          <span className={c.unread_count ? "clip mail-unread" : "clip"}>{title}</span>
          {c.about && <span className="ref">{["question", "contract"].includes(c.about.kind) ? c.about.kind : c.about.ref}</span>}
        </span>
        {c.last_message && (
          <span className="clip dim mail-last">
            {senderName(c.last_message.from)}: {c.last_message.body}
          </span>
        )}
      </span>
      <span className="mail-side">
        <span className="dim">
          <Ago at={c.updated_at} />
        </span>
        {c.unread_count > 0 && (
          <span className="nav-count" aria-label={`${c.unread_count} unread`}>
            {c.unread_count}
          </span>
        )}
      </span>
    </Link>
  );
}
