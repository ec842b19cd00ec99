import { Button, Progress } from "@mantine/core";
import { call } from "../../api/client";
import type { Billing, Price, Usage } from "../../api/records";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { day } from "../../lib/text";
import { Ago, Person, Pill } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Load, Section } from "../../ui/page";

const plans: Record<string, string> = { free: "Free", team: "Team", business: "Business", self_hosted: "Self-hosted" };

export function BillingTab() {
  const me = useMe();
  const usage = useGet("usage", "GET /v1/usage");
  const sees = me.isAdmin || me.org.role === "billing";
  return (
    <>
      <Section title="Usage this month">
        <Load query={usage}>{(u) => <UsageBody usage={u} />}</Load>
      </Section>
      {sees && <Subscription />}
    </>
  );
}

function UsageBody({ usage: u }: { usage: Usage }) {
  return (
    <div className="stack">
      <div className="row">
        <b>{plans[u.plan] ?? u.plan}</b>
        <span className="dim">{month(u.period)}</span>
      </div>
      <Meter label="Active developers" note="People who called one of svc's tools this month, mostly through their agents. Hooks alone do not count, and are never refused." used={u.active_developers} limit={u.limits.developers} />
      <Meter label="Repos" note="Registered by an admin or by an agent's first session there." used={u.repos} limit={u.limits.repos} />
      {u.developers.length > 0 && (
        <ul className="rows usage-people">
          {u.developers.map((d) => (
            <li key={d.id} className="row-item">
              <span className="grow">
                <Person user={d} />
              </span>
              <span className="dim">
                <Ago at={d.first_active_at} prefix="since " />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const month = (period: string): string => new Date(period + "-01T00:00:00Z").toLocaleDateString("en", { month: "long", year: "numeric", timeZone: "UTC" });

function Meter({ label, note, used, limit }: { label: string; note: string; used: number; limit: number | null }) {
  const full = limit !== null && used >= limit;
  const near = limit !== null && used >= limit * 0.8; // where the server warns, too
  return (
    <div>
      <div className="row">
        <span className="grow">{label}</span>
        <span className={full ? "tone-block" : near ? "tone-warn" : "dim"}>{limit === null ? `${used}, no limit` : `${used} of ${limit}`}</span>
      </div>
      {limit !== null && <Progress value={Math.min(100, (used / Math.max(1, limit)) * 100)} size="sm" mt={6} color={full ? "red" : near ? "yellow" : undefined} aria-label={label} />}
      <div className="dim note">{note}</div>
    </div>
  );
}

function Subscription() {
  const me = useMe();
  const billing = useGet("billing", "GET /v1/billing");
  const may = me.org.role === "owner" || me.org.role === "billing";
  const go = ({ url }: { url: string }) => location.assign(url);
  const buy = useAction((want: { plan: "team" | "business"; price: string }) => call("POST /v1/billing/checkout", { body: want }), { then: go });
  const portal = useAction(() => call("POST /v1/billing/portal"), { then: go });
  return (
    <Section title="Subscription" pad={false}>
      <Load query={billing}>
        {(b) =>
          !b.available ? (
            <p className="row-item dim">This server runs without billing: every org has everything, without limits.</p>
          ) : (
            <>
              <div className="row-item">
                <div className="grow">
                  <b>{plans[b.plan] ?? b.plan}</b> {b.status !== "none" && <Pill tone={b.status === "active" ? "good" : "warn"}>{b.status.replaceAll("_", " ")}</Pill>}
                  {b.price && <div>{cost(b.price, b.seats)}</div>}
                  <div className="dim">{standing(b, may)}</div>
                </div>
                {may && b.subscribed && (
                  <Button variant="default" loading={portal.isPending} onClick={() => portal.mutate()}>
                    Plan, invoices and tax
                  </Button>
                )}
              </div>
              {!b.subscribed &&
                b.offers.map((o) => (
                  <div className="row-item" key={o.plan}>
                    <div className="grow">
                      <b>{plans[o.plan]}</b>
                      <div>{o.prices.map((p) => cost(p, b.seats)).join(", or ") || <span className="dim">The price is not known at the moment.</span>}</div>
                      <div className="dim">
                        {o.limits.developers} active developers a month, {o.limits.repos} repos
                      </div>
                    </div>
                    {may &&
                      o.prices.map((p, i) => (
                        <Button key={p.id} variant={o.plan === "team" && i === 0 ? "filled" : "default"} loading={buy.isPending && buy.variables.price === p.id} disabled={buy.isPending} onClick={() => buy.mutate({ plan: o.plan, price: p.id })}>
                          Upgrade to {plans[o.plan]}
                          {o.prices.length > 1 && `, ${every(p)}`}
                        </Button>
                      ))}
                  </div>
                ))}
            </>
          )
        }
      </Load>
    </Section>
  );
}

const yearly: Record<string, string> = { day: "daily", week: "weekly", month: "monthly", year: "yearly" };

const every = (p: Price): string => (p.interval_count === 1 ? (yearly[p.interval] ?? p.interval) : `every ${p.interval_count} ${p.interval}s`);

// A price as people say it: "$20 a month", "€8 a month for each of 7 seats".
function cost(p: Price, seats: number): string {
  const per = p.interval_count === 1 ? `a ${p.interval}` : `every ${p.interval_count} ${p.interval}s`;
  if (p.amount === null) return `by tiers, ${per}`;
  const money = new Intl.NumberFormat("en", { style: "currency", currency: p.currency, trailingZeroDisplay: "stripIfInteger" });
  const amount = money.format(p.amount / 10 ** (money.resolvedOptions().maximumFractionDigits ?? 2));
  return `${amount} ${per}${p.per_seat ? ` for each of ${seats} ${seats === 1 ? "seat" : "seats"}` : ""}${p.tax_included ? ", tax included" : ""}`;
}

function standing(b: Billing, may: boolean): string {
  if (b.cancels_at) return `ends on ${day(b.cancels_at)}`;
  if (b.subscribed) return b.current_period_end ? `renewed on ${day(b.current_period_end)}` : "";
  return may ? "Payment is handled by Stripe." : "An owner, or somebody with the role billing, can upgrade.";
}
