import { Button } from "@mantine/core";
import { IconMail } from "../../ui/icons.gen";
import { call } from "../../api/client";
import { useGet } from "../../lib/queries";
import { Ago, Pill } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Load, Section } from "../../ui/page";

const tones: Record<string, "good" | "warn" | "block"> = { sent: "good", queued: "warn", bounced: "block", refused: "block" };

export function MailTab() {
  const mail = useGet("integrations", "GET /v1/integrations/mail", {}, { refetchInterval: 3000 }); // no event tells what became of a letter
  const test = useAction(() => call("POST /v1/integrations/mail/test"), { says: "An email to you is on its way.", stale: ["integrations"] });
  return (
    <Section title="Mail" sub="Invites and the digest are mailed by the server.">
      <Load query={mail}>
        {(m) =>
          m.available ? (
            <div className="row">
              <IconMail size={20} aria-hidden />
              <div className="grow">
                {m.test ? (
                  <>
                    Test email to <b>{m.test.to}</b> <Ago at={m.test.sent_at} /> <Pill tone={tones[m.test.state] ?? "warn"}>{m.test.state}</Pill>
                    {m.test.detail && <div className="dim">{m.test.detail}</div>}
                  </>
                ) : (
                  "Nobody has tried it yet."
                )}
              </div>
              <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                Send me a test email
              </Button>
            </div>
          ) : (
            <p className="dim">This server sends no mail: links are shown instead. Its administrator sets SVC_SMTP and SVC_SMTP_FROM.</p>
          )
        }
      </Load>
    </Section>
  );
}
