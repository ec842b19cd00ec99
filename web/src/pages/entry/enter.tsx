// What comes after a proof of who somebody is: the dashboard, or the second proof.
import { Alert, Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call, type Answer } from "../../api/client";
import { useAction } from "../../ui/action";
import { Entry } from "./Entry";

type SignedIn = Answer<"POST /v1/auth/sign-in">;

/** How to go on with an answer to signing in, and the ticket of one that waits for a second factor. */
export function useEnter(next: string, begun = ""): { ticket: string; enter: (session: SignedIn) => void } {
  const [ticket, setTicket] = useState(begun);
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const enter = (session: SignedIn) => {
    if (session.second_factor) return setTicket(session.second_factor.ticket);
    client.clear();
    client.setQueryData(["session"], session);
    navigate(next, { replace: true });
  };
  return { ticket, enter };
}

export function SecondFactor({ ticket, enter }: { ticket: string; enter: (session: SignedIn) => void }) {
  const [code, setCode] = useState("");
  const [lost, setLost] = useState(false);
  const show = useAction(() => call("POST /v1/auth/second-factor", { body: { ticket, code } }), { quietErrors: true, then: enter });
  return (
    <Entry
      title="One more step"
      sub={lost ? "Enter one of your recovery codes. Each works once." : "Enter the code that your authenticator app shows for svc."}
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
          show.mutate();
        }}
      >
        {show.isError && (
          <Alert color="red" role="alert">
            {show.error.message}
          </Alert>
        )}
        <TextInput key={String(lost)} label={lost ? "Recovery code" : "Code"} autoComplete="one-time-code" inputMode={lost ? "text" : "numeric"} required autoFocus value={code} onChange={(e) => setCode(e.target.value)} />
        <Button type="submit" size="sm" fullWidth loading={show.isPending}>
          Sign in
        </Button>
        <Button
          variant="subtle"
          size="sm"
          fullWidth
          onClick={() => {
            setLost(!lost);
            setCode("");
            show.reset();
          }}
        >
          {lost ? "Use the app instead" : "Use a recovery code"}
        </Button>
      </form>
    </Entry>
  );
}
