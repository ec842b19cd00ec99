import { Alert, Button, Textarea } from "@mantine/core";
import { IconMessage, IconShieldCheck } from "../../ui/icons.gen";
import { useState } from "react";
import { call } from "../../api/client";
import type { Conflict, ConflictAction, Verdict } from "../../api/records";
import { actionsFor, isParty, partOf, type Part } from "../../lib/advice";
import { useDraft } from "../../lib/draft";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { actionText } from "../../lib/text";
import { useAction } from "../../ui/action";
import { Ask } from "../../ui/form";
import { Section } from "../../ui/page";
import { Compose } from "../messages/Compose";

const stale = ["conflict", "conflicts", "attention", "intent", "intents"];

export function Actions({ conflict: c }: { conflict: Conflict }) {
  const me = useMe();
  const policy = useGet("policies", "GET /v1/policies", { query: { repo: c.repo.full_name } });
  const [asking, setAsking] = useState<ConflictAction | "override" | "message" | null>(null);
  const part = partOf(c, me.user.id, me.isAdmin);
  const live = ["open", "acknowledged", "resolving"].includes(c.status);
  const mayOverride = (policy.data?.effective["override.allowed_roles"] ?? ["owner", "admin"]).includes(me.org.role);
  const list = actionsFor(c.status, part, mayOverride);
  const close = () => setAsking(null);
  // What is being written stays, whatever happens to the conflict meanwhile.
  return (
    <>
      {live && (
        <Section title="Act" sub={partText[part]}>
          <div className="action-grid">
            {list.map((a, i) => (
              <Button key={a} variant={i === 0 && isParty(part) ? "filled" : "default"} fullWidth justify="flex-start" onClick={() => setAsking(a)}>
                {actionText[a].verb}
              </Button>
            ))}
            {mayOverride && (
              <Button variant="light" color="red" fullWidth justify="flex-start" leftSection={<IconShieldCheck size={14} />} onClick={() => setAsking("override")}>
                Override
              </Button>
            )}
            <Button variant="default" fullWidth justify="flex-start" leftSection={<IconMessage size={14} />} onClick={() => setAsking("message")}>
              Message both sides
            </Button>
          </div>
        </Section>
      )}
      {asking && asking !== "override" && asking !== "message" && <ActionDialog conflict={c} action={asking} onClose={close} />}
      {asking === "override" && <OverrideDialog conflict={c} needsReason={policy.data?.effective["override.require_reason"] ?? true} onClose={close} />}
      {asking === "message" && <Compose to={`conflict:${c.ref}`} name={`both sides of ${c.ref}`} onClose={close} onSent={close} />}
    </>
  );
}

const partText: Record<Part, string> = {
  holder: "You were there first.",
  challenger: "You came second.",
  lead: "You are on neither side, but may decide.",
  onlooker: "You are on neither side.",
};

/** Says that a conflict ended while somebody writes about it. */
function Meanwhile({ conflict: c }: { conflict: Conflict }) {
  if (["open", "acknowledged", "resolving"].includes(c.status)) return null;
  const by = c.override?.by.name ?? c.actions.at(-1)?.by.name;
  return (
    <Alert color="yellow" role="status">
      {c.ref} became {c.status} meanwhile{by ? ` (${by})` : ""}. What you wrote is kept; send it as a message if the others should read it.
    </Alert>
  );
}

const isOver = (c: Conflict): boolean => !["open", "acknowledged", "resolving"].includes(c.status);

function ActionDialog({ conflict: c, action, onClose }: { conflict: Conflict; action: ConflictAction; onClose: () => void }) {
  const me = useMe();
  const [note, setNote, forget] = useDraft(`conflict ${c.ref} ${action}`);
  const text = actionText[action];
  const sent = () => {
    forget();
    onClose();
  };
  const act = useAction(() => call("POST /v1/conflicts/{ref}/actions", { path: { ref: c.ref }, body: { action, note: note.trim() || undefined } }), { says: `${c.ref}: done.`, stale, then: sent });
  // The thread of a conflict ends with it: its people are written to by name.
  const others = [...new Set(c.parties.flatMap((p) => (p.user && p.user.id !== me.user.id ? p.user.email : [])))];
  const tell = useAction(
    async () => {
      for (const email of others) await call("POST /v1/messages", { body: { to: `user:${email}`, subject: `About ${c.ref}`, body: note.trim() } });
    },
    { says: "Sent.", then: sent },
  );
  const over = isOver(c);
  return (
    <Ask opened onClose={onClose} title={text.verb} confirm={over ? "Send as a message" : text.verb} busy={act.isPending || tell.isPending} disabled={over && (!note.trim() || others.length === 0)} onConfirm={() => (over ? tell.mutate() : act.mutate())}>
      <Meanwhile conflict={c} />
      <p className="dim">{text.help}</p>
      <Textarea label="Note" placeholder={text.noteHint} maxLength={2000} data-autofocus value={note} onChange={(e) => setNote(e.target.value)} dir="auto" />
    </Ask>
  );
}

function OverrideDialog({ conflict: c, needsReason, onClose }: { conflict: Conflict; needsReason: boolean; onClose: () => void }) {
  const [reason, setReason, forget] = useDraft(`conflict ${c.ref} override`);
  const trimmed = reason.trim();
  const override = useAction(() => call("POST /v1/conflicts/{ref}/override", { path: { ref: c.ref }, body: trimmed ? { reason: trimmed } : {} }), {
    says: `${c.ref} is overridden. Both sides may go on.`,
    stale,
    then: () => {
      forget();
      onClose();
    },
  });
  const short = needsReason ? trimmed.length < 3 : trimmed.length > 0 && trimmed.length < 3;
  return (
    <Ask opened onClose={onClose} title={`Override ${c.ref}?`} confirm="Override" danger busy={override.isPending} disabled={short || isOver(c)} onConfirm={() => override.mutate()}>
      <Meanwhile conflict={c} />
      <p className="dim">Both sides may go on until the evidence grows. The audit log keeps your name and your reason. Only people can do this; agents never can.</p>
      <Textarea label="Reason" required={needsReason} maxLength={2000} data-autofocus value={reason} onChange={(e) => setReason(e.target.value)} dir="auto" />
    </Ask>
  );
}

const verdicts: { value: Verdict; label: string }[] = [
  { value: "useful", label: "Useful" },
  { value: "false_positive", label: "False alarm" },
  { value: "too_late", label: "Too late" },
];

export function Feedback({ conflict: c }: { conflict: Conflict }) {
  const me = useMe();
  const mine = c.feedback.find((f) => f.by.id === me.user.id)?.verdict;
  const give = useAction((verdict: Verdict) => call("POST /v1/conflicts/{ref}/feedback", { path: { ref: c.ref }, body: { verdict } }), { says: "Thank you.", stale: ["conflict"] });
  return (
    <Section title="Was this report right?" sub="Your verdict shows in the stats and tunes what is worth a warning.">
      <div className="verdicts" role="group" aria-label="Verdict">
        {verdicts.map((v) => {
          const count = c.feedback.filter((f) => f.verdict === v.value).length;
          return (
            <Button key={v.value} variant={mine === v.value ? "light" : "default"} size="compact-sm" aria-pressed={mine === v.value} onClick={() => give.mutate(v.value)}>
              {v.label}
              {count > 0 && <span className="menu-hint">{count}</span>}
            </Button>
          );
        })}
      </div>
    </Section>
  );
}
