import { Button } from "@mantine/core";
import { call, type Answer } from "../../api/client";
import type { Member } from "../../api/records";
import { useAction } from "../../ui/action";
import { Section } from "../../ui/page";
import { download } from "./download";

/** Downloads what the org stores about a person. */
function Export({ email, load, label, size }: { email: string; load: () => Promise<Answer<"POST /v1/me/export">>; label: string; size: string }) {
  const save = useAction(load, { says: "The file is in your downloads.", then: ({ rows }) => download(`svc-${email.replace(/[^\w.@-]+/g, "-")}.ndjson`, rows) });
  return (
    <Button size={size} variant="default" loading={save.isPending} onClick={() => save.mutate()}>
      {label}
    </Button>
  );
}

export const YourData = ({ email }: { email: string }) => (
  <Section title="Your data" sub="All that this org stores about you, and your account, without secrets: a file with one record a line. The audit log tells that you took it.">
    <Export email={email} size="sm" label="Download your data" load={() => call("POST /v1/me/export")} />
  </Section>
);

export const ExportMember = ({ member }: { member: Member }) => (
  <Export email={member.email} size="compact-xs" label="Export" load={() => call("POST /v1/members/{userId}/export", { path: { userId: member.id } })} />
);
