import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/client";
import { useAction } from "./action";
import { Dialog, Form } from "./form";

/** Asks somebody who is signed in to prove again who they are, then lets go on what waited for it. */
export function Prove({ onDone }: { onDone: (proved: boolean) => void }) {
  const [text, setText] = useState("");
  const factors = useQuery({ queryKey: ["factors"], queryFn: () => call("GET /v1/auth/factors"), staleTime: 0 });
  const options = useQuery({ queryKey: ["options"], queryFn: () => call("GET /v1/auth/options") });
  const by = factors.data?.prove_with;
  const prove = useAction(() => call("POST /v1/auth/prove", { body: by === "code" ? { code: text } : { password: text } }), { quietErrors: true, then: () => onDone(true) });
  const back = encodeURIComponent(location.pathname + location.search);
  const cancel = () => onDone(false);
  return (
    <Dialog opened={by !== undefined} onClose={cancel} title="Is it still you?">
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
        <Form onSubmit={() => prove.mutate()} onCancel={cancel} confirm="Go on" error={prove.error} busy={prove.isPending} disabled={!text}>
          <p className="dim">This needs a fresh proof. For the next 15 minutes you are not asked again.</p>
          {by === "code" ? (
            <TextInput label="Code" description="Of your authenticator app, or a recovery code." autoComplete="one-time-code" data-autofocus required value={text} onChange={(e) => setText(e.target.value)} />
          ) : (
            <PasswordInput label="Password" autoComplete="current-password" data-autofocus required value={text} onChange={(e) => setText(e.target.value)} />
          )}
        </Form>
      )}
    </Dialog>
  );
}
