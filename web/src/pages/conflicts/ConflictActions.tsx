import { Button, Textarea } from "@mantine/core";
import { IconShieldCheck } from "@tabler/icons-react";
import { useState } from "react";
import { call } from "../../api/client";
import type { Conflict, ConflictAction, ConflictStatus, Verdict } from "../../api/records";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { actionText } from "../../lib/text";
import { Ask, useAction } from "../../ui/form";
import { Section } from "../../ui/page";

const stale = ["conflict", "conflicts", "attention", "intent", "intents"];

/** What each state allows, as the server has it. */
export function allowed(status: ConflictStatus): ConflictAction[] {
  switch (status) {
    case "open":
      return ["ack", "propose_sequence", "will_rebase", "resolved", "false_positive", "request_override"];
    case "acknowledged":
      return ["propose_sequence", "will_rebase", "resolved", "false_positive", "request_override"];
    case "resolving":
      return ["resolved", "false_positive", "request_override"];
    default:
      return [];
  }
}

export function Actions({ conflict: c }: { conflict: Conflict }) {
  const me = useMe();
  const policy = useGet("policies", "GET /v1/policies", { query: { repo: c.repo.full_name } });
  const [asking, setAsking] = useState<ConflictAction | "override" | null>(null);
  const party = c.parties.some((p) => p.user?.id === me.user.id);
  const may = party || me.isAdmin;
  const mayOverride = (policy.data?.effective["override.allowed_roles"] ?? ["owner", "admin"]).includes(me.org.role);
  const list = allowed(c.status).filter((a) => a !== "request_override" || !mayOverride);
  if (list.length === 0) return null;
  return (
    <Section title="Act">
      {may ? (
        <div className="action-grid">
          {list.map((a, i) => (
            <Button key={a} variant={i === 0 ? "filled" : "default"} fullWidth justify="flex-start" onClick={() => setAsking(a)}>
              {actionText[a].verb}
            </Button>
          ))}
          {mayOverride && (
            <Button variant="light" color="red" fullWidth justify="flex-start" leftSection={<IconShieldCheck size={14} />} onClick={() => setAsking("override")}>
              Override
            </Button>
          )}
        </div>
      ) : (
        <p className="dim">Only the people on either side, owners and admins can act on this one.</p>
      )}
      {asking && asking !== "override" && <ActionDialog conflict={c} action={asking} onClose={() => setAsking(null)} />}
      {asking === "override" && <OverrideDialog conflict={c} needsReason={policy.data?.effective["override.require_reason"] ?? true} onClose={() => setAsking(null)} />}
    </Section>
  );
}

function ActionDialog({ conflict: c, action, onClose }: { conflict: Conflict; action: ConflictAction; onClose: () => void }) {
  const [note, setNote] = useState("");
  const text = actionText[action];
  const act = useAction(() => call("POST /v1/conflicts/{ref}/actions", { path: { ref: c.ref }, body: { action, note: note.trim() || undefined } }), { says: `${c.ref}: done.`, stale, then: onClose });
  return (
    <Ask opened onClose={onClose} title={text.verb} confirm={text.verb} busy={act.isPending} onConfirm={() => act.mutate()}>
      <p className="dim">{text.help}</p>
      <Textarea label="Note" placeholder={text.noteHint} maxLength={2000} data-autofocus value={note} onChange={(e) => setNote(e.target.value)} />
    </Ask>
  );
}

function OverrideDialog({ conflict: c, needsReason, onClose }: { conflict: Conflict; needsReason: boolean; onClose: () => void }) {
  const [reason, setReason] = useState("");
  const trimmed = reason.trim();
  const override = useAction(() => call("POST /v1/conflicts/{ref}/override", { path: { ref: c.ref }, body: trimmed ? { reason: trimmed } : {} }), { says: `${c.ref} is overridden. Both sides may go on.`, stale, then: onClose });
  return (
    <Ask opened onClose={onClose} title={`Override ${c.ref}?`} confirm="Override" danger busy={override.isPending} disabled={needsReason ? trimmed.length < 3 : trimmed.length > 0 && trimmed.length < 3} onConfirm={() => override.mutate()}>
      <p className="dim">Both sides may go on until the evidence grows. The audit log keeps your name and your reason. Only people can do this; agents never can.</p>
      <Textarea label="Reason" required={needsReason} maxLength={2000} data-autofocus value={reason} onChange={(e) => setReason(e.target.value)} />
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
