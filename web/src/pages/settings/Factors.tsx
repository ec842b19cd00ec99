// What the person who is signed in proves it with, beside a password.
import { Alert, Button, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call, type Answer } from "../../api/client";
import { fieldError, useAction } from "../../ui/action";
import { Command, Pill } from "../../ui/bits";
import { Confirmed, Dialog, Form } from "../../ui/form";
import { Load, Section } from "../../ui/page";
import { Passkeys } from "./Passkeys";
import "../../styles/settings.css";

export const useFactors = () => useQuery({ queryKey: ["factors"], queryFn: () => call("GET /v1/auth/factors") });

/** busy is told while recovery codes are shown, which are not shown again. */
export function Factors({ busy }: { busy?: (shown: boolean) => void }) {
  const factors = useFactors();
  const [begun, setBegun] = useState<Answer<"POST /v1/auth/totp"> | null>(null);
  const [codes, show] = useState<string[] | null>(null);
  const setCodes = (made: string[] | null) => {
    show(made);
    busy?.(made !== null);
  };
  const stale = ["factors", "session"];
  const begin = useAction(() => call("POST /v1/auth/totp"), { then: setBegun });
  const remake = useAction(() => call("POST /v1/auth/recovery-codes"), { stale, then: (made) => setCodes(made.recovery_codes) });
  const remove = useAction(() => call("DELETE /v1/auth/totp"), { stale, says: "Signing in takes no code any more." });
  return (
    <>
      <Load query={factors}>
        {(has) => (
          <>
            <Passkeys has={has} onCodes={setCodes} />
            <Section title="Two-step sign-in" sub="A code of an app on your phone, after password or provider. It counts in every org you are in.">
              <div className="stack">
                {has.totp ? (
                  <div className="row">
                    <Pill tone="good">on</Pill>
                    <span className="grow">Authenticator app</span>
                    <Confirmed label="Remove" title="Remove the authenticator app?" text={has.passkeys.length > 0 ? "Its codes stop working. Your passkeys and recovery codes stay." : "From then on your password or provider alone signs you in. Your recovery codes stop working, too."} confirm="Remove" onConfirm={() => remove.mutateAsync()} />
                  </div>
                ) : (
                  <div>
                    <Button variant={has.passkeys.length > 0 ? "default" : "filled"} onClick={() => begin.mutate()} loading={begin.isPending}>
                      Set up an authenticator app
                    </Button>
                  </div>
                )}
                {(has.totp || has.passkeys.length > 0) && (
                  <div className="row">
                    <Pill tone={has.recovery_codes > 3 ? "quiet" : "warn"}>{has.recovery_codes} left</Pill>
                    <span className="grow">Recovery codes, for a day without phone and passkeys</span>
                    <Confirmed label="Make new ones" title="Make new recovery codes?" text="The codes that you have now stop working." confirm="Make new ones" onConfirm={() => remake.mutateAsync()} />
                  </div>
                )}
              </div>
            </Section>
          </>
        )}
      </Load>
      {begun && (
        <Enrol
          begun={begun}
          onClose={(made) => {
            setBegun(null);
            setCodes(made ?? null);
          }}
        />
      )}
      {codes && <Codes codes={codes} onClose={() => setCodes(null)} />}
    </>
  );
}

function Enrol({ begun, onClose }: { begun: Answer<"POST /v1/auth/totp">; onClose: (codes?: string[]) => void }) {
  const [code, setCode] = useState("");
  const client = useQueryClient();
  const confirm = useAction(() => call("POST /v1/auth/totp/confirm", { body: { code } }), {
    quietErrors: true,
    then: (made) => {
      for (const key of ["factors", "session"]) void client.invalidateQueries({ queryKey: [key] });
      onClose(made.recovery_codes);
    },
  });
  return (
    <Dialog opened onClose={() => onClose()} title="Set up an authenticator app">
      <Form onSubmit={() => confirm.mutate()} onCancel={() => onClose()} confirm="Turn it on" error={confirm.error} fields={["code"]} busy={confirm.isPending} disabled={!code}>
        <p className="dim">Scan this with an authenticator app, such as the one of your password manager.</p>
        <svg className="qr" role="img" aria-label="QR code for an authenticator app" viewBox={`0 0 ${begun.qr.size} ${begun.qr.size}`} shapeRendering="crispEdges">
          <rect width="100%" height="100%" fill="#fff" />
          <path d={begun.qr.path} fill="#000" />
        </svg>
        <p className="dim">No camera? Enter this key in the app:</p>
        <Command>{begun.secret}</Command>
        <TextInput label="Code" description="What the app shows now." autoComplete="one-time-code" inputMode="numeric" data-autofocus required value={code} onChange={(e) => setCode(e.target.value)} error={fieldError(confirm.error, "code")} />
      </Form>
    </Dialog>
  );
}

function Codes({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return (
    <Dialog opened onClose={onClose} title="Your recovery codes" closeOnClickOutside={false}>
      <div className="stack">
        <Alert color="yellow">Keep these where you find them without your phone or passkeys. Each signs you in once. They are not shown again.</Alert>
        <ul className="codes" aria-label="Recovery codes">
          {codes.map((c) => (
            <li key={c}>
              <code>{c}</code>
            </li>
          ))}
        </ul>
        <div className="dialog-actions">
          <Button variant="default" onClick={() => void navigator.clipboard.writeText(codes.join("\n"))}>
            Copy all
          </Button>
          <Button onClick={onClose}>I have them</Button>
        </div>
      </div>
    </Dialog>
  );
}
