import { Button } from "@mantine/core";
import { IconBrandGithub } from "@tabler/icons-react";
import { useGet } from "../../lib/queries";
import { plural } from "../../lib/text";
import { Ago } from "../../ui/bits";
import { Empty, Load, Section } from "../../ui/page";

export function GitHub() {
  const github = useGet("integrations", "GET /v1/github/app");
  return (
    <Section title="GitHub" sub="A merged pull request closes its intent; an opened one moves it to review." pad={false}>
      <Load query={github}>
        {(g) =>
          g.apps.length === 0 ? (
            <Empty icon={<IconBrandGithub size={22} stroke={1.5} />} title="No GitHub app yet">
              svc makes an app of your own on GitHub, with only the rights it needs.
              <div className="empty-action">
                <Button component="a" href="/v1/github/app/manifest?format=html">
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
                    <div className="dim">{a.owner}</div>
                  </div>
                  <Button component="a" href={a.install_url} variant="default" size="compact-xs" rel="noreferrer">
                    Install on more repos
                  </Button>
                </li>
              ))}
              {g.installations.map((i) => (
                <li key={i.id} className="row-item">
                  <div className="grow">
                    Installed on <b>{i.account}</b> <span className="dim">{plural(i.repos, "repo")}</span>
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
