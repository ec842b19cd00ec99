import { Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import type { Intent, IntentPatch, ScopeSet } from "../../api/records";
import { useMembers } from "../../lib/queries";
import { Ask, fieldError, useAction } from "../../ui/form";

const stale = ["intent", "intents", "conflicts", "sessions", "attention"];

interface Props {
  intent: Intent;
  onClose: () => void;
}

const minus = (a: string[], b: string[]) => a.filter((x) => !b.includes(x));

/** What to add to and remove from a scope; nothing where nothing changed. */
export function scopeChange(before: ScopeSet, after: ScopeSet): Pick<IntentPatch, "scope_add" | "scope_remove"> {
  const out: Pick<IntentPatch, "scope_add" | "scope_remove"> = {};
  for (const part of ["paths", "symbols", "contracts"] as const) {
    const add = minus(after[part], before[part]);
    const remove = minus(before[part], after[part]);
    if (add.length) out.scope_add = { ...out.scope_add, [part]: add };
    if (remove.length) out.scope_remove = { ...out.scope_remove, [part]: remove };
  }
  return out;
}

export function EditDialog({ intent, onClose }: Props) {
  const [title, setTitle] = useState(intent.title);
  const [summary, setSummary] = useState(intent.summary ?? "");
  const [scope, setScope] = useState(intent.scope);
  const [status, setStatus] = useState<string>(intent.status === "in_review" ? "in_review" : "active");
  const save = useAction(
    () => {
      const body: IntentPatch = { ...scopeChange(intent.scope, scope) };
      if (title !== intent.title) body.title = title;
      if (summary !== (intent.summary ?? "")) body.summary = summary;
      if ((status === "in_review") !== (intent.status === "in_review")) body.status = status as "active" | "in_review";
      return call("PATCH /v1/intents/{ref}", { path: { ref: intent.ref }, body });
    },
    { says: `${intent.ref} is changed.`, stale, then: onClose },
  );
  return (
    <Ask opened onClose={onClose} title={`Edit ${intent.ref}`} confirm="Save" busy={save.isPending} onConfirm={() => save.mutate()}>
      <TextInput label="Title" required maxLength={200} data-autofocus value={title} onChange={(e) => setTitle(e.target.value)} error={fieldError(save.error, "title")} />
      <Textarea label="Summary" maxLength={2000} value={summary} onChange={(e) => setSummary(e.target.value)} />
      <Select
        label="Status"
        allowDeselect={false}
        value={status}
        onChange={(v) => setStatus(v ?? "active")}
        data={[
          { value: "active", label: "Active" },
          { value: "in_review", label: "In review" },
        ]}
      />
      <TagsInput label="Paths" description="Globs from the root of the repo. Enter adds one." maxTags={200} value={scope.paths} onChange={(paths) => setScope({ ...scope, paths })} error={fieldError(save.error, "scope_add.paths")} />
      <TagsInput label="Symbols" maxTags={200} value={scope.symbols} onChange={(symbols) => setScope({ ...scope, symbols })} />
      <TagsInput label="Contracts" maxTags={200} value={scope.contracts} onChange={(contracts) => setScope({ ...scope, contracts })} />
    </Ask>
  );
}

export function HandoffDialog({ intent, onClose }: Props) {
  const members = useMembers();
  const [to, setTo] = useState<string | null>(null);
  const [note, setNote] = useState("");
  const hand = useAction(() => call("POST /v1/intents/{ref}/handoff", { path: { ref: intent.ref }, body: { to: to ?? "", note: note.trim() || undefined } }), { says: `${intent.ref} is handed off.`, stale, then: onClose });
  const able = (members.data?.items ?? []).filter((m) => ["owner", "admin", "member"].includes(m.role) && m.id !== intent.owner.id);
  return (
    <Ask opened onClose={onClose} title={`Hand off ${intent.ref}`} confirm="Hand off" busy={hand.isPending} disabled={!to} onConfirm={() => hand.mutate()}>
      <p className="dim">The new owner gets a direct thread with your note. Claims stay with the intent.</p>
      <Select label="To" searchable required data-autofocus value={to} onChange={setTo} data={able.map((m) => ({ value: m.email, label: m.name }))} placeholder="Choose a teammate" />
      <Textarea label="Note" maxLength={2000} placeholder="Where it stands, what is left to do" value={note} onChange={(e) => setNote(e.target.value)} />
    </Ask>
  );
}

export function CloseDialog({ intent, outcome, onClose }: Props & { outcome: "merged" | "abandoned" }) {
  const [note, setNote] = useState("");
  const close = useAction(() => call("POST /v1/intents/{ref}/close", { path: { ref: intent.ref }, body: { outcome, note: note.trim() || undefined } }), { says: `${intent.ref} is closed.`, stale, then: onClose });
  return (
    <Ask opened onClose={onClose} title={outcome === "merged" ? `Close ${intent.ref} as merged?` : `Abandon ${intent.ref}?`} confirm={outcome === "merged" ? "Close as merged" : "Abandon"} danger={outcome === "abandoned"} busy={close.isPending} onConfirm={() => close.mutate()}>
      <p className="dim">Its claims are released and whoever waits for it goes on. This cannot be undone.</p>
      <Textarea label="Note" maxLength={2000} value={note} onChange={(e) => setNote(e.target.value)} />
    </Ask>
  );
}
