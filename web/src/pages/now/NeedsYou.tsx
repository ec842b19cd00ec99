import { IconArrowsSplit, IconCheckupList, IconGauge, IconHandStop, IconInbox, IconMail, IconMessage, IconMessageQuestion, IconPlugConnectedX, IconTransfer, IconX, type TablerIcon } from "@tabler/icons-react";
import { Link } from "wouter";
import { call } from "../../api/client";
import type { AttentionItem } from "../../api/records";
import { useAttention } from "../../lib/queries";
import { shortRepo } from "../../lib/text";
import { Ago } from "../../ui/bits";
import { useAction } from "../../ui/form";
import { Inline } from "../../ui/Markdown";
import { Empty, Load, Section } from "../../ui/page";
import { pathOf } from "../../ui/Palette";
import { moveFocus } from "../../ui/VirtualRows";

const icons: Record<AttentionItem["kind"], { icon: TablerIcon; tone: string; name: string }> = {
  conflict: { icon: IconArrowsSplit, tone: "warn", name: "Conflict" },
  override_request: { icon: IconHandStop, tone: "block", name: "Override asked" },
  ack: { icon: IconCheckupList, tone: "info", name: "Wants an acknowledgement" },
  message: { icon: IconMessage, tone: "info", name: "Message" },
  question: { icon: IconMessageQuestion, tone: "info", name: "Question" },
  handoff: { icon: IconTransfer, tone: "good", name: "Handoff" },
  silent_hooks: { icon: IconPlugConnectedX, tone: "warn", name: "Hooks fell silent" },
  plan: { icon: IconGauge, tone: "warn", name: "Limit of the plan" },
  invite: { icon: IconMail, tone: "quiet", name: "Invite" },
};

export function NeedsYou() {
  const attention = useAttention();
  const dismiss = useAction((id: string) => call("POST /v1/attention/dismiss", { body: { ids: [id] } }), { stale: ["attention"] });
  return (
    <Section title="Needs you" pad={false} actions={attention.data && attention.data.total > 0 ? <span className="dim">{attention.data.total}</span> : null}>
      <Load query={attention}>
        {(data) =>
          data.items.length === 0 ? (
            <Empty icon={<IconInbox size={22} stroke={1.5} />} title="Nothing waits for you">
              Conflicts of your work, questions, handoffs and messages that want an answer come here.
            </Empty>
          ) : (
            <ul className="needs" onKeyDown={moveFocus}>
              {data.items.map((item) => {
                const look = icons[item.kind];
                return (
                  <li key={item.id} className="need">
                    <look.icon size={16} className={`tone-${look.tone}`} role="img" aria-label={look.name} />
                    <Link href={pathOf(item.url)} className="grow need-text" data-row>
                      <b>{item.title}</b>
                      <span className="dim need-detail">
                        <Inline text={item.detail} />
                      </span>
                      <span className="dim need-meta">
                        {item.ref && /^(INT|CF)-/.test(item.ref) && <span className="ref">{item.ref}</span>} {item.repo && shortRepo(item.repo.full_name)} <Ago at={item.since} />
                      </span>
                    </Link>
                    <button type="button" className="icon-button" aria-label={`Dismiss until it changes: ${item.title}`} title="Dismiss until it changes" onClick={() => dismiss.mutate(item.id)}>
                      <IconX size={14} />
                    </button>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Load>
    </Section>
  );
}
