import { Select, Textarea } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import type { Intent, User } from "../../api/records";
import { useDraft } from "../../lib/draft";
import { useMembers } from "../../lib/queries";
import { useAction } from "../../ui/action";
import { Ask } from "../../ui/form";

export const stale = ["intent", "intents", "conflicts", "sessions", "attention"];

export interface Props {
  intent: Intent;
  onClose: () => void;
}

/** Hands an intent to somebody, or to whom the reader chooses. */
export function HandoffDialog({ intent, to: fixed, onClose }: Props & { to?: User }) {
  const members = useMembers();
  const [to, setTo] = useState<string | null>(fixed?.email ?? null);
  const [note, setNote, forget] = useDraft(`handoff ${intent.ref}`);
  const hand = useAction(() => call("POST /v1/intents/{ref}/handoff", { path: { ref: intent.ref }, body: { to: to ?? "", note: note.trim() || undefined } }), { says: `${intent.ref} is handed off.`, stale, then: () => (forget(), onClose()) });
  const able = (members.data?.items ?? []).filter((m) => ["owner", "admin", "member"].includes(m.role) && m.id !== intent.owner.id);
  return (
    <Ask opened onClose={onClose} title={fixed ? `Take over ${intent.ref}` : `Hand off ${intent.ref}`} confirm={fixed ? "Take it over" : "Hand off"} busy={hand.isPending} disabled={!to} onConfirm={() => hand.mutate()}>
      <p className="dim">{fixed ? `${intent.owner.name} is told. Its claims come with it; your next agent in ${intent.repo.full_name} is offered the work.` : "The new owner gets a direct thread with your note. Claims stay with the intent."}</p>
      {!fixed && <Select label="To" searchable required data-autofocus value={to} onChange={setTo} data={able.map((m) => ({ value: m.email, label: m.name }))} placeholder="Choose a teammate" />}
      <Textarea label="Note" data-autofocus={fixed ? true : undefined} maxLength={2000} placeholder="Where it stands, what is left to do" value={note} onChange={(e) => setNote(e.target.value)} />
    </Ask>
  );
}

export function CloseDialog({ intent, outcome, onClose }: Props & { outcome: "merged" | "abandoned" }) {
  const [note, setNote, forget] = useDraft(`close ${intent.ref}`);
  const close = useAction(() => call("POST /v1/intents/{ref}/close", { path: { ref: intent.ref }, body: { outcome, note: note.trim() || undefined } }), { says: `${intent.ref} is closed.`, stale, then: () => (forget(), onClose()) });
  return (
    <Ask opened onClose={onClose} title={outcome === "merged" ? `Close ${intent.ref} as merged?` : `Abandon ${intent.ref}?`} confirm={outcome === "merged" ? "Close as merged" : "Abandon"} danger={outcome === "abandoned"} busy={close.isPending} onConfirm={() => close.mutate()}>
      <p className="dim">Its claims are released, and agents that wait for them continue. This cannot be undone.</p>
      <Textarea label="Note" maxLength={2000} value={note} onChange={(e) => setNote(e.target.value)} />
    </Ask>
  );
}
