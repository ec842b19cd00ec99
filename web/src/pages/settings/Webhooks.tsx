import { Button, Checkbox, Menu, MultiSelect, NativeSelect, TextInput } from "@mantine/core";
import { IconDots, IconRefresh, IconWebhook } from "../../ui/icons.gen";
import { useState } from "react";
import { call } from "../../api/client";
import type { Delivery, EventType, Webhook } from "../../api/records";
import { words } from "../../lib/events";
import { useGet } from "../../lib/queries";
import { Ago, Code, Pill, StackTable } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Ask, Dialog, Form, Once } from "../../ui/form";
import { Empty, Load, Rows, Section } from "../../ui/page";
import { done } from "../../ui/toast";

export function Webhooks() {
  const hooks = useGet("webhooks", "GET /v1/webhooks");
  const [making, setMaking] = useState(false);
  return (
    <>
      <Section title="Webhooks" sub="Events as they happen, signed, tried again until they arrive." pad={false} actions={<Button onClick={() => setMaking(true)}>Add webhook</Button>}>
        <Rows
          query={hooks}
          none={
            <Empty icon={<IconWebhook size={22} stroke={1.5} />} title="No webhooks">
              Let your own systems hear of conflicts, overrides and merges.
            </Empty>
          }
        >
          {(h) => (
            <HookRow key={h.id} hook={h} />
          )}
        </Rows>
      </Section>
      {making && <NewWebhook onClose={() => setMaking(false)} />}
    </>
  );
}

function HookRow({ hook }: { hook: Webhook }) {
  const [open, setOpen] = useState(false);
  const test = useAction(() => call("POST /v1/webhooks/{id}/test", { path: { id: hook.id } }), { says: "A test is on its way.", stale: ["webhooks", "deliveries"], then: () => setOpen(true) });
  const [asking, setAsking] = useState<"edit" | "replay" | "rotate" | "delete">();
  const close = () => setAsking(undefined);
  const [secret, setSecret] = useState("");
  const hold = useAction((paused: boolean) => call("PATCH /v1/webhooks/{id}", { path: { id: hook.id }, body: { paused } }), { says: hook.paused ? "It goes on; what waited is on its way." : "Paused: events wait.", stale: ["webhooks", "deliveries"] });
  const rotate = useAction(() => call("POST /v1/webhooks/{id}/rotate", { path: { id: hook.id } }), {
    stale: ["webhooks"],
    then: (r) => {
      close();
      setSecret(r.secret);
    },
  });
  const remove = useAction(() => call("DELETE /v1/webhooks/{id}", { path: { id: hook.id } }), { says: "The webhook is gone.", stale: ["webhooks"] });
  return (
    <li>
      <div className="row-item">
        <IconWebhook size={18} stroke={1.5} aria-hidden />
        <div className="grow clip">
          <b className="clip">{hook.description || hook.url}</b>
          <div className="dim clip">
            <Code>{hook.url}</Code> {hook.event_types.includes("*") ? "every event" : `${hook.event_types.length} kinds of events`}
          </div>
        </div>
        {hook.old_secret_until && new Date(hook.old_secret_until) > new Date() && (
          <Pill tone="info" title={`Requests are signed with the old secret, too, until ${new Date(hook.old_secret_until).toLocaleString()}`}>
            two secrets
          </Pill>
        )}
        {hook.paused && (
          <Pill tone="warn" title="Events wait, and are sent when it goes on.">
            paused
          </Pill>
        )}
        {hook.failing_since && hook.enabled && <Pill tone="warn">failing</Pill>}
        {!hook.enabled && (
          <Pill tone="block" title={`${hook.disabled_reason ?? "It failed for too long."} A test switches it on again.`}>
            Switched off
          </Pill>
        )}
        <div className="row-actions">
          <Button size="compact-xs" variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
            Deliveries
          </Button>
          <Button size="compact-xs" variant="default" disabled={hook.paused} loading={test.isPending} onClick={() => test.mutate()}>
            Test
          </Button>
          <Menu position="bottom-end" width={180}>
            <Menu.Target>
              <Button size="compact-xs" variant="default" aria-label={`More for ${hook.description || hook.url}`}>
                <IconDots size={14} aria-hidden />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setAsking("edit")}>Edit</Menu.Item>
              <Menu.Item onClick={() => hold.mutate(!hook.paused)}>{hook.paused ? "Resume" : "Pause"}</Menu.Item>
              <Menu.Item disabled={hook.paused || !hook.enabled} onClick={() => setAsking("replay")}>
                Send again
              </Menu.Item>
              <Menu.Item onClick={() => setAsking("rotate")}>New secret</Menu.Item>
              <Menu.Item color="red" onClick={() => setAsking("delete")}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </div>
      </div>
      {open && <Deliveries hook={hook} />}
      {asking === "edit" && <EditWebhook hook={hook} onClose={close} />}
      {asking === "replay" && <Replay hook={hook} onClose={close} then={() => setOpen(true)} />}
      <Ask opened={asking === "rotate"} onClose={close} title="Replace the secret?" confirm="Replace" danger busy={rotate.isPending} onConfirm={() => rotate.mutate()}>
        <p className="dim">Requests are signed with both for a day. Give the new one to the receiver until then.</p>
      </Ask>
      <Ask opened={asking === "delete"} onClose={close} title="Delete this webhook?" confirm="Delete" danger busy={remove.isPending} onConfirm={() => remove.mutate()}>
        <p className="dim">Nothing more is sent to it.</p>
      </Ask>
      {secret && (
        <Dialog opened onClose={() => setSecret("")} title="Copy the secret now" closeOnClickOutside={false}>
          <Once secret={secret} note="The one before is good for a day more. This is the only time the new one is shown." onClose={() => setSecret("")} />
        </Dialog>
      )}
    </li>
  );
}

const tone = { delivered: "good", pending: "info", failed: "block" } as const;

function Deliveries({ hook }: { hook: Webhook }) {
  const list = useGet("deliveries", "GET /v1/webhooks/{id}/deliveries", { path: { id: hook.id }, query: { limit: 25 } }, { refetchInterval: 2000 }); // no event tells how a delivery went
  const again = useAction((d: Delivery) => call("POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver", { path: { id: hook.id, delivery: d.id } }), { says: "Sent again.", stale: ["deliveries"] });
  return (
    <div className="deliveries">
      <Load query={list}>
        {(page) =>
          page.items.length === 0 ? (
            <p className="dim thread-none">Nothing was sent yet.</p>
          ) : (
            <StackTable label="Deliveries" columns={["Status", "Event", "Answer", "When", <span className="sr-only">Action</span>]}>
              {page.items.map((d) => (
                <tr key={d.id} role="row">
                  <td role="cell" className="cell-end">
                    <Pill tone={tone[d.status]}>{d.status}</Pill>
                  </td>
                  <td role="cell" className="nowrap cell-lead">
                    <Code>{d.event_type}</Code>
                  </td>
                  <td role="cell" className="cell-rest">
                    {d.response_status ? `${d.response_status} in ${d.response_ms} ms` : (d.error ?? "no answer yet")}
                    {d.attempts > 1 && <span className="dim"> · {d.attempts} tries</span>}
                    {d.next_attempt_at && d.status === "pending" && <Ago at={d.next_attempt_at} prefix=" · again " />}
                  </td>
                  <td role="cell" className="nowrap grow">
                    <Ago at={d.created_at} />
                  </td>
                  <td role="cell">
                    {d.status !== "pending" && (
                      <button type="button" className="icon-button" aria-label={`Send ${d.event_type} again`} title="Send again" onClick={() => again.mutate(d)}>
                        <IconRefresh size={15} />
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </StackTable>
          )
        }
      </Load>
    </div>
  );
}

function EditWebhook({ hook, onClose }: { hook: Webhook; onClose: () => void }) {
  const [url, setUrl] = useState(hook.url);
  const [description, setDescription] = useState(hook.description ?? "");
  const [types, setTypes] = useState<string[]>(hook.event_types.filter((t) => t !== "*"));
  const save = useAction(() => call("PATCH /v1/webhooks/{id}", { path: { id: hook.id }, body: { url: url.trim(), description: description.trim() || null, event_types: types.length ? (types as EventType[]) : ["*"] } }), { says: "The webhook is changed.", stale: ["webhooks"], quietErrors: true, then: onClose });
  return (
    <Dialog opened onClose={onClose} title="Change the webhook">
      <Form onSubmit={() => save.mutate()} onCancel={onClose} confirm="Save" error={save.error} fields={["url"]} busy={save.isPending}>
        <TextInput label="Address" description="What waits goes there, too." type="url" required data-autofocus value={url} onChange={(e) => setUrl(e.target.value)} error={fieldError(save.error, "url")} />
        <TextInput label="What it is for" maxLength={200} value={description} onChange={(e) => setDescription(e.target.value)} />
        <MultiSelect label="Events" description="None chosen means every event." searchable clearable value={types} onChange={setTypes} data={Object.keys(words)} maxDropdownHeight={220} />
      </Form>
    </Dialog>
  );
}

const spans = { "1": "The last hour", "24": "The last day", "168": "The last week", "720": "The last 30 days" };

function Replay({ hook, onClose, then }: { hook: Webhook; onClose: () => void; then: () => void }) {
  const [hours, setHours] = useState("24");
  const [failed, setFailed] = useState(true);
  const replay = useAction(() => call("POST /v1/webhooks/{id}/replay", { path: { id: hook.id }, body: { since: new Date(Date.now() - Number(hours) * 3_600_000).toISOString(), only: failed ? "failed" : "all" } }), {
    stale: ["deliveries"],
    quietErrors: true,
    then: (r) => {
      done(r.queued === 0 ? "There was nothing to send." : `${r.queued} on their way again.`);
      onClose();
      then();
    },
  });
  return (
    <Dialog opened onClose={onClose} title="Send again">
      <Form onSubmit={() => replay.mutate()} onCancel={onClose} confirm="Send again" error={replay.error} busy={replay.isPending}>
        <NativeSelect label="What happened in" value={hours} onChange={(e) => setHours(e.target.value)} data={Object.entries(spans).map(([value, label]) => ({ value, label }))} />
        <Checkbox label="Only what did not arrive" description="Each delivery keeps its id, so that the receiver can tell what it has seen." checked={failed} onChange={(e) => setFailed(e.target.checked)} />
      </Form>
    </Dialog>
  );
}

function NewWebhook({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState("");
  const [description, setDescription] = useState("");
  const [types, setTypes] = useState<string[]>([]);
  const [secret, setSecret] = useState("");
  const add = useAction(() => call("POST /v1/webhooks", { body: { url: url.trim(), description: description.trim() || undefined, event_types: types.length ? (types as EventType[]) : undefined } }), { stale: ["webhooks"], quietErrors: true, then: (h) => setSecret(h.secret) });
  return (
    <Dialog opened onClose={onClose} title={secret ? "Copy the secret now" : "Add a webhook"} closeOnClickOutside={!secret}>
      {secret ? (
        <Once secret={secret} note="Check signatures with it. This is the only time it is shown." onClose={onClose} />
      ) : (
        <Form onSubmit={() => add.mutate()} onCancel={onClose} confirm="Add" error={add.error} fields={["url"]} busy={add.isPending}>
          <TextInput label="Address" type="url" placeholder="https://example.com/svc" required data-autofocus value={url} onChange={(e) => setUrl(e.target.value)} error={fieldError(add.error, "url")} />
          <TextInput label="What it is for" maxLength={200} value={description} onChange={(e) => setDescription(e.target.value)} />
          <MultiSelect label="Events" description="None chosen means every event." searchable clearable value={types} onChange={setTypes} data={Object.keys(words)} maxDropdownHeight={220} />
        </Form>
      )}
    </Dialog>
  );
}
