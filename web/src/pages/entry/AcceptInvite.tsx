import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { call } from "../../api/client";
import { Ago } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Loading } from "../../ui/page";
import { SecondFactor, useEnter } from "./enter";
import { Entry, ofLink } from "./Entry";

export const AcceptInvite = ofLink(Accept);

function Accept({ code }: { code: string }) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { half, enter } = useEnter("/");
  const invite = useQuery({ queryKey: ["invite", code], queryFn: () => call("POST /v1/auth/invite", { body: { code } }), enabled: code !== "" });
  const accept = useAction(() => call("POST /v1/auth/accept-invite", { body: { code, name, password, email: invite.data?.email ? null : email } }), {
    quietErrors: true,
    then: enter,
  });
  if (half) return <SecondFactor half={half} enter={enter} />;
  if (!code || invite.isError) {
    return (
      <Entry title="This invite does not work" sub={invite.error?.message ?? "The link is not complete. Copy all of it, the part after # too."} foot={<Link href="/sign-in">Sign in instead</Link>}>
        <p className="dim">Invites last seven days and work once. Ask the person who sent it for a new one.</p>
      </Entry>
    );
  }
  if (!invite.data) return <Loading />;
  return (
    <Entry
      title={`Join ${invite.data.org_name}`}
      sub={
        <>
          You are invited as <b>{invite.data.role}</b>. The invite ends <Ago at={invite.data.expires_at} />.
        </>
      }
      foot="Already have an account here? Use its password: the org is added to it."
    >
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          accept.mutate();
        }}
      >
        {accept.isError && (
          <Alert color="red" role="alert">
            {accept.error.message}
          </Alert>
        )}
        {invite.data.email ? (
          <TextInput label="Email" value={invite.data.email} readOnly autoComplete="username" />
        ) : (
          <TextInput label="Email" type="email" autoComplete="username" required value={email} onChange={(e) => setEmail(e.target.value)} error={fieldError(accept.error, "email")} />
        )}
        <TextInput label="Your name" autoComplete="name" required autoFocus maxLength={200} value={name} onChange={(e) => setName(e.target.value)} error={fieldError(accept.error, "name")} />
        <PasswordInput label="Password" description="At least 12 characters." autoComplete="new-password" required value={password} onChange={(e) => setPassword(e.target.value)} error={fieldError(accept.error, "password")} />
        <Button type="submit" size="sm" fullWidth loading={accept.isPending}>
          Join
        </Button>
      </form>
    </Entry>
  );
}
