import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { call } from "../../api/client";
import { safeNext } from "../../lib/session";
import { useAction } from "../../ui/action";
import { SecondFactor, useEnter, usePasskeySignIn } from "./enter";
import { Entry, hashCode } from "./Entry";

export function SignIn() {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [params] = useSearchParams();
  const options = useQuery({ queryKey: ["options"], queryFn: () => call("GET /v1/auth/options") });
  const next = safeNext(params.get("next"));
  const [begun] = useState(hashCode); // by somebody who comes back from a provider
  const { half, enter } = useEnter(next, begun);
  // Somebody who has just signed out may want to sign in as someone else.
  const out = params.get("out") === "1";
  const signIn = useAction(() => call("POST /v1/auth/sign-in", { body: { email, password } }), {
    quietErrors: true,
    then: enter,
  });
  const passkey = usePasskeySignIn(enter);
  const error = signIn.error ?? passkey.error;
  if (half) return <SecondFactor half={half} enter={enter} />;
  return (
    <Entry
      title="Sign in"
      sub="See what your team's agents are doing, and what is about to collide."
      foot={
        <>
          {options.data?.set_up ? "This server has no org yet: open the set-up link that it printed when it started." : "No account yet? Ask an owner or admin of your org for an invite."}
          {options.data?.sign_up === "open" && (
            <>
              {" "}
              Or <Link href="/sign-up">make an org of your own</Link>.
            </>
          )}
        </>
      }
    >
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          passkey.reset();
          signIn.mutate();
        }}
      >
        {error && (
          <Alert color="red" role="alert">
            {error.message}
          </Alert>
        )}
        <TextInput label="Email" type="email" autoComplete="username" required autoFocus value={email} onChange={(e) => setEmail(e.target.value)} />
        <PasswordInput label="Password" autoComplete="current-password" required value={password} onChange={(e) => setPassword(e.target.value)} />
        <Button type="submit" size="sm" fullWidth loading={signIn.isPending}>
          Sign in
        </Button>
        {options.data?.passkeys && (
          <Button
            variant="default"
            size="sm"
            fullWidth
            loading={passkey.isPending}
            onClick={() => {
              signIn.reset();
              passkey.mutate();
            }}
          >
            Sign in with a passkey
          </Button>
        )}
        {options.data?.providers.map((name) => (
          <Button key={name} component="a" href={`/v1/auth/oidc/start?provider=${encodeURIComponent(name)}&return_to=${encodeURIComponent(next)}${out ? "&choose=true" : ""}`} variant="default" size="sm" fullWidth>
            Continue with {name}
          </Button>
        ))}
        {out && options.data?.providers.map((name) => (
          <a key={name} className="dim" href={`/v1/auth/oidc/end?provider=${encodeURIComponent(name)}`}>
            Sign out of {name}, too
          </a>
        ))}
      </form>
    </Entry>
  );
}
