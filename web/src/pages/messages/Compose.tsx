import { Checkbox, Select, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import type { Message } from "../../api/records";
import { useGet, useMembers, useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { Ask, fieldError, useAction } from "../../ui/form";

/** Everything a message can go to, grouped as people think of it. */
function useTargets() {
  const me = useMe();
  const members = useMembers();
  const repos = useRepos();
  const intents = useGet("intents", "GET /v1/intents", { query: { status: "live", limit: 100 } });
  const conflicts = useGet("conflicts", "GET /v1/conflicts", { query: { status: "live", limit: 50 } });
  return [
    { group: "People", items: (members.data?.items ?? []).filter((m) => m.id !== me.user.id).map((m) => ({ value: `user:${m.email}`, label: m.name })) },
    { group: "Channels", items: [{ value: "channel:team", label: "#team, everybody" }, ...(repos.data?.items ?? []).map((r) => ({ value: `channel:${r.full_name}`, label: `#${r.full_name}` }))] },
    { group: "Intents", items: (intents.data?.items ?? []).map((i) => ({ value: `intent:${i.ref}`, label: `${i.ref} ${i.title}` })) },
    { group: "Conflicts", items: (conflicts.data?.items ?? []).map((c) => ({ value: `conflict:${c.ref}`, label: `${c.ref} ${c.parties.map((p) => p.user?.name ?? "").join(" and ")}` })) },
  ].filter((g) => g.items.length > 0);
}

export function Compose({ onClose, onSent }: { onClose: () => void; onSent: (m: Message) => void }) {
  const targets = useTargets();
  const [to, setTo] = useState<string | null>(null);
  const [subject, setSubject] = useState("");
  const [body, setBody] = useState("");
  const [wantsAck, setWantsAck] = useState(false);
  const send = useAction(() => call("POST /v1/messages", { body: { to: to ?? "", body: body.trim(), subject: subject.trim() || undefined, requires_ack: wantsAck } }), { says: "Sent.", stale: ["conversations", "messages"], then: onSent });
  return (
    <Ask opened onClose={onClose} title="New message" confirm="Send" busy={send.isPending} disabled={!to || !body.trim()} onConfirm={() => send.mutate()}>
      <Select label="To" required searchable data-autofocus placeholder="A person, channel, intent or conflict" value={to} onChange={setTo} data={targets} limit={60} error={fieldError(send.error, "to")} nothingFoundMessage="Nobody by that name" />
      <TextInput label="Subject" maxLength={200} value={subject} onChange={(e) => setSubject(e.target.value)} />
      <Textarea label="Message" required maxLength={4000} value={body} onChange={(e) => setBody(e.target.value)} error={fieldError(send.error, "body")} />
      <Checkbox size="xs" label="Wants an acknowledgement" checked={wantsAck} onChange={(e) => setWantsAck(e.currentTarget.checked)} />
    </Ask>
  );
}
