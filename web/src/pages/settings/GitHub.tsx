import { Alert, Button } from "@mantine/core";
import { IconBrandGithub, IconBrandGitlab } from "@tabler/icons-react";
import { useState } from "react";
import { call } from "../../api/client";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { plural } from "../../lib/text";
import { Ago, Command, Pill } from "../../ui/bits";
import { Confirmed, useAction } from "../../ui/form";
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
  return (
    <Section title="GitHub" sub="A merged pull request closes its intent; an opened one moves it to review." pad={false}>
      {made === "failed" && (
        <Alert color="red" role="alert">
          GitHub did not hand over the app. Delete it there and begin again; the server's log says why.
        </Alert>
      )}
      {made === "app" && <Alert>The app is made. Install it on the repositories that svc may see.</Alert>}
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
                <li key={a.id} className="row-item">
                  <IconBrandGithub size={18} aria-hidden />
                  <div className="grow">
                    <b>{a.name}</b>
                    <div className="dim">
                      {a.owner} {a.last_delivery_at ? <Ago at={a.last_delivery_at} prefix="last heard of " /> : "nothing heard of it yet"}
                    </div>
                  </div>
                  <Button component="a" href={a.install_url} variant="default" size="compact-xs" rel="noreferrer">
                    Install on more repos
                  </Button>
                </li>
              ))}
              {g.installations.map((i) => (
                <li key={i.id} className="row-item">
                  <div className="grow">
                    Installed on <b>{i.account}</b> <span className="dim">{plural(i.repos, "repo")}</span> {i.suspended && <Pill tone="warn">suspended</Pill>}
                  </div>
                  <span className="dim">
                    <Ago at={i.created_at} />
                  </span>
                </li>
              ))}
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
              <div className="dim">In GitLab: Settings, Webhooks, Add new webhook, with the trigger Merge request events. URL:</div>
              <Command>{g.webhook_url ?? ""}</Command>
              {secret && (
                <>
                  <Alert color="yellow">Secret token, or signing token where GitLab has one. This is the only time it is shown.</Alert>
                  <Command>{secret}</Command>
                </>
              )}
            </div>
          )
        }
      </Load>
    </Section>
  );
}
