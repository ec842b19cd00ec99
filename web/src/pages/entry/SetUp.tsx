import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { call } from "../../api/client";
import { fieldError, useAction } from "../../ui/action";
import { Entry, ofLink } from "./Entry";

export const SetUp = ofLink(Make);

function Make({ code }: { code: string }) {
  const [form, setForm] = useState({ code, org: "", email: "", name: "", password: "" });
  const set = (field: keyof typeof form) => (e: { target: { value: string } }) => setForm({ ...form, [field]: e.target.value });
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const setUp = useAction(() => call("POST /v1/auth/setup", { body: form }), {
    quietErrors: true,
    then: (session) => {
      client.setQueryData(["session"], session);
      navigate("/", { replace: true });
    },
  });
  return (
    <Entry title="Set up your org" sub="You become its owner. Teammates join by invite; nothing leaves this server.">
      <form
        className="stack"
        onSubmit={(e) => {
          e.preventDefault();
          setUp.mutate();
        }}
      >
        {setUp.isError && (
          <Alert color="red" role="alert">
            {setUp.error.message}
          </Alert>
        )}
        {!code && <TextInput label="Set-up code" description="The server printed it when it started." required value={form.code} onChange={set("code")} />}
        <TextInput label="Name of the org" placeholder="Acme" required autoFocus maxLength={100} value={form.org} onChange={set("org")} error={fieldError(setUp.error, "org")} />
        <TextInput label="Your name" autoComplete="name" required maxLength={200} value={form.name} onChange={set("name")} error={fieldError(setUp.error, "name")} />
        <TextInput label="Your email" type="email" autoComplete="username" required value={form.email} onChange={set("email")} error={fieldError(setUp.error, "email")} />
        <PasswordInput label="Password" description="At least 12 characters." autoComplete="new-password" required value={form.password} onChange={set("password")} error={fieldError(setUp.error, "password")} />
        <Button type="submit" size="sm" fullWidth loading={setUp.isPending}>
          Make the org
        </Button>
      </form>
    </Entry>
  );
}
