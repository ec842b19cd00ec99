import { Checkbox, Select, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import type { Message } from "../../api/records";
import { useDraft } from "../../lib/draft";
import { useGet, useMembers, useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { fieldError, useAction } from "../../ui/action";
import { Ask } from "../../ui/form";

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

/** A message to somebody, or to whom the reader chooses. What is typed is kept for each of them. */
export function Compose({ to: fixed, name, begin = "", onClose, onSent }: { to?: string; name?: string; begin?: string /* what stands there at first */; onClose: () => void; onSent: (m: Message) => void }) {
  const targets = useTargets();
  const [chosen, setChosen] = useState<string | null>(null);
  const to = fixed ?? chosen;
  const [subject, setSubject, forgetSubject] = useDraft(`subject ${fixed ?? "new"}`);
  const [body, setBody, forgetBody] = useDraft(`message ${fixed ?? "new"}`, begin);
  const [wantsAck, setWantsAck] = useState(false);
  const send = useAction(() => call("POST /v1/messages", { body: { to: to ?? "", body: body.trim(), subject: subject.trim() || undefined, requires_ack: wantsAck } }), {
    says: "Sent.",
    stale: ["conversations", "messages"],
    then: (m) => {
      forgetSubject();
      forgetBody();
      onSent(m);
    },
  });
  return (
    <Ask opened onClose={onClose} title={name ? `Message to ${name}` : "New message"} confirm="Send" busy={send.isPending} disabled={!to || !body.trim()} onConfirm={() => send.mutate()}>
      {!fixed && <Select label="To" required searchable data-autofocus placeholder="A person, channel, intent or conflict" value={chosen} onChange={setChosen} data={targets} limit={60} error={fieldError(send.error, "to")} nothingFoundMessage="Nobody by that name" />}
      {!fixed && <TextInput label="Subject" maxLength={200} value={subject} onChange={(e) => setSubject(e.target.value)} dir="auto" />}
      <Textarea label="Message" required data-autofocus={fixed ? true : undefined} maxLength={4000} value={body} onChange={(e) => setBody(e.target.value)} error={fieldError(send.error, "body")} dir="auto" />
      <Checkbox size="xs" label="Wants an acknowledgement" checked={wantsAck} onChange={(e) => setWantsAck(e.currentTarget.checked)} />
    </Ask>
  );
}
