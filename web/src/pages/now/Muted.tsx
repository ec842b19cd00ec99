// What is muted, and being asked again.
import { Button } from "@mantine/core";
import { useGet, useRepos } from "../../lib/queries";
import { plural } from "../../lib/text";
import { useTitle } from "../messages/title";
import { useMute, type Mute } from "./QuietMenu";

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
