import { Alert, Button } from "@mantine/core";
import { Link } from "wouter";
import { call } from "../../api/client";
import { useAction } from "../../ui/action";
import { SecondFactor, useEnter } from "./enter";
import { Entry, ofLink } from "./Entry";

/** Where a one-time link leads. Nothing happens before the button: mail is opened by machines, too. */
export const UseLink = ofLink(Use);

function Use({ code }: { code: string }) {
  const { half, enter } = useEnter("/");
  const use = useAction(() => call("POST /v1/auth/link", { body: { code } }), {
    quietErrors: true,
    then: enter,
  });
  if (half) return <SecondFactor half={half} enter={enter} />;
  return (
    <Entry title="Sign in with this link" sub="It works once. If it was mailed to you, it binds your account to the sign-in that asked for it." foot={<Link href="/sign-in">Sign in another way</Link>}>
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          use.mutate();
        }}
      >
        {(use.isError || !code) && (
          <Alert color="red" role="alert">
            {use.error?.message ?? "The link is not complete. Copy all of it, the part after # too."}
          </Alert>
        )}
        <Button type="submit" size="sm" fullWidth disabled={!code} loading={use.isPending}>
          Sign in
        </Button>
      </form>
    </Entry>
  );
}
