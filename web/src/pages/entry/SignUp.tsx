// Making an org of one's own: first a letter proves the address, then its link comes back here.
import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call } from "../../api/client";
import { switchOrg } from "../../lib/session";
import { fieldError, useAction } from "../../ui/action";
import { Loading } from "../../ui/page";
import { Entry, ofLink } from "./Entry";

export const SignUp = ofLink(({ code }) => (code ? <Finish code={code} /> : <Ask />));

function Ask() {
  const [email, setEmail] = useState("");
  const ask = useAction(() => call("POST /v1/auth/sign-up", { body: { email } }), { quietErrors: true });
  if (ask.isSuccess) {
    return (
      <Entry title="Look at your mail" sub={`We sent an email to ${email}. Its link makes your org; it works once, for a day.`} foot={<Link href="/sign-in">Back to sign-in</Link>}>
        <p className="dim">Nothing came? Look among the spam, or check the address and ask again.</p>
      </Entry>
    );
  }
  return (
    <Entry title="Make your org" sub="You become its owner and invite your team." foot={<Link href="/sign-in">Sign in instead</Link>}>
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          ask.mutate();
        }}
      >
        <Refused error={ask.error} />
        <TextInput label="Your email" type="email" autoComplete="username" required autoFocus value={email} onChange={(e) => setEmail(e.target.value)} error={fieldError(ask.error, "email")} />
        <Button type="submit" size="sm" fullWidth loading={ask.isPending}>
          Send me a link
        </Button>
      </form>
    </Entry>
  );
}

function Refused({ error }: { error: Error | null }) {
  if (!error) return null;
  return (
    <Alert color="red" role="alert">
      {error.message}
    </Alert>
  );
}

function Finish({ code }: { code: string }) {
  const [form, setForm] = useState({ org: "", name: "", password: "" });
  const set = (field: keyof typeof form) => (e: { target: { value: string } }) => setForm({ ...form, [field]: e.target.value });
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const look = useQuery({ queryKey: ["sign-up", code], queryFn: () => call("POST /v1/auth/sign-up/look", { body: { code } }) });
  const finish = useAction(() => call("POST /v1/auth/sign-up/finish", { body: { code, ...form } }), {
    quietErrors: true,
    then: (session) => {
      client.clear();
      client.setQueryData(["session"], session);
      navigate("/", { replace: true });
    },
  });
  if (look.isError) {
    return (
      <Entry title="This link does not work" sub={look.error.message} foot={<Link href="/sign-in">Sign in instead</Link>}>
        <p className="dim">It works once, for a while. Ask for a new one where you got it.</p>
      </Entry>
    );
  }
  if (!look.data) return <Loading />;
  if (look.data.account) {
    return (
      <Entry title="You have an account here" sub={`Sign in as ${look.data.email}, and this link makes another org of yours.`}>
        <Button component={Link} href={`/new-org#${encodeURIComponent(code)}`} size="sm" fullWidth>
          Go on
        </Button>
      </Entry>
    );
  }
  return (
    <Entry title="Make your org" sub="You become its owner. Teammates join by invite.">
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          finish.mutate();
        }}
      >
        <Refused error={finish.error} />
        <TextInput label="Email" value={look.data.email} readOnly autoComplete="username" />
        <TextInput label="Name of the org" placeholder="Acme" required autoFocus maxLength={100} value={form.org} onChange={set("org")} error={fieldError(finish.error, "org")} />
        <TextInput label="Your name" autoComplete="name" required maxLength={200} value={form.name} onChange={set("name")} error={fieldError(finish.error, "name")} />
        <PasswordInput label="Password" description="At least 12 characters." autoComplete="new-password" required value={form.password} onChange={set("password")} error={fieldError(finish.error, "password")} />
        <Button type="submit" size="sm" fullWidth loading={finish.isPending}>
          Make the org
        </Button>
      </form>
    </Entry>
  );
}

/** Another org of somebody who is signed in, with the code of an invitation or without. */
export const NewOrg = ofLink(Make);

function Make({ code }: { code: string }) {
  const [org, setOrg] = useState("");
  const session = useQuery({ queryKey: ["session"], queryFn: () => call("GET /v1/auth/session"), retry: false });
  const make = useAction(() => call("POST /v1/orgs", { body: { org, code } }), {
    quietErrors: true,
    then: (made) => switchOrg(made.slug),
  });
  if (session.isError) {
    return (
      <Entry title="Sign in first" sub="Then you make the org.">
        <Button component={Link} href={`/sign-in?next=${encodeURIComponent(`/new-org${location.hash}`)}`} size="sm" fullWidth>
          Sign in
        </Button>
      </Entry>
    );
  }
  if (!session.data) return <Loading />;
  return (
    <Entry title="Make another org" sub={`You, ${session.data.user?.email}, become its owner. Nothing of your other orgs is seen in it.`} foot={<Link href="/">Back to the dashboard</Link>}>
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          make.mutate();
        }}
      >
        <Refused error={make.error} />
        <TextInput label="Name of the org" required autoFocus maxLength={100} value={org} onChange={(e) => setOrg(e.target.value)} error={fieldError(make.error, "org")} />
        <Button type="submit" size="sm" fullWidth loading={make.isPending}>
          Make the org
        </Button>
      </form>
    </Entry>
  );
}
