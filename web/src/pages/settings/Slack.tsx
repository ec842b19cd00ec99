import { Button, Checkbox, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { IconBrandSlack } from "../../ui/icons.gen";
import { useState } from "react";
import { call } from "../../api/client";
import type { QuietHours, SlackChannel, SlackStatus } from "../../api/records";
import { useGet, useRepos } from "../../lib/queries";
import { Ago, Pill } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Confirmed } from "../../ui/form";
import { Load, Section } from "../../ui/page";

export function SlackTab() {
  const slack = useGet("integrations", "GET /v1/integrations/slack", {}, { refetchInterval: 3000 }); // no event tells how a post went
  const connect = useAction((webhook_url: string | null) => call("PUT /v1/integrations/slack", { body: { webhook_url } }), { says: "Saved.", stale: ["integrations"], quietErrors: true });
  const test = useAction(() => call("POST /v1/integrations/slack/test"), { says: "A test message is on its way.", stale: ["integrations"] });
  return (
    <>
      <Section title="Slack" sub="Conflicts, override requests and handoffs go to a channel, with the file and a link.">
        <Load query={slack}>{(s) => (s.connected ? <Channel name="Connected" channel={s} onTest={() => test.mutate()} testing={test.isPending} onEnd={() => connect.mutateAsync(null)} /> : <Connect label="Incoming webhook address" busy={connect.isPending} error={connect.error} onConnect={(url) => connect.mutate(url)} />)}</Load>
      </Section>
      <Section title="Channels of repos" sub="A repo with a channel of its own is not told of in the other.">
        <Load query={slack}>{(s) => <Repos status={s} />}</Load>
      </Section>
      <Section title="When to post" sub="What happens meanwhile comes as one post, without what was settled by then.">
        <Load query={slack}>{(s) => <Manners status={s} />}</Load>
      </Section>
    </>
  );
}

function Channel({ name, channel: c, onTest, testing, onEnd }: { name: string; channel: SlackChannel; onTest: () => void; testing: boolean; onEnd: () => Promise<unknown> }) {
  return (
    <div className="row">
      <IconBrandSlack size={20} aria-hidden />
      <div className="grow">
        <b>{name}</b> {c.connected_at && <Ago at={c.connected_at} />}
        <div className="dim">
          {c.last_post_at ? <Ago at={c.last_post_at} prefix="Last post " /> : "Nothing was posted yet."} {c.last_error && <Pill tone="block">{c.last_error}</Pill>}
        </div>
      </div>
      <Button variant="default" loading={testing} onClick={onTest}>
        Send a test
      </Button>
      <Confirmed label="Disconnect" title="Disconnect Slack?" text="Nothing more is posted there." confirm="Disconnect" onConfirm={onEnd} />
    </div>
  );
}

function Connect({ label, busy, error, onConnect }: { label: string; busy: boolean; error: Error | null; onConnect: (url: string) => void }) {
  const [url, setUrl] = useState("");
  return (
    <form
      className="stack"
      onSubmit={(e) => {
        e.preventDefault();
        onConnect(url.trim());
      }}
    >
      <TextInput label={label} description="In Slack: Apps, Incoming Webhooks, Add to a channel, copy the address." placeholder="https://hooks.slack.com/services/…" type="url" required value={url} onChange={(e) => setUrl(e.target.value)} error={fieldError(error, "webhook_url") ?? error?.message} />
      <div>
        <Button type="submit" loading={busy}>
          Connect
        </Button>
      </div>
    </form>
  );
}

function Repos({ status }: { status: SlackStatus }) {
  const repos = useRepos();
  const [repo, setRepo] = useState<string | null>(null);
  const put = useAction((want: { repo: string; webhook_url: string | null }) => call("PUT /v1/integrations/slack/repos/{repo}", { path: { repo: want.repo }, body: { webhook_url: want.webhook_url } }), { says: "Saved.", stale: ["integrations"], quietErrors: true, then: () => setRepo(null) });
  const test = useAction((id: string) => call("POST /v1/integrations/slack/test", { query: { repo: id } }), { says: "A test message is on its way.", stale: ["integrations"] });
  const free = (repos.data?.items ?? []).filter((r) => !status.repos.some((o) => o.repo.id === r.id));
  return (
    <div className="stack">
      {status.repos.map((r) => (
        <Channel key={r.repo.id} name={r.repo.full_name} channel={r} onTest={() => test.mutate(r.repo.id)} testing={test.isPending && test.variables === r.repo.id} onEnd={() => put.mutateAsync({ repo: r.repo.id, webhook_url: null })} />
      ))}
      <Select label="Repo" placeholder="Choose one to give it a channel" searchable value={repo} onChange={setRepo} data={free.map((r) => ({ value: r.id, label: r.full_name }))} />
      {repo && <Connect label="Its channel's webhook address" busy={put.isPending} error={put.error} onConnect={(webhook_url) => put.mutate({ repo, webhook_url })} />}
    </div>
  );
}

const here = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

function Manners({ status }: { status: SlackStatus }) {
  const save = useAction((body: { every_minutes?: number; quiet?: QuietHours | null }) => call("PATCH /v1/integrations/slack", { body }), { says: "Saved.", stale: ["integrations"], quietErrors: true });
  const [every, setEvery] = useState<number | string>(status.every_minutes);
  const [quiet, setQuiet] = useState<QuietHours | null>(status.quiet);
  const change = (part: Partial<QuietHours>) => quiet && setQuiet({ ...quiet, ...part });
  return (
    <form
      className="stack"
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate({ every_minutes: Number(every), quiet });
      }}
    >
      <NumberInput label="At most one post every … minutes" min={1} max={1440} value={every} onChange={setEvery} error={fieldError(save.error, "every_minutes")} />
      <Switch label="Quiet hours" checked={quiet !== null} onChange={(e) => setQuiet(e.currentTarget.checked ? { from: "19:00", until: "08:00", zone: here(), weekends: true } : null)} />
      {quiet && (
        <>
          <div className="two narrow">
            <TextInput label="From" type="time" required value={quiet.from} onChange={(e) => change({ from: e.target.value })} />
            <TextInput label="Until" type="time" required value={quiet.until} onChange={(e) => change({ until: e.target.value })} error={fieldError(save.error, "quiet.until")} />
          </div>
          <TextInput label="Time zone" required value={quiet.zone} onChange={(e) => change({ zone: e.target.value })} error={fieldError(save.error, "quiet.zone")} />
          <Checkbox label="Weekends, too" checked={quiet.weekends} onChange={(e) => change({ weekends: e.currentTarget.checked })} />
        </>
      )}
      {save.error && !["every_minutes", "quiet.until", "quiet.zone"].some((f) => fieldError(save.error, f)) && <p role="alert">{save.error.message}</p>}
      <div>
        <Button type="submit" loading={save.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
