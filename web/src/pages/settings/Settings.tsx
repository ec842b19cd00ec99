import "../../styles/settings.css";
import { Suspense, useEffect, useRef, type ComponentType } from "react";
import { Link, useParams } from "wouter";
import { later } from "../../lib/lazy";
import { useMe } from "../../lib/session";
import { Loading, Page } from "../../ui/page";
import { NotFound } from "../NotFound";
import { Audit } from "./Audit";
import { Members } from "./Members";
import { Profile } from "./Profile";
import { Tokens } from "./Tokens";

interface Tab {
  slug: string;
  label: string;
  group: string;
  show: ComponentType;
  who?: "admin" | "billing";
}

const tabs: Tab[] = [
  { slug: "profile", label: "Profile", group: "You", show: Profile },
  { slug: "tokens", label: "Tokens", group: "You", show: Tokens },
  { slug: "members", label: "Members", group: "Org", show: Members },
  { slug: "policies", label: "Policies", group: "Org", show: later(() => import("./Policies"), "Policies") },
  { slug: "data", label: "Data and privacy", group: "Org", show: later(() => import("./Data"), "Data") },
  { slug: "billing", label: "Billing and usage", group: "Org", show: later(() => import("./Billing"), "BillingTab") },
  { slug: "audit", label: "Audit log", group: "Org", show: Audit },
  { slug: "github", label: "GitHub and GitLab", group: "Integrations", show: later(() => import("./GitHub"), "GitHub"), who: "admin" },
  { slug: "slack", label: "Slack", group: "Integrations", show: later(() => import("./Slack"), "SlackTab"), who: "admin" },
  { slug: "mail", label: "Mail", group: "Integrations", show: later(() => import("./Mail"), "MailTab"), who: "admin" },
  { slug: "digest", label: "Digest", group: "Integrations", show: later(() => import("./Digest"), "DigestTab"), who: "admin" },
  { slug: "webhooks", label: "Webhooks", group: "Integrations", show: later(() => import("./Webhooks"), "Webhooks"), who: "admin" },
];

export function Settings() {
  const { tab } = useParams<{ tab: string }>();
  const me = useMe();
  const shown = tabs.filter((t) => t.who !== "admin" || me.isAdmin);
  const here = shown.find((t) => t.slug === tab);
  const nav = useRef<HTMLElement>(null);
  // On a phone the tabs are one line that scrolls.
  useEffect(() => {
    const [box, link] = [nav.current, nav.current?.querySelector<HTMLElement>("[aria-current]")];
    if (box && link) box.scrollLeft = link.offsetLeft - box.offsetLeft - (box.clientWidth - link.clientWidth) / 2;
  }, [here]);
  if (!here) return <NotFound />;
  return (
    <Page title="Settings" sub={me.org.name}>
      <div className="settings">
        <nav className="settings-nav" aria-label="Settings" ref={nav}>
          {["You", "Org", "Integrations"].map((group) => (
            <div key={group} className="settings-group">
              <div className="settings-group-name">{group}</div>
              {shown
                .filter((t) => t.group === group)
                .map((t) => (
                  <Link key={t.slug} href={`/settings/${t.slug}`} className={t === here ? "settings-link settings-here" : "settings-link"} aria-current={t === here ? "page" : undefined}>
                    {t.label}
                  </Link>
                ))}
            </div>
          ))}
        </nav>
        <div className="settings-body">
          <Suspense fallback={<Loading />}>
            <here.show />
          </Suspense>
        </div>
      </div>
    </Page>
  );
}
