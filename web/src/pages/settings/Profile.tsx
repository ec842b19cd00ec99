import { Button, PasswordInput, SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { useMe } from "../../lib/session";
import { Avatar, Pill } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Section } from "../../ui/page";
import { YourData } from "./Export";
import { Factors } from "./Factors";

export function Profile() {
  const me = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <>
      <Section title="You">
        <div className="row">
          <Avatar user={me.user} size={44} />
          <div>
            <b>{me.user.name}</b>
            <div className="dim">{me.user.email}</div>
          </div>
          <div className="grow" />
          <Pill tone="accent">
            {me.org.role} of {me.org.name}
          </Pill>
        </div>
      </Section>
      <Section title="Appearance">
        <SegmentedControl
          aria-label="Colour scheme"
          value={colorScheme}
          onChange={(v) => setColorScheme(v as "light" | "dark" | "auto")}
          data={[
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
            { value: "auto", label: "As the system" },
          ]}
        />
      </Section>
      <Factors />
      <Password />
      <YourData email={me.user.email} />
    </>
  );
}

function Password() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useAction(() => call("POST /v1/auth/password", { body: { current, new: next } }), {
    says: "Your password is changed. Your other sign-ins have ended.",
    quietErrors: true,
    then: () => {
      setCurrent("");
      setNext("");
    },
  });
  const wrong = change.error && !fieldError(change.error, "new") ? change.error.message : undefined;
  return (
    <Section title="Password" sub="Changing it ends your sign-ins elsewhere. Tokens of your agents go on working.">
      <form
        className="stack narrow"
        onSubmit={(e) => {
          e.preventDefault();
          change.mutate();
        }}
      >
        <PasswordInput label="Current password" autoComplete="current-password" value={current} onChange={(e) => setCurrent(e.target.value)} error={wrong} />
        <PasswordInput label="New password" description="At least 12 characters." autoComplete="new-password" required value={next} onChange={(e) => setNext(e.target.value)} error={fieldError(change.error, "new")} />
        <div>
          <Button type="submit" loading={change.isPending} disabled={!next}>
            Change password
          </Button>
        </div>
      </form>
    </Section>
  );
}
