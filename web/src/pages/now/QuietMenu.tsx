// Not being asked about a kind, a repo or a thread.
import { Menu } from "@mantine/core";
import { IconBellOff } from "../../ui/icons.gen";
import { call } from "../../api/client";
import type { AttentionItem } from "../../api/records";
import { shortRepo } from "../../lib/text";
import { useAction } from "../../ui/action";

export interface Mute {
  what: "kind" | "repo" | "thread";
  id: string;
}

export const useMute = (says: string) => useAction((m: Mute & { off: boolean }) => call("POST /v1/attention/mute", { body: m }), { says, stale: ["attention"] });

const threadOf = (i: AttentionItem): string | null => (i.ref?.startsWith("thread:") ? i.ref.slice("thread:".length) : null);

/** What can be muted from here: the kind of thing, the repos it is in, a thread. */
export function QuietMenu({ items, many, label }: { items: AttentionItem[]; many: string; label: string }) {
  const mute = useMute("Muted. It is listed at the end of what needs you.");
  const repos = [...new Map(items.flatMap((i) => (i.repo ? [[i.repo.id, i.repo.full_name] as const] : []))).entries()];
  const thread = items.length === 1 ? threadOf(items[0]!) : null;
  return (
    <Menu position="bottom-end" width={250}>
      <Menu.Target>
        <button type="button" className="icon-button" aria-label={`Mute: ${label}`} title="Mute">
          <IconBellOff size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Do not ask me about</Menu.Label>
        <Menu.Item onClick={() => mute.mutate({ what: "kind", id: items[0]!.kind, off: false })}>{many}, anywhere</Menu.Item>
        {repos.map(([id, name]) => (
          <Menu.Item key={id} onClick={() => mute.mutate({ what: "repo", id, off: false })}>
            anything in {shortRepo(name)}
          </Menu.Item>
        ))}
        {thread && <Menu.Item onClick={() => mute.mutate({ what: "thread", id: thread, off: false })}>this thread</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
