import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { IconBrandGithub, IconBrandGitlab } from "@tabler/icons-react";
import { useState } from "react";
import { call } from "../../api/client";
import type { GitLabToken } from "../../api/records";
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
      <GitLab />
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
                          Its private key and secrets are deleted here: pull requests no longer move intents or tell of conflicts. On GitHub the app stays until you <a href={a.url}>delete it there</a>.
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

function GitLab() {
  const gitlab = useGet("integrations", "GET /v1/integrations/gitlab");
  const [secret, setSecret] = useState<string | null>(null);
  const connect = useAction(() => call("PUT /v1/integrations/gitlab", { body: {} }), { stale: ["integrations"], then: (s) => setSecret(s.secret) });
  const disconnect = useAction(() => call("DELETE /v1/integrations/gitlab"), { says: "Disconnected.", stale: ["integrations"], then: () => setSecret(null) });
  return (
    <Section title="GitLab" sub="The same for merge requests, by a webhook of a project or group.">
      <Load query={gitlab}>
        {(g) =>
          !g.connected ? (
            <div className="row">
              <IconBrandGitlab size={20} aria-hidden />
              <span className="grow dim">Not connected.</span>
              <Button variant="default" loading={connect.isPending} onClick={() => connect.mutate()}>
                Connect GitLab
              </Button>
            </div>
          ) : (
            <div className="stack">
              <div className="row">
                <IconBrandGitlab size={20} aria-hidden />
                <div className="grow">
                  <b>Connected</b> <span className="dim">{g.last_delivery_at ? <Ago at={g.last_delivery_at} prefix="last heard of " /> : "nothing heard of it yet"}</span>
                </div>
                <Confirmed label="New secret" title="Make a new secret?" text="The old one stops working at once." confirm="Make it" onConfirm={() => connect.mutateAsync()} />
                <Confirmed label="Disconnect" title="Disconnect GitLab?" text="Its webhooks are refused." confirm="Disconnect" onConfirm={() => disconnect.mutateAsync()} />
              </div>
              <div>
                <h3>Webhook</h3>
                <p className="dim">In GitLab: Settings, Webhooks, Add new webhook, with the triggers Push events and Merge request events. URL:</p>
              </div>
              <Command>{g.webhook_url ?? ""}</Command>
              {secret && (
                <>
                  <Alert color="yellow">Secret token, or signing token where GitLab has one. This is the only time it is shown.</Alert>
                  <Command>{secret}</Command>
                </>
              )}
              <AccessToken token={g.token} />
            </div>
          )
        }
      </Load>
    </Section>
  );
}

/** With what svc writes on merge requests and looks up pushed lines. */
function AccessToken({ token }: { token: GitLabToken | null }) {
  const [open, setOpen] = useState(false);
  const forget = useAction(() => call("PUT /v1/integrations/gitlab/token", { body: { token: null } }), { says: "The token is forgotten.", stale: ["integrations"] });
  return (
    <div className="row split">
      <div className="grow">
        <h3>Access token</h3>
        {token ? (
          <p className="dim">
            {token.name || "A token"} for {new URL(token.url).host}
            {token.expires_at && <>, good until {day(token.expires_at)}</>} {token.refused_at && <Pill tone="block">GitLab no longer takes it</Pill>}
          </p>
        ) : (
          <p className="dim">With one, a merge request with live conflicts says so in a note, and a push to the default branch asks for a rebase whoever works on the same lines.</p>
        )}
      </div>
      <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
        {token ? "Replace" : "Add a token"}
      </Button>
      {token && <Confirmed label="Forget" title="Forget the token?" text="Merge requests no longer tell of conflicts, and pushes ask nobody for a rebase. Revoke it in GitLab as well." confirm="Forget it" onConfirm={() => forget.mutateAsync()} />}
      {open && <NewAccessToken url={token?.url} onClose={() => setOpen(false)} />}
    </div>
  );
}

function NewAccessToken({ url: known, onClose }: { url?: string; onClose: () => void }) {
  const [token, setToken] = useState("");
  const [url, setUrl] = useState(known ?? "https://gitlab.com");
  const save = useAction(() => call("PUT /v1/integrations/gitlab/token", { body: { token: token.trim(), url: url.trim() } }), { says: "GitLab takes the token.", stale: ["integrations"], quietErrors: true, then: onClose });
  return (
    <Dialog opened onClose={onClose} title="Access token for GitLab">
      <Form onSubmit={() => save.mutate()} onCancel={onClose} confirm="Save" error={save.error} fields={["token", "url"]} busy={save.isPending}>
        <TextInput label="GitLab" type="url" required value={url} onChange={(e) => setUrl(e.target.value)} error={fieldError(save.error, "url")} />
        <PasswordInput
          label="Token"
          description="A group or project access token with the role Reporter or higher and the scope api. It is kept sealed, and sent to this GitLab only."
          autoComplete="off"
          required
          data-autofocus
          value={token}
          onChange={(e) => setToken(e.target.value)}
          error={fieldError(save.error, "token")}
        />
      </Form>
    </Dialog>
  );
}
