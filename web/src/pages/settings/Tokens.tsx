import { Button, Checkbox, Modal, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconKey } from "../../ui/icons.gen";
import { useState } from "react";
import { call } from "../../api/client";
import type { Scope, Token } from "../../api/records";
import { useGet, useMembers } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { Ago, Code, Command, Pill } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Confirmed, Form, Once } from "../../ui/form";
import { Empty, Rows, Section } from "../../ui/page";

const scopes: { noun: string; list: Scope[] }[] = [
  { noun: "Agents", list: ["hooks:evaluate", "mcp:tools"] },
  { noun: "Intents", list: ["intents:read", "intents:write"] },
  { noun: "Conflicts", list: ["conflicts:read", "conflicts:write"] },
  { noun: "Messages", list: ["messages:read", "messages:write"] },
  { noun: "Repos", list: ["repos:read", "repos:write"] },
  { noun: "Members", list: ["members:read", "members:write"] },
  { noun: "Policies", list: ["policy:read", "policy:write"] },
  { noun: "Tokens", list: ["tokens:write"] },
  { noun: "Events", list: ["events:read"] },
  { noun: "Directory", list: ["scim"] },
];
const agentOnly: Scope[] = ["hooks:evaluate", "mcp:tools"];
const every = scopes.flatMap((s) => s.list);
const fromDevice = every.filter((s) => !["tokens:write", "members:write", "policy:write", "scim"].includes(s));

export function Tokens() {
  const me = useMe();
  const tokens = useGet("tokens", "GET /v1/tokens", { query: { limit: 200 } });
  const [making, setMaking] = useState(false);
  return (
    <>
      <Section
        title="Tokens"
        sub={me.isAdmin ? "Every token of the org. svc login makes one for each machine." : "Your tokens. svc login makes one for each machine."}
        pad={false}
        actions={me.isAdmin && <Button onClick={() => setMaking(true)}>New token</Button>}
      >
        <Rows
          query={tokens}
          none={
            <Empty icon={<IconKey size={22} stroke={1.5} />} title="No tokens yet">
              Connect a machine and its token appears here.
              <Command>{`svc login --server ${location.origin}`}</Command>
            </Empty>
          }
        >
          {(t) => (
            <TokenRow key={t.id} token={t} />
          )}
        </Rows>
      </Section>
      <NewToken opened={making} onClose={() => setMaking(false)} />
    </>
  );
}

function TokenRow({ token }: { token: Token }) {
  const members = useMembers();
  const owner = members.data?.items.find((m) => m.id === token.user_id);
  const revoke = useAction(() => call("DELETE /v1/tokens/{id}", { path: { id: token.id } }), { says: `${token.name} is revoked.`, stale: ["tokens"] });
  const ended = token.revoked_at ? "Revoked" : token.expires_at && Date.parse(token.expires_at) < Date.now() ? "Expired" : null;
  return (
    <li className={ended ? "row-item row-past" : "row-item"}>
      <IconKey size={18} stroke={1.5} aria-hidden />
      <div className="grow clip">
        <b className="clip">{token.name}</b>
        <div className="dim clip">
          <Code>{token.prefix}…</Code> {owner ? owner.name : token.kind === "service" ? "service" : ""} · {token.scopes.length === every.length ? "every scope" : `${token.scopes.length} scopes`} ·{" "}
          {token.last_used_at ? <Ago at={token.last_used_at} prefix="used " /> : "never used"}
          {token.expires_at && !ended && <Ago at={token.expires_at} prefix=" · ends " />}
        </div>
      </div>
      {token.kind === "service" && <Pill tone="info">Service</Pill>}
      {ended ? (
        <Pill tone="quiet">{ended}</Pill>
      ) : (
        <Confirmed label="Revoke" title={`Revoke ${token.name}?`} text="Whatever uses it is refused from now on. This cannot be undone." confirm="Revoke" onConfirm={() => revoke.mutateAsync()} />
      )}
    </li>
  );
}

function NewToken({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const me = useMe();
  const members = useMembers();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<"pat" | "service">("pat");
  const [who, setWho] = useState<string>(me.user.email);
  const [days, setDays] = useState("90");
  const [chosen, setChosen] = useState<Scope[]>(fromDevice);
  const [made, setMade] = useState("");
  const usable = kind === "service" ? chosen.filter((s) => !agentOnly.includes(s)) : chosen;
  const create = useAction(
    () => call("POST /v1/tokens", { body: { name: name.trim(), kind, user_email: kind === "pat" ? who : null, scopes: usable, expires_in_days: days === "never" ? null : Number(days) } }),
    { stale: ["tokens"], quietErrors: true, then: (t) => setMade(t.token) },
  );
  const close = () => {
    setMade("");
    setName("");
    create.reset();
    onClose();
  };
  return (
    <Modal opened={opened} onClose={close} size="lg" title={made ? "Copy the token now" : "New token"} closeOnClickOutside={!made}>
      {made ? (
        <Once secret={made} note="This is the only time it is shown. We keep a hash of it, nothing more." onClose={close} />
      ) : (
        <Form onSubmit={() => create.mutate()} onCancel={close} confirm="Make the token" error={create.error} fields={["name"]} busy={create.isPending} disabled={usable.length === 0}>
          <TextInput label="Name" placeholder="CI pipeline" required data-autofocus maxLength={100} value={name} onChange={(e) => setName(e.target.value)} error={fieldError(create.error, "name")} />
          <SegmentedControl
            aria-label="Kind of token"
            value={kind}
            onChange={(v) => setKind(v as "pat" | "service")}
            data={[
              { value: "pat", label: "Personal" },
              { value: "service", label: "Service" },
            ]}
          />
          <div className="two">
            {kind === "pat" ? (
              <Select label="Acts as" searchable allowDeselect={false} value={who} onChange={(v) => setWho(v ?? me.user.email)} data={(members.data?.items ?? []).map((m) => ({ value: m.email, label: m.name }))} />
            ) : (
              <p className="dim">A service token stands for nobody: it cannot run agents or own work.</p>
            )}
            <Select
              label="Ends"
              allowDeselect={false}
              value={days}
              onChange={(v) => setDays(v ?? "90")}
              data={[
                { value: "7", label: "After 7 days" },
                { value: "30", label: "After 30 days" },
                { value: "90", label: "After 90 days" },
                { value: "365", label: "After a year" },
                { value: "never", label: "Never" },
              ]}
            />
          </div>
          <Checkbox.Group label="Scopes" value={usable} onChange={(v) => setChosen(v as Scope[])}>
            <div className="scopes">
              {scopes.map((g) => (
                <div key={g.noun} className="scope-row">
                  <span className="scope-noun">{g.noun}</span>
                  {g.list.map((s) => (
                    <Checkbox key={s} value={s} size="xs" label={s.split(":")[1] ?? s} aria-label={s} disabled={kind === "service" && agentOnly.includes(s)} />
                  ))}
                </div>
              ))}
            </div>
          </Checkbox.Group>
        </Form>
      )}
    </Modal>
  );
}
