// Not being asked about a kind, a repo or a thread, and being asked again.
import { Button, Menu } from "@mantine/core";
import { IconBellOff } from "../../ui/icons.gen";
import { call } from "../../api/client";
import type { AttentionItem } from "../../api/records";
import { useGet, useRepos } from "../../lib/queries";
import { plural, shortRepo } from "../../lib/text";
import { useAction } from "../../ui/action";
import { useTitle } from "../messages/title";

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

/** What is muted, each with the way back. */
export function Muted({ mutes, held, kindName }: { mutes: Mute[]; held: number; kindName: (kind: string) => string }) {
  return (
    <details className="muted">
      <summary className="dim">
        {plural(mutes.length, "mute")}
        {held > 0 && `, ${plural(held, "thing")} not shown`}
      </summary>
      <ul>
        {mutes.map((m) => (
          <li key={m.what + m.id}>{m.what === "thread" ? <MutedThread mute={m} /> : m.what === "repo" ? <MutedRepo mute={m} /> : <Line mute={m} name={kindName(m.id)} />}</li>
        ))}
      </ul>
    </details>
  );
}

function Line({ mute: m, name }: { mute: Mute; name: string }) {
  const ask = useMute("You are asked again.");
  return (
    <div className="row">
      <span className="grow clip">{name}</span>
      <Button size="compact-xs" variant="default" aria-label={`Ask me again: ${name}`} onClick={() => ask.mutate({ ...m, off: true })}>
        Ask again
      </Button>
    </div>
  );
}

function MutedRepo({ mute }: { mute: Mute }) {
  const repos = useRepos();
  return <Line mute={mute} name={repos.data?.items.find((r) => r.id === mute.id)?.full_name ?? "a repository"} />;
}

function MutedThread({ mute }: { mute: Mute }) {
  const thread = useGet("conversations", "GET /v1/conversations/{id}", { path: { id: mute.id } });
  return thread.data ? <ThreadLine mute={mute} conversation={thread.data} /> : <Line mute={mute} name="a thread" />;
}

function ThreadLine({ mute, conversation }: { mute: Mute; conversation: Parameters<typeof useTitle>[0] }) {
  return <Line mute={mute} name={useTitle(conversation)} />;
}
