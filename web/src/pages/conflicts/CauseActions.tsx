// What can be done at once about everything that one claim or one break keeps
// from going on.
import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { whoOf, type Cause } from "../../lib/conflict";
import { useDraft } from "../../lib/draft";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { plural } from "../../lib/text";
import { useAction } from "../../ui/action";
import { Ask } from "../../ui/form";
import { Compose } from "../messages/Compose";

const stale = ["conflicts", "conflict", "attention", "intents", "intent"];

export function CauseActions({ cause }: { cause: Cause }) {
  const me = useMe();
  const worst = cause.pairs[0]!.worst;
  const claim = worst.kind === "exclusive_claim";
  const source = worst.parties.find((p) => p.role === (claim ? "holder" : "challenger"));
  const policy = useGet("policies", "GET /v1/policies", { query: { repo: worst.repo.full_name } });
  const [asking, setAsking] = useState<"release" | "override" | "tell" | null>(null);
  const close = () => setAsking(null);
  const mayOverride = (policy.data?.effective["override.allowed_roles"] ?? ["owner", "admin"]).includes(me.org.role);
  const mine = source?.user?.id === me.user.id;
  const intent = source?.intent?.ref;
  return (
    <div className="cause-do">
      {claim && intent && !mine && (
        <Button size="compact-xs" variant="default" onClick={() => setAsking("release")}>
          Ask to release
        </Button>
      )}
      {!claim && (
        <Button size="compact-xs" variant="default" onClick={() => setAsking("tell")}>
          Message all
        </Button>
      )}
      {mayOverride && (
        <Button size="compact-xs" variant="default" onClick={() => setAsking("override")}>
          Override all
        </Button>
      )}
      {asking === "release" && <Compose to={`intent:${intent}`} name={whoOf(source)} begin={`${plural(cause.pairs.length, "agent")} wait for what you hold. Can you release it?`} onClose={close} onSent={close} />}
      {asking === "override" && <OverrideAll cause={cause} onClose={close} />}
      {asking === "tell" && <TellAll cause={cause} onClose={close} />}
    </div>
  );
}

/** The conflicts behind a cause that still stand. */
const conflictsOf = (cause: Cause): string[] => cause.pairs.flatMap((p) => p.all.filter((c) => c.kind === p.worst.kind).map((c) => c.ref));

function OverrideAll({ cause, onClose }: { cause: Cause; onClose: () => void }) {
  const refs = conflictsOf(cause);
  const [reason, setReason, forget] = useDraft(`override all ${cause.id}`);
  const trimmed = reason.trim();
  const override = useAction(
    async () => {
      for (const ref of refs) await call("POST /v1/conflicts/{ref}/override", { path: { ref }, body: { reason: trimmed } });
    },
    {
      says: `${plural(refs.length, "conflict")} overridden. All sides may go on.`,
      stale,
      then: () => {
        forget();
        onClose();
      },
    },
  );
  return (
    <Ask opened onClose={onClose} title={`Override ${plural(refs.length, "conflict")}?`} confirm="Override all" danger busy={override.isPending} disabled={trimmed.length < 3} onConfirm={() => override.mutate()}>
      <p className="dim">
        {refs.join(", ")}. All sides may go on until the evidence grows. The audit log keeps your name and your reason for each. Only people can do this; agents never can.
      </p>
      <Textarea label="Reason" required maxLength={2000} data-autofocus value={reason} onChange={(e) => setReason(e.target.value)} dir="auto" />
    </Ask>
  );
}

/** One text to everybody whom a cause concerns. */
function TellAll({ cause, onClose }: { cause: Cause; onClose: () => void }) {
  const me = useMe();
  const [body, setBody, forget] = useDraft(`tell all ${cause.id}`);
  const people = new Map(cause.pairs.flatMap((p) => p.worst.parties.flatMap((s) => (s.user && s.user.id !== me.user.id ? [[s.user.email, s.user.name] as const] : []))));
  const send = useAction(
    async () => {
      for (const email of people.keys()) await call("POST /v1/messages", { body: { to: `user:${email}`, subject: cause.text.slice(0, 200), body: body.trim() } });
    },
    {
      says: `Sent to ${plural(people.size, "person", "people")}.`,
      stale: ["conversations", "messages"],
      then: () => {
        forget();
        onClose();
      },
    },
  );
  return (
    <Ask opened onClose={onClose} title="Message all" confirm="Send" busy={send.isPending} disabled={!body.trim() || people.size === 0} onConfirm={() => send.mutate()}>
      <p className="dim">To {[...people.values()].join(", ") || "nobody: only code is hit"}.</p>
      <Textarea label="Message" required data-autofocus maxLength={4000} value={body} onChange={(e) => setBody(e.target.value)} dir="auto" />
    </Ask>
  );
}
