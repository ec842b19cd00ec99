import { IconFileCode } from "@tabler/icons-react";
import { Link } from "wouter";
import { useGet } from "../../lib/queries";
import { useFilter } from "../../lib/url";
import { Code, IntentPill, Pill } from "../../ui/bits";
import { Empty, Load, Page, Section } from "../../ui/page";

const compatTone = { compatible: "good", breaking: "block", unknown: "warn" } as const;

export function ContractDetail() {
  const [key] = useFilter("key");
  const contracts = useGet("contracts", "GET /v1/contracts", { query: { key } }, { enabled: key !== "" });
  const title = key.replace(/^(\w+):/, "");
  return (
    <Page title={title || "Contracts"} sub={<Code>{key}</Code>}>
      <Load query={contracts}>
        {(page) => {
          const c = page.items.find((x) => x.key === key) ?? page.items[0];
          if (!c) {
            return (
              <Section pad={false}>
                <Empty icon={<IconFileCode size={22} stroke={1.5} />} title="Nobody is known to provide or use this">
                  Contracts are learned from what agents edit.
                </Empty>
              </Section>
            );
          }
          return (
            <div className="detail">
              <div>
                {c.signature && (
                  <Section title="Signature">
                    <pre className="plain-pre" tabIndex={0}>
                      {c.signature}
                    </pre>
                  </Section>
                )}
                <Section title="Changes in flight" pad={false}>
                  {c.in_flight.length === 0 ? (
                    <Empty title="Nobody is changing it" />
                  ) : (
                    <ul className="rows">
                      {c.in_flight.map((f) => (
                        <li key={f.intent.ref}>
                          <Link href={`/intents/${f.intent.ref}`} className="work-row">
                            <span className="work-main">
                              <span className="work-title">
                                <span className="ref">{f.intent.ref}</span>
                                <b>{f.intent.title ?? "Draft"}</b>
                              </span>
                              <span className="work-meta">
                                <span>{f.repo.full_name}</span>
                                {f.detail && <span>{f.detail}</span>}
                              </span>
                            </span>
                            <span className="work-side">
                              <Pill tone={compatTone[f.compatibility]}>{f.compatibility}</Pill>
                              <IntentPill status={f.intent.status} />
                            </span>
                          </Link>
                        </li>
                      ))}
                    </ul>
                  )}
                </Section>
              </div>
              <Section title="Who">
                <dl className="facts">
                  <dt>Provided by</dt>
                  <dd>{c.provider?.full_name ?? "unknown"}</dd>
                  <dt>Used by</dt>
                  <dd>{c.users.length ? c.users.map((u) => u.full_name).join(", ") : "nobody known"}</dd>
                  {c.criticality && (
                    <>
                      <dt>Criticality</dt>
                      <dd>{c.criticality}</dd>
                    </>
                  )}
                </dl>
              </Section>
            </div>
          );
        }}
      </Load>
    </Page>
  );
}
