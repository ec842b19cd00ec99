// What can be done at once to the rows that somebody chose.
import "../styles/peek.css";
import { Button } from "@mantine/core";
import { useState } from "react";
import { call } from "../api/client";
import { chooseNone } from "../lib/rows";
import { useLiveSessions } from "../lib/queries";
import { plural } from "../lib/text";
import { OverrideDialog, useOverriding } from "../pages/conflicts/Override";
import { TellAll } from "../pages/messages/TellAll";
import { useAction } from "./action";
import { Confirmed } from "./form";

const stale = ["conflicts", "conflict", "intents", "intent", "sessions", "attention"];
const of = (chosen: readonly string[], kind: string): string[] => chosen.flatMap((href) => (href.startsWith(`/${kind}/`) ? [decodeURIComponent(href.slice(kind.length + 2))] : []));

export function Chosen({ chosen }: { chosen: readonly string[] }) {
  const [asking, setAsking] = useState<"override" | "tell" | null>(null);
  const [conflicts, intents, agents] = [of(chosen, "conflicts"), of(chosen, "intents"), of(chosen, "agents")];
  const sessions = (useLiveSessions().data ?? []).filter((s) => agents.includes(s.id));
  const overriding = useOverriding();
  const then = () => {
    setAsking(null);
    chooseNone();
  };
  const ack = useAction(() => each(conflicts, (ref) => call("POST /v1/conflicts/{ref}/actions", { path: { ref }, body: { action: "ack" } })), { says: `${plural(conflicts.length, "conflict")} acknowledged.`, stale, then });
  const end = useAction(() => each(agents, (id) => call("POST /v1/sessions/{id}/end", { path: { id } })), { says: `${plural(agents.length, "session")} ended.`, stale, then });
  const abandon = useAction(() => each(intents, (ref) => call("POST /v1/intents/{ref}/close", { path: { ref }, body: { outcome: "abandoned" } })), { says: `${plural(intents.length, "intent")} abandoned.`, stale, then });
  return (
    <div className="chosen" role="toolbar" aria-label="What was chosen">
      <b>{plural(chosen.length, "row")} chosen</b>
      {conflicts.length > 0 && (
        <Button size="compact-sm" variant="default" loading={ack.isPending} onClick={() => ack.mutate()}>
          Acknowledge
        </Button>
      )}
      {conflicts.length > 0 && overriding.may && (
        <Button size="compact-sm" variant="default" onClick={() => setAsking("override")}>
          Override
        </Button>
      )}
      {sessions.length + intents.length > 0 && (
        <Button size="compact-sm" variant="default" onClick={() => setAsking("tell")}>
          Message
        </Button>
      )}
      {agents.length > 0 && <Confirmed label="End sessions" title={`End ${plural(agents.length, "session")}?`} confirm="End them" text="Claims stay with their intents. An agent that is still running begins a new session with its next event." onConfirm={() => end.mutateAsync()} />}
      {intents.length > 0 && <Confirmed label="Abandon" title={`Abandon ${plural(intents.length, "intent")}?`} confirm="Abandon them" text="Their claims are released, and agents that wait for them continue. This cannot be undone." onConfirm={() => abandon.mutateAsync()} />}
      <Button size="compact-sm" variant="subtle" onClick={chooseNone}>
        Choose none
      </Button>
      {asking === "override" && <OverrideDialog refs={conflicts} draft="override chosen" needsReason={overriding.needsReason} onClose={() => setAsking(null)} onDone={then} />}
      {asking === "tell" && <TellAll to={[...intents.map((ref) => [`intent:${ref}`, ref] as const), ...sessions.map((s) => [s.intent ? `intent:${s.intent.ref}` : `user:${s.user.email}`, s.user.name] as const)]} draft="tell chosen" onClose={() => setAsking(null)} onDone={then} />}
    </div>
  );
}

/** One after the other: the first that fails says so, and those before it are done. */
async function each(list: string[], one: (id: string) => Promise<unknown>): Promise<void> {
  for (const id of list) await one(id);
}
