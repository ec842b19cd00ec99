import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { IconBrandGithub, IconBrandGitlab } from "../../ui/icons.gen";
import { useState } from "react";
import { call } from "../../api/client";
import type { HostToken } from "../../api/records";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { day, plural } from "../../lib/text";
import { Ago, Command, Pill } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Confirmed, Dialog, Form } from "../../ui/form";
import { Empty, Load, Section } from "../../ui/page";

export function GitHub() {
  return (
    <>
      <Apps />
      <Host kind="github" />
      <Host kind="gitlab" />
    </>
  );
}

// The page that leads on to GitHub is the server's own: a browser goes there
// by itself, so the address says which org is meant.
const make = (org: string): string => "/v1/github/app/manifest?format=html&org=" + encodeURIComponent(org);

function Apps() {
  const me = useMe();
  const github = useGet("integrations", "GET /v1/github/app");
  const made = new URLSearchParams(location.search).get("made");
  const forget = useAction((id: string) => call("DELETE /v1/github/app/{id}", { path: { id } }), { says: "The app and its secrets are forgotten.", stale: ["integrations"] });
  return (
    <Section title="GitHub" sub="A merged pull request closes its intent; an opened one moves it to review." pad={false}>
      {made === "failed" && (
        <Alert color="red" role="alert" className="inset">
          GitHub did not hand over the app. Delete it there and begin again; the server's log says why.
        </Alert>
      )}
      {made === "app" && <Alert className="inset">The app is made. Install it on the repositories that svc may see.</Alert>}
      <Load query={github}>
        {(g) =>
          g.apps.length === 0 ? (
            <Empty icon={<IconBrandGithub size={22} stroke={1.5} />} title="No GitHub app yet">
              svc makes an app of your own on GitHub, with only the rights it needs. GitHub must be able to reach this server.
              <div className="empty-action">
                <Button component="a" href={make(me.org.slug)}>
                  Make the app
                </Button>
              </div>
            </Empty>
          ) : (
            <ul className="rows">
              {g.apps.map((a) => (
                <li key={a.id} className="row-item row-wraps">
                  <IconBrandGithub size={18} aria-hidden />
                  <div className="grow">
                    <b>{a.name}</b>
                    <div className="dim">
                      {a.owner} · {a.last_delivery_at ? <Ago at={a.last_delivery_at} prefix="last heard of " /> : "nothing heard of it yet"}
                    </div>
                  </div>
                  <div className="wrap">
                    <Button component="a" href={a.install_url} variant="default" size="compact-xs" rel="noreferrer">
                      {g.installations.some((i) => i.app === a.id) ? "Install on more repos" : "Install on repos"}
                    </Button>
                    <Confirmed
                      label="Forget"
                      title={`Forget ${a.name}?`}
                      text={
                        <>
                          Its private key and secrets are deleted here: pull requests no longer move intents or show conflicts. On GitHub the app stays until you <a href={a.url}>delete it there</a>.
                        </>
                      }
                      confirm="Forget the app"
                      onConfirm={() => forget.mutateAsync(a.id)}
                    />
                  </div>
                </li>
              ))}
              {g.installations.map((i) => (
                <li key={i.id} className="row-item">
                  <div className="grow">
                    Installed on <b>{i.account}</b> {i.suspended && <Pill tone="warn">suspended</Pill>}
                    <div className="dim">{i.selection === "all" ? `all its repos, ${i.repos} now` : plural(i.repos, "repo")}</div>
                  </div>
                  <span className="dim nowrap">
                    <Ago at={i.created_at} />
                  </span>
                </li>
              ))}
              {g.installations.length === 0 && <li className="row-item dim">It is installed nowhere yet: choose the repositories that it may see.</li>}
            </ul>
          )
        }
      </Load>
    </Section>
  );
}

/** What differs between the hosts whose webhooks people set up themselves. */
const hosts = {
  gitlab: {
    name: "GitLab",
    title: "GitLab",
    sub: "The same for merge requests, by a webhook of a project or group.",
    icon: IconBrandGitlab,
    where: "In GitLab: Settings, Webhooks, Add new webhook, with the triggers Push events and Merge request events. URL:",
    secret: "Secret token, or signing token where GitLab has one. This is the only time it is shown.",
    url: "https://gitlab.com",
    with: "With one, a merge request shows its live conflicts in a note or as a commit status, what GitLab could not deliver is asked for, and a push to the default branch asks for a rebase from everybody who works on the same lines.",
    token: "A group or project access token with the role Developer or higher and the scope api. It is kept sealed, and sent to this GitLab only.",
    connect: () => call("PUT /v1/integrations/gitlab", { body: {} }),
    disconnect: () => call("DELETE /v1/integrations/gitlab"),
    save: (token: string | null, url?: string) => call("PUT /v1/integrations/gitlab/token", { body: { token, url } }),
  },
  github: {
    name: "GitHub",
    title: "GitHub without an app",
    sub: "Where apps are not allowed: a webhook of a repository or organization, and commit statuses in place of check runs.",
    icon: IconBrandGithub,
    where: "In GitHub: Settings, Webhooks, Add webhook, content type application/json, with the events Pull requests, Pushes, Repositories and Merge groups. Payload URL:",
    secret: "Secret. This is the only time it is shown.",
    url: "https://github.com",
    with: "With one, a pull request shows its live conflicts in a comment or as a commit status, what GitHub could not deliver is asked for, and a push to the default branch asks for a rebase from everybody who works on the same lines.",
    token: "A fine-grained token that may read contents and write pull requests and commit statuses, or a classic one with the scope repo. It is kept sealed, and sent to this GitHub only.",
    connect: () => call("PUT /v1/integrations/github"),
    disconnect: () => call("DELETE /v1/integrations/github"),
    save: (token: string | null, url?: string) => call("PUT /v1/integrations/github/token", { body: { token, url } }),
  },
} as const;
type Kind = keyof typeof hosts;

function Host({ kind }: { kind: Kind }) {
  const at = hosts[kind];
  const status = useGet("integrations", kind === "github" ? "GET /v1/integrations/github" : "GET /v1/integrations/gitlab");
  const [secret, setSecret] = useState<string | null>(null);
  const connect = useAction(at.connect, { stale: ["integrations"], then: (s) => setSecret(s.secret) });
  const disconnect = useAction(at.disconnect, { says: "Disconnected.", stale: ["integrations"], then: () => setSecret(null) });
  return (
    <Section title={at.title} sub={at.sub}>
      <Load query={status}>
        {(g) =>
          !g.connected ? (
            <div className="row">
              <at.icon size={20} aria-hidden />
              <span className="grow dim">Not connected.</span>
              <Button variant="default" loading={connect.isPending} onClick={() => connect.mutate()}>
                Connect {at.title}
              </Button>
            </div>
          ) : (
            <div className="stack">
              <div className="row">
                <at.icon size={20} aria-hidden />
                <div className="grow">
                  <b>Connected</b> <span className="dim">{g.last_delivery_at ? <Ago at={g.last_delivery_at} prefix="last heard of " /> : "nothing heard of it yet"}</span>
                </div>
                <Confirmed label="New secret" title="Make a new secret?" text="The old one stops working at once." confirm="Make it" onConfirm={() => connect.mutateAsync()} />
                <Confirmed label="Disconnect" title={`Disconnect ${at.title}?`} text="Its webhooks are refused." confirm="Disconnect" onConfirm={() => disconnect.mutateAsync()} />
              </div>
              <div>
                <h3>Webhook</h3>
                <p className="dim">{at.where}</p>
              </div>
              <Command>{g.webhook_url ?? ""}</Command>
              {secret && (
                <>
                  <Alert color="yellow">{at.secret}</Alert>
                  <Command>{secret}</Command>
                </>
              )}
              <AccessToken kind={kind} token={g.token} />
            </div>
          )
        }
      </Load>
    </Section>
  );
}

/** With what svc writes on pull requests and looks up pushed lines. */
function AccessToken({ kind, token }: { kind: Kind; token: HostToken | null }) {
  const at = hosts[kind];
  const [open, setOpen] = useState(false);
  const forget = useAction(() => at.save(null), { says: "The token is forgotten.", stale: ["integrations"] });
  return (
    <div className="row split">
      <div className="grow">
        <h3>Access token</h3>
        {token ? (
          <p className="dim">
            {token.name || "A token"} for {new URL(token.url).host}
            {token.expires_at && <>, good until {day(token.expires_at)}</>} {token.refused_at && <Pill tone="block">{at.name} no longer takes it</Pill>}
          </p>
        ) : (
          <p className="dim">{at.with}</p>
        )}
      </div>
      <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
        {token ? "Replace" : "Add a token"}
      </Button>
      {token && <Confirmed label="Forget" title="Forget the token?" text={`Nothing is written on ${at.name} any more, and pushes ask nobody for a rebase. Revoke it there as well.`} confirm="Forget it" onConfirm={() => forget.mutateAsync()} />}
      {open && <NewAccessToken kind={kind} url={token?.url} onClose={() => setOpen(false)} />}
    </div>
  );
}

function NewAccessToken({ kind, url: known, onClose }: { kind: Kind; url?: string; onClose: () => void }) {
  const at = hosts[kind];
  const [token, setToken] = useState("");
  const [url, setUrl] = useState(known ?? at.url);
  const save = useAction(() => at.save(token.trim(), url.trim()), { says: `${at.name} takes the token.`, stale: ["integrations"], quietErrors: true, then: onClose });
  return (
    <Dialog opened onClose={onClose} title={`Access token for ${at.name}`}>
      <Form onSubmit={() => save.mutate()} onCancel={onClose} confirm="Save" error={save.error} fields={["token", "url"]} busy={save.isPending}>
        <TextInput label={at.name} type="url" required value={url} onChange={(e) => setUrl(e.target.value)} error={fieldError(save.error, "url")} />
        <PasswordInput label="Token" description={at.token} autoComplete="off" required data-autofocus value={token} onChange={(e) => setToken(e.target.value)} error={fieldError(save.error, "token")} />
      </Form>
    </Dialog>
  );
}
