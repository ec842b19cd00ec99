import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import type { Member } from "../../api/records";
import { useAction } from "../../ui/action";
import { Dialog, Form } from "../../ui/form";
import { done } from "../../ui/toast";

/** Erases a person for good, once their address has been typed. */
export function Erase({ member }: { member: Member }) {
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const erase = useAction(() => call("POST /v1/members/{userId}/erase", { path: { userId: member.id } }), {
    stale: ["members", "tokens", "invites"],
    quietErrors: true,
    then: (former) => done(`Erased. What they did is by “${former.name}” now.`),
  });
  const close = () => {
    setOpen(false);
    setTyped("");
    erase.reset();
  };
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
        Erase
      </Button>
      <Dialog opened={open} onClose={close} title={`Erase ${member.name} for good?`}>
        <Form onSubmit={() => erase.mutate()} onCancel={close} confirm="Erase for good" danger error={erase.error} busy={erase.isPending} disabled={typed.trim().toLowerCase() !== member.email.toLowerCase()}>
          <p className="dim">
            Name, address, sign-ins and all that they and their agents wrote are taken out, everywhere, and cannot be brought back. Tokens end at once. Figures and the audit log stay, as of a former member. Backups made before still have the person.
          </p>
          <p className="dim">To keep a copy, export it first. What they wrote to single people only they themselves, or the server&rsquo;s administrator, can export.</p>
          <TextInput label="Their address" description={`Type ${member.email} to confirm.`} autoComplete="off" data-autofocus required value={typed} onChange={(e) => setTyped(e.target.value)} />
        </Form>
      </Dialog>
    </>
  );
}
