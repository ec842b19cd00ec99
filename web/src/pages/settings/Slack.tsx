import { Button, TextInput } from "@mantine/core";
import { IconBrandSlack } from "@tabler/icons-react";
import { useState } from "react";
import { call } from "../../api/client";
import { useGet } from "../../lib/queries";
import { Ago, Pill } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Confirmed } from "../../ui/form";
import { Load, Section } from "../../ui/page";

export function SlackTab() {
  const slack = useGet("integrations", "GET /v1/integrations/slack", {}, { refetchInterval: 3000 }); // no event tells how a post went
  const [url, setUrl] = useState("");
  const connect = useAction((webhook_url: string | null) => call("PUT /v1/integrations/slack", { body: { webhook_url } }), { says: "Saved.", stale: ["integrations"], quietErrors: true, then: () => setUrl("") });
  const test = useAction(() => call("POST /v1/integrations/slack/test"), { says: "A test message is on its way.", stale: ["integrations"] });
  return (
    <Section title="Slack" sub="Blocking conflicts, override requests and questions that stay open go to a channel.">
      <Load query={slack}>
        {(s) =>
          s.connected ? (
            <div className="row">
              <IconBrandSlack size={20} aria-hidden />
              <div className="grow">
                <b>Connected</b> {s.connected_at && <Ago at={s.connected_at} />}
                <div className="dim">
                  {s.last_post_at ? <Ago at={s.last_post_at} prefix="Last post " /> : "Nothing was posted yet."} {s.last_error && <Pill tone="block">{s.last_error}</Pill>}
                </div>
              </div>
              <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                Send a test
              </Button>
              <Confirmed label="Disconnect" title="Disconnect Slack?" text="Nothing more is posted." confirm="Disconnect" onConfirm={() => connect.mutateAsync(null)} />
            </div>
          ) : (
            <form
              className="stack"
              onSubmit={(e) => {
                e.preventDefault();
                connect.mutate(url.trim());
              }}
            >
              <TextInput label="Incoming webhook address" description="In Slack: Apps, Incoming Webhooks, Add to a channel, copy the address." placeholder="https://hooks.slack.com/services/…" type="url" required value={url} onChange={(e) => setUrl(e.target.value)} error={fieldError(connect.error, "webhook_url") ?? connect.error?.message} />
              <div>
                <Button type="submit" loading={connect.isPending}>
                  Connect
                </Button>
              </div>
            </form>
          )
        }
      </Load>
    </Section>
  );
}
