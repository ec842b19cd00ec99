// What comes after a proof of who somebody is: the dashboard, or the second proof.
import { Alert, Button, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call, type Answer } from "../../api/client";
import { showPasskey } from "../../lib/passkey";
import { useAction } from "../../ui/action";
import { Entry } from "./Entry";

type SignedIn = Answer<"POST /v1/auth/sign-in">;
/** A sign-in that waits for a second factor. Who comes back from a provider has only the ticket. */
type Half = Pick<NonNullable<SignedIn["second_factor"]>, "ticket"> & Partial<NonNullable<SignedIn["second_factor"]>>;

/** How to go on with an answer to signing in, and what waits for a second factor. */
export function useEnter(next: string, begun = ""): { half: Half | null; enter: (session: SignedIn) => void } {
  const [half, setHalf] = useState<Half | null>(begun ? { ticket: begun } : null);
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const enter = (session: SignedIn) => {
    if (session.second_factor) return setHalf(session.second_factor);
    client.clear();
    client.setQueryData(["session"], session);
    navigate(next, { replace: true });
  };
  return { half, enter };
}

/** Signs in with a passkey, with a ticket in place of the second factor. */
export const usePasskeySignIn = (enter: (session: SignedIn) => void, ticket?: string) =>
  useAction(async () => call("POST /v1/auth/passkey/sign-in", { body: { credential: await showPasskey(), ticket } }), { quietErrors: true, then: enter });

export function SecondFactor({ half, enter }: { half: Half; enter: (session: SignedIn) => void }) {
  const [code, setCode] = useState("");
  const options = useQuery({ queryKey: ["options"], queryFn: () => call("GET /v1/auth/options") });
  const app = half.totp ?? true;
  const keys = half.passkeys ?? options.data?.passkeys ?? false;
  const [lost, setLost] = useState(false);
  const typed = app || lost;
  const show = useAction(() => call("POST /v1/auth/second-factor", { body: { ticket: half.ticket, code } }), { quietErrors: true, then: enter });
  const passkey = usePasskeySignIn(enter, half.ticket);
  const error = show.error ?? passkey.error;
  const reset = () => {
    show.reset();
    passkey.reset();
  };
  return (
    <Entry
      title="One more step"
      sub={lost ? "Enter one of your recovery codes. Each works once." : app ? "Enter the code that your authenticator app shows for svc." : "Show a passkey of yours."}
      foot={
        <>
          No recovery code either? The server&rsquo;s administrator can help. <Link href="/sign-in">Begin again</Link>
        </>
      }
    >
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          reset();
          show.mutate();
        }}
      >
        {error && (
          <Alert color="red" role="alert">
            {error.message}
          </Alert>
        )}
        {typed && (
          <>
            <TextInput key={String(lost)} label={lost ? "Recovery code" : "Code"} autoComplete="one-time-code" inputMode={lost ? "text" : "numeric"} required autoFocus value={code} onChange={(e) => setCode(e.target.value)} />
            <Button type="submit" size="sm" fullWidth loading={show.isPending}>
              Sign in
            </Button>
          </>
        )}
        {keys && !lost && (
          <Button
            variant={typed ? "default" : "filled"}
            size="sm"
            fullWidth
            loading={passkey.isPending}
            onClick={() => {
              reset();
              passkey.mutate();
            }}
          >
            Use a passkey
          </Button>
        )}
        <Button
          variant="subtle"
          size="sm"
          fullWidth
          onClick={() => {
            setLost(!lost);
            setCode("");
            reset();
          }}
        >
          {lost ? (app ? "Use the app instead" : "Use a passkey instead") : "Use a recovery code"}
        </Button>
      </form>
    </Entry>
  );
}
