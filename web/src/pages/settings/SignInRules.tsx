import { Switch } from "@mantine/core";
import { call } from "../../api/client";
import { useMe } from "../../lib/session";
import { useAction } from "../../ui/action";
import { Section } from "../../ui/page";

/** What the org wants of those who sign in. */
export function SignInRules() {
  const { org } = useMe();
  const { require_second_factor, passwords_off } = org;
  const change = useAction((to: { require_second_factor?: boolean; passwords_off?: boolean }) => call("PUT /v1/org/sign-in", { body: { require_second_factor, passwords_off, ...to } }), {
    says: "The rules for signing in have changed.",
    stale: ["session"],
  });
  return (
    <Section title="Signing in" sub="Rules of this org, for the dashboard. Tokens that agents have go on working.">
      <div className="stack">
        <Switch
          label="Everybody needs a second factor"
          description="Who has none can only set one up. A sign-in through a provider counts: what it asks is set up there."
          checked={require_second_factor}
          disabled={change.isPending}
          onChange={(e) => change.mutate({ require_second_factor: e.currentTarget.checked })}
        />
        <Switch label="No passwords" description="A password opens nothing here any more; a provider or a passkey does." checked={passwords_off} disabled={change.isPending} onChange={(e) => change.mutate({ passwords_off: e.currentTarget.checked })} />
      </div>
    </Section>
  );
}
