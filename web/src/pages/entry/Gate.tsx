// Between signing in and an org that wants more than that.
import { Alert, Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "../../api/client";
import type { OrgPlace } from "../../api/records";
import { Prove } from "../../ui/Prove";
import { Factors, useFactors } from "../settings/Factors";
import { usePasskeySignIn } from "./enter";
import { Entry } from "./Entry";

const asks = {
  enrol: "Its owners want a second factor of everybody. Set one up, and you are in.",
  prove: "Its owners want your second factor at every sign-in.",
  other_sign_in: "It takes no passwords. Sign in another way, such as with a passkey.",
};

export function Gate({ org, others, switchOrg, signOut, onThrough }: { org: OrgPlace; others: OrgPlace[]; switchOrg: (slug: string) => void; signOut: () => Promise<void>; onThrough: () => void }) {
  const client = useQueryClient();
  const [proving, setProving] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!org.lacks && !busy) onThrough();
  }, [org.lacks, busy, onThrough]);
  const options = useQuery({ queryKey: ["options"], queryFn: () => call("GET /v1/auth/options") });
  const factors = useFactors();
  const again = () => void client.invalidateQueries({ queryKey: ["session"] });
  const passkey = usePasskeySignIn(again);
  const lacks = org.lacks ?? "enrol";
  return (
    <Entry title={org.name} sub={asks[lacks]}>
      <div className="stack">
        {lacks === "other_sign_in" && options.data?.passkeys && factors.data && factors.data.passkeys.length > 0 && (
          <Button onClick={() => passkey.mutate()} loading={passkey.isPending}>
            Sign in with a passkey
          </Button>
        )}
        {passkey.error && (
          <Alert color="red" role="alert">
            {passkey.error.message}
          </Alert>
        )}
        {(lacks === "enrol" || (lacks === "other_sign_in" && options.data?.passkeys)) && <Factors busy={setBusy} />}
        {lacks === "prove" && <Button onClick={() => setProving(true)}>Show it</Button>}
        {lacks === "other_sign_in" && options.data?.providers.length === 0 && !options.data.passkeys && <Alert color="yellow">There is no other way in here yet. Ask an owner, or the server&rsquo;s administrator.</Alert>}
        {lacks === "other_sign_in" &&
          options.data?.providers.map((name) => (
            <Button key={name} component="a" href={`/v1/auth/oidc/start?provider=${encodeURIComponent(name)}&return_to=/`}>
              Continue with {name}
            </Button>
          ))}
        {others.map((o) => (
          <Button key={o.slug} variant="default" onClick={() => switchOrg(o.slug)}>
            Go to {o.name}
          </Button>
        ))}
        <Button variant="subtle" onClick={() => void signOut()}>
          Sign out
        </Button>
      </div>
      {proving && (
        <Prove
          onDone={() => {
            setProving(false);
            again();
          }}
        />
      )}
    </Entry>
  );
}
