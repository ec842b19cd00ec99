import { Button, Modal, Select, TextInput } from "@mantine/core";
import { IconMail, IconUserPlus } from "../../ui/icons.gen";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/client";
import type { Invite, Member, Role } from "../../api/records";
import { useGet, useMembers } from "../../lib/queries";
import { isAdmin, useMe } from "../../lib/session";
import { useFilter } from "../../lib/url";
import { Ago, Avatar, Command, Pill } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Confirmed, Form } from "../../ui/form";
import { Empty, Load, Rows, Section } from "../../ui/page";
import { Erase } from "./Erase";
import { ExportMember } from "./Export";
import { SignInRules } from "./SignInRules";

const roles: { value: Role; label: string; does: string }[] = [
  { value: "owner", label: "Owner", does: "everything, other owners and admins too" },
  { value: "admin", label: "Admin", does: "members, policies, integrations" },
  { value: "member", label: "Member", does: "works: owns intents, answers conflicts" },
  { value: "viewer", label: "Viewer", does: "sees everything, writes messages, owns no work" },
  { value: "billing", label: "Billing", does: "plan and invoices" },
];

export function Members() {
  const me = useMe();
  const members = useMembers();
  const [inviting, setInviting] = useFilter("invite");
  return (
    <>
      <Section
        title="Members"
        sub="Everybody here sees the org's work. Their agents act with their role."
        pad={false}
        actions={
          me.isAdmin && (
            <Button leftSection={<IconUserPlus size={15} />} onClick={() => setInviting("1")}>
              Invite
            </Button>
          )
        }
      >
        <Load query={members}>
          {(page) => (
            <ul className="rows">
              {page.items.map((m) => (
                <MemberRow key={m.id} member={m} />
              ))}
            </ul>
          )}
        </Load>
      </Section>
      {me.isAdmin && <Invites />}
      {me.org.role === "owner" && <SignInRules />}
      <InviteDialog opened={me.isAdmin && inviting !== ""} onClose={() => setInviting(null)} />
    </>
  );
}

function MemberRow({ member }: { member: Member }) {
  const me = useMe();
  const may = me.org.role === "owner" || (me.isAdmin && !isAdmin(member.role));
  const setRole = useAction((role: Role) => call("PATCH /v1/members/{userId}", { path: { userId: member.id }, body: { role } }), { says: `${member.name} has a new role.`, stale: ["members", "session"] });
  const remove = useAction(() => call("DELETE /v1/members/{userId}", { path: { userId: member.id } }), { says: `${member.name} is no longer in the org.`, stale: ["members", "tokens"] });
  const unbind = useAction(() => call("POST /v1/members/{userId}/unbind", { path: { userId: member.id } }), { says: `${member.name} can be bound again.`, stale: ["members"] });
  const options = useQuery({ queryKey: ["options"], queryFn: () => call("GET /v1/auth/options") });
  return (
    <li className="row-item">
      <Avatar user={member} size={30} />
      <div className="grow clip">
        <b>{member.name}</b> {member.id === me.user.id && <span className="dim">you</span>}
        <div className="dim clip">{member.email}</div>
      </div>
      <span className="dim wide-only">
        joined <Ago at={member.joined_at} />
      </span>
      {may ? (
        <Select
          aria-label={`Role of ${member.name}`}
          size="xs"
          w={112}
          allowDeselect={false}
          value={member.role}
          data={roles.filter((r) => me.org.role === "owner" || !isAdmin(r.value)).map(({ value, label }) => ({ value, label }))}
          onChange={(v) => v && v !== member.role && setRole.mutate(v as Role)}
        />
      ) : (
        <Pill tone="quiet">{member.role}</Pill>
      )}
      {me.org.role === "owner" && options.data?.oidc && (
        <Confirmed
          label="Unbind"
          title={`Unbind ${member.name} from their OpenID sign-in?`}
          text="For a person with a new account at the provider, or after the provider was replaced: the next sign-in with their verified address has the account."
          confirm="Unbind"
          onConfirm={() => unbind.mutateAsync()}
        />
      )}
      {may && member.id !== me.user.id && (
        <Confirmed
          label="Remove"
          title={`Remove ${member.name}?`}
          text="Their tokens end at once, so their agents lose access. Their intents stay and can be handed to somebody else."
          confirm="Remove"
          onConfirm={() => remove.mutateAsync()}
        />
      )}
      {me.org.role === "owner" && member.id !== me.user.id && (
        <>
          <ExportMember member={member} />
          <Erase member={member} />
        </>
      )}
    </li>
  );
}

function Invites() {
  const invites = useGet("invites", "GET /v1/invites");
  const resend = useAction((id: string) => call("POST /v1/invites/{id}/resend", { path: { id } }), { says: "Another email is on its way.", stale: ["invites"] });
  const revoke = useAction((id: string) => call("DELETE /v1/invites/{id}", { path: { id } }), { says: "The invite no longer works.", stale: ["invites"] });
  return (
    <Section title="Pending invites" pad={false}>
      <Rows
        query={invites}
        none={
          <Empty icon={<IconMail size={22} stroke={1.5} />} title="Nobody is waiting">
            An invite is a link that works once and for seven days.
          </Empty>
        }
      >
        {(i) => (
          <li key={i.id} className="row-item">
            <IconMail size={18} stroke={1.5} aria-hidden />
            <div className="grow clip">
              <b>{i.email ?? "Anybody with the link"}</b>
              <div className="dim">
                ends <Ago at={i.expires_at} />
                {i.mail && ` · ${letters[i.mail.state]}`}
              </div>
              {i.mail?.detail && <div className="dim wraps">{i.mail.detail}</div>}
            </div>
            <Pill tone="quiet">{i.role}</Pill>
            {i.mail && <Confirmed label="Send again" title={`Mail ${i.email} another link?`} text="The link in the first email stops working." confirm="Send it" onConfirm={() => resend.mutateAsync(i.id)} />}
            <Confirmed label="Take back" title="Take this invite back?" text="The link stops working at once." confirm="Take back" onConfirm={() => revoke.mutateAsync(i.id)} />
          </li>
        )}
      </Rows>
    </Section>
  );
}

/** What became of an invite's letter. */
const letters = { queued: "email on its way", sent: "sent by email", bounced: "the address is not known there", refused: "the mail server refused the email" } as const;

function InviteDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const me = useMe();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [made, setMade] = useState<Invite | null>(null);
  const invite = useAction(() => call("POST /v1/invites", { body: { role, email: email.trim() || null } }), { stale: ["invites"], quietErrors: true, then: setMade });
  const close = () => {
    setMade(null);
    setEmail("");
    invite.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} title={made ? "Invite ready" : "Invite a teammate"}>
      {made ? (
        <div className="stack">
          <p className="dim">
            {made.mail ? `An email to ${made.email} is on its way; the list of invites shows its status. You can also send` : "Send"} this link{made.email ? ` to ${made.email}` : ""}. It works once, and ends <Ago at={made.expires_at} />.
          </p>
          <Command>{made.url ?? ""}</Command>
          <div className="dialog-actions">
            <Button variant="default" onClick={() => setMade(null)}>
              Invite another
            </Button>
            <Button onClick={close}>Done</Button>
          </div>
        </div>
      ) : (
        <Form onSubmit={() => invite.mutate()} onCancel={close} confirm="Make the invite" error={invite.error} fields={["email"]} busy={invite.isPending}>
          <TextInput label="Email" description="Leave it empty for a link that anybody may use once." type="email" data-autofocus value={email} onChange={(e) => setEmail(e.target.value)} error={fieldError(invite.error, "email")} />
          <Select
            label="Role"
            allowDeselect={false}
            value={role}
            onChange={(v) => setRole((v as Role | null) ?? "member")}
            data={roles.filter((r) => me.org.role === "owner" || !isAdmin(r.value)).map(({ value, label }) => ({ value, label }))}
            description={roles.find((r) => r.value === role)?.does}
            inputWrapperOrder={["label", "input", "description", "error"]}
          />
        </Form>
      )}
    </Modal>
  );
}
