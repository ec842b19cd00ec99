import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client";
import { showPasskey } from "../lib/passkey";
import { useAction } from "./action";
import { Dialog, Form } from "./form";

/** Asks somebody who is signed in to prove again who they are, then lets go on what waited for it. */
export function Prove({ onDone }: { onDone: (proved: boolean) => void }) {
  const [text, setText] = useState("");
  const factors = useQuery({ queryKey: ["factors"], queryFn: () => call("GET /v1/auth/factors"), staleTime: 0 });
  const options = useQuery({ queryKey: ["options"], queryFn: () => call("GET /v1/auth/options") });
  const by = factors.data?.prove_with;
  const coded = by === "code" || by === "passkey"; // a recovery code stands in for a passkey
  const proved = { quietErrors: true, then: () => onDone(true) };
  const prove = useAction(() => call("POST /v1/auth/prove", { body: coded ? { code: text } : { password: text } }), proved);
  const show = useAction(async () => call("POST /v1/auth/prove", { body: { passkey: await showPasskey() } }), proved);
  const back = encodeURIComponent(location.pathname + location.search);
  const cancel = () => onDone(false);
  if (!factors.data) return null;
  return (
    <Dialog opened onClose={cancel} title="Is it still you?">
      {by === "sign_in" ? (
        <div className="stack">
          <p className="dim">This needs a fresh sign-in. You come back to this page, and can do it then.</p>
          {options.data?.providers.map((name) => (
            <Button key={name} component="a" href={`/v1/auth/oidc/start?provider=${encodeURIComponent(name)}&fresh=true&return_to=${back}`}>
              Continue with {name}
            </Button>
          ))}
          <div className="dialog-actions">
            <Button variant="default" onClick={cancel}>
              Cancel
            </Button>
          </div>
        </div>
      ) : (
        <Form onSubmit={() => prove.mutate()} onCancel={cancel} confirm="Go on" error={show.error ?? prove.error} busy={prove.isPending} disabled={!text}>
          <p className="dim">This needs a fresh proof. For the next 15 minutes you are not asked again.</p>
          {factors.data.passkeys.length > 0 && (
            <Button variant={by === "passkey" ? "filled" : "default"} fullWidth data-autofocus={by === "passkey"} loading={show.isPending} onClick={() => show.mutate()}>
              Use a passkey
            </Button>
          )}
          {coded ? (
            <TextInput label={by === "code" ? "Code" : "Or a recovery code"} description={by === "code" ? "Of your authenticator app, or a recovery code." : undefined} autoComplete="one-time-code" data-autofocus={by === "code"} required value={text} onChange={(e) => setText(e.target.value)} />
          ) : (
            <PasswordInput label="Password" autoComplete="current-password" data-autofocus required value={text} onChange={(e) => setText(e.target.value)} />
          )}
        </Form>
      )}
    </Dialog>
  );
}
