import { Alert, Button, Textarea } from "@mantine/core";
import { IconMessage, IconShieldCheck } from "../../ui/icons.gen";
import { useState } from "react";
import { call } from "../../api/client";
import type { Conflict, ConflictAction, Verdict } from "../../api/records";
import { actionsFor, isParty, partOf, type Part } from "../../lib/advice";
import { useDraft } from "../../lib/draft";
import { useMe } from "../../lib/session";
import { actionText } from "../../lib/text";
import { useAction } from "../../ui/action";
import { Ask } from "../../ui/form";
import { Section } from "../../ui/page";
import { Compose } from "../messages/Compose";
import { OverrideDialog, useOverriding } from "./Override";

const stale = ["conflict", "conflicts", "attention", "intent", "intents"];

export function Actions({ conflict: c }: { conflict: Conflict }) {
  const me = useMe();
  const overriding = useOverriding(c.repo.full_name);
  const [asking, setAsking] = useState<ConflictAction | "override" | "message" | null>(null);
  const part = partOf(c, me.user.id, me.isAdmin);
  const live = ["open", "acknowledged", "resolving"].includes(c.status);
  const list = actionsFor(c.status, part, overriding.may);
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
            {overriding.may && (
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
      {asking === "override" && (
        <OverrideDialog refs={[c.ref]} draft={`conflict ${c.ref} override`} needsReason={overriding.needsReason} over={isOver(c)} onClose={close}>
          <Meanwhile conflict={c} />
        </OverrideDialog>
      )}
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
