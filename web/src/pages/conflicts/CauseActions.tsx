// What can be done at once about everything that one claim or one break keeps
// from going on.
import { Button } from "@mantine/core";
import { useState } from "react";
import { whoOf, type Cause } from "../../lib/conflict";
import { useMe } from "../../lib/session";
import { plural } from "../../lib/text";
import { Compose } from "../messages/Compose";
import { TellAll } from "../messages/TellAll";
import { OverrideDialog, useOverriding } from "./Override";

export function CauseActions({ cause }: { cause: Cause }) {
  const me = useMe();
  const worst = cause.pairs[0]!.worst;
  const claim = worst.kind === "exclusive_claim";
  const source = worst.parties.find((p) => p.role === (claim ? "holder" : "challenger"));
  const [asking, setAsking] = useState<"release" | "override" | "share" | "tell" | null>(null);
  const close = () => setAsking(null);
  const overriding = useOverriding(worst.repo.full_name);
  const mine = source?.user?.id === me.user.id;
  const intent = source?.intent?.ref;
  return (
    <div className="cause-do">
      {claim && intent && !mine && (
        <Button size="compact-xs" variant="default" onClick={() => setAsking("release")}>
          Ask to release
        </Button>
      )}
      {claim && intent && (mine || overriding.may) && (
        <Button size="compact-xs" variant="default" onClick={() => setAsking("share")}>
          Share
        </Button>
      )}
      {!claim && (
        <Button size="compact-xs" variant="default" onClick={() => setAsking("tell")}>
          Message all
        </Button>
      )}
      {overriding.may && (
        <Button size="compact-xs" variant="default" onClick={() => setAsking("override")}>
          {cause.pairs.length === 1 ? "Override" : "Override all"}
        </Button>
      )}
      {asking === "release" && <Compose to={`intent:${intent}`} name={whoOf(source)} begin={`${plural(cause.pairs.length, "agent waits", "agents wait")} for what you hold. Can you release it?`} onClose={close} onSent={close} />}
      {asking === "override" && <OverrideDialog refs={conflictsOf(cause)} draft={`override all ${cause.id}`} needsReason={overriding.needsReason} onClose={close} />}
      {asking === "share" && <OverrideDialog share refs={[worst.ref]} draft={`share ${cause.id}`} needsReason={overriding.needsReason && !mine} onClose={close} />}
      {asking === "tell" && <TellAll to={peopleOf(cause, me.user.id)} subject={cause.text.slice(0, 200)} draft={`tell all ${cause.id}`} onClose={close} />}
    </div>
  );
}

/** The conflicts behind a cause that still stand. */
const conflictsOf = (cause: Cause): string[] => cause.pairs.flatMap((p) => p.all.filter((c) => c.kind === p.worst.kind).map((c) => c.ref));

/** Everybody whom a cause concerns, but for one. */
const peopleOf = (cause: Cause, but: string) => cause.pairs.flatMap((p) => p.worst.parties.flatMap((s) => (s.user && s.user.id !== but ? [[`user:${s.user.email}`, s.user.name] as const] : [])));
