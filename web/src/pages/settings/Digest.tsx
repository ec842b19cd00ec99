import { Button, Modal, Select, Switch } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import type { Digest, DigestPreview } from "../../api/records";
import { useGet } from "../../lib/queries";
import { Ago } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Load, Section } from "../../ui/page";

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

export function DigestTab() {
  const digest = useGet("integrations", "GET /v1/integrations/digest");
  const [preview, setPreview] = useState<DigestPreview | null>(null);
  const change = useAction((body: Partial<Pick<Digest, "enabled" | "day" | "hour" | "channels" | "email_me">>) => call("PUT /v1/integrations/digest", { body }), { says: "Saved.", stale: ["integrations"] });
  const look = useAction(() => call("POST /v1/integrations/digest/preview"), { then: setPreview });
  const send = useAction(() => call("POST /v1/integrations/digest/send-now"), { says: "The digest is on its way.", stale: ["integrations"] });
  return (
    <Section
      title="Weekly digest"
      sub="What the team did, what collided, what it saved."
      actions={
        <>
          <Button variant="default" loading={look.isPending} onClick={() => look.mutate()}>
            Preview
          </Button>
          <Button variant="default" loading={send.isPending} onClick={() => send.mutate()}>
            Send now
          </Button>
        </>
      }
    >
      <Load query={digest}>
        {(d) => (
          <div className="stack">
            <Switch label="Send it every week" checked={d.enabled} onChange={(e) => change.mutate({ enabled: e.currentTarget.checked })} />
            <div className="two narrow">
              <Select label="Day" allowDeselect={false} value={String(d.day)} disabled={!d.enabled} onChange={(v) => v && change.mutate({ day: Number(v) })} data={days.map((label, value) => ({ value: String(value), label }))} />
              <Select label="Hour (UTC)" allowDeselect={false} value={String(d.hour)} disabled={!d.enabled} onChange={(v) => v && change.mutate({ hour: Number(v) })} data={Array.from({ length: 24 }, (_, h) => ({ value: String(h), label: `${String(h).padStart(2, "0")}:00` }))} />
            </div>
            <Switch label="Post it to Slack" description={d.slack_connected ? undefined : "Slack is not connected yet."} checked={d.channels.includes("slack")} disabled={!d.enabled || !d.slack_connected} onChange={(e) => change.mutate({ channels: e.currentTarget.checked ? [...d.channels, "slack"] : d.channels.filter((c) => c !== "slack") })} />
            <Switch label="Send it by email to those who want it" description={d.email_available ? undefined : "This server cannot send mail."} checked={d.channels.includes("email")} disabled={!d.enabled || !d.email_available} onChange={(e) => change.mutate({ channels: e.currentTarget.checked ? [...d.channels, "email"] : d.channels.filter((c) => c !== "email") })} />
            <Switch label="I want it by email" checked={d.email_me} disabled={!d.email_available} onChange={(e) => change.mutate({ email_me: e.currentTarget.checked })} />
            <p className="dim">
              {d.recipients.length > 0 && `Goes to ${d.recipients.map((r) => r.name).join(", ")}. `}
              {d.next_send_at && (
                <>
                  Next <Ago at={d.next_send_at} />.{" "}
                </>
              )}
              {d.last_run && (
                <>
                  Last sent <Ago at={d.last_run.at} />.
                </>
              )}
            </p>
          </div>
        )}
      </Load>
      <Modal opened={preview !== null} onClose={() => setPreview(null)} title={preview?.email.subject ?? "Preview"} size="lg">
        <pre className="plain-pre" tabIndex={0}>
          {preview?.email.text}
        </pre>
      </Modal>
    </Section>
  );
}
