// The passkeys of the person who is signed in.
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { call, type Answer } from "../../api/client";
import { makePasskey, noPasskeys } from "../../lib/passkey";
import { fieldError, useAction } from "../../ui/action";
import { Ago, Pill } from "../../ui/bits";
import { Confirmed, Dialog, Form } from "../../ui/form";
import { Section } from "../../ui/page";

type Has = Answer<"GET /v1/auth/factors">;
const stale = ["factors", "session"];

/** onCodes is told the recovery codes that came with a first second factor. */
export function Passkeys({ has, onCodes }: { has: Has; onCodes: (codes: string[]) => void }) {
  const [adding, setAdding] = useState(false);
  const why = has.passkeys_off ? has.passkeys_off[0]!.toUpperCase() + has.passkeys_off.slice(1) + "." : noPasskeys();
  return (
    <Section title="Passkeys" sub="Sign in with your finger, your face or a PIN: no password, no code. A passkey counts in every org you are in.">
      <div className="stack">
        {has.passkeys.length > 0 && (
          <ul className="stack" aria-label="Passkeys">
            {has.passkeys.map((k) => (
              <Passkey key={k.id} passkey={k} last={has.passkeys.length === 1 && !has.totp} />
            ))}
          </ul>
        )}
        {why ? (
          <p className="dim">{why}</p>
        ) : (
          <div>
            <Button variant={has.passkeys.length > 0 ? "default" : "filled"} onClick={() => setAdding(true)}>
              Add a passkey
            </Button>
          </div>
        )}
      </div>
      {adding && (
        <Add
          onClose={(codes) => {
            setAdding(false);
            if (codes?.length) onCodes(codes);
          }}
        />
      )}
    </Section>
  );
}

function Passkey({ passkey, last }: { passkey: Has["passkeys"][number]; last: boolean }) {
  const remove = useAction(() => call("DELETE /v1/auth/passkeys/{id}", { path: { id: passkey.id } }), { stale, says: `${passkey.name} does not sign you in any more.` });
  return (
    <li className="row">
      <div className="grow clip">
        <b>{passkey.name}</b>
        <div className="dim">
          added <Ago at={passkey.created_at} /> · {passkey.last_used_at ? <Ago at={passkey.last_used_at} prefix="last used " /> : "not used yet"}
        </div>
      </div>
      {passkey.copied_at && <Pill tone="block">there may be a copy: remove it</Pill>}
      {passkey.synced && <Pill tone="quiet">synced</Pill>}
      <Confirmed
        label="Remove"
        title={`Remove ${passkey.name}?`}
        text={`It does not sign you in any more. ${last ? "It is your only second factor, so your recovery codes stop working, too. " : ""}Remove it from your device or password manager as well.`}
        confirm="Remove"
        onConfirm={() => remove.mutateAsync()}
      />
    </li>
  );
}

function Add({ onClose }: { onClose: (codes?: string[]) => void }) {
  const [name, setName] = useState("");
  const add = useAction(() => makePasskey(name.trim()), { stale, quietErrors: true, says: "The passkey signs you in from now on.", then: (made) => onClose(made.recovery_codes) });
  return (
    <Dialog opened onClose={() => onClose()} title="Add a passkey">
      <Form onSubmit={() => add.mutate()} onCancel={() => onClose()} confirm="Go on" error={add.error} fields={["name"]} busy={add.isPending} disabled={!name.trim()}>
        <p className="dim">Your browser asks where to keep it: on this device, on a phone or key of yours, or in your password manager.</p>
        <TextInput label="Name" description="To tell it from others, such as “work laptop”." data-autofocus required maxLength={60} value={name} onChange={(e) => setName(e.target.value)} error={fieldError(add.error, "name")} />
      </Form>
    </Dialog>
  );
}
