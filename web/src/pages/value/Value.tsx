// What svc did this week: a page to show, and to print.
import { Button } from "@mantine/core";
import { IconChartBar, IconPrinter } from "../../ui/icons.gen";
import { Link } from "wouter";
import { useHistory } from "../../lib/history";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { day, exact } from "../../lib/text";
import { Ago } from "../../ui/bits";
import { Empty, Failed, Loading, Page, Section } from "../../ui/page";
import { figuresOf, valueTypes, type Figure } from "./figures";

const hours = 7 * 24;
const shown = 50;

export function Value() {
  const me = useMe();
  const history = useHistory("value", valueTypes, hours);
  const breaks = useGet("conflicts", "GET /v1/conflicts", { query: { kind: "contract_break", limit: 200 } });
  const since = new Date(Date.now() - hours * 3_600_000);
  if (!history.data || !breaks.data) {
    const error = history.error ?? breaks.error;
    return <Page title="This week">{error ? <Failed error={error} retry={() => void Promise.all([history.refetch(), breaks.refetch()])} /> : <Loading />}</Page>;
  }
  const figures = figuresOf(
    history.data,
    breaks.data.items.filter((c) => c.cross_repo && c.first_seen_at >= since.toISOString()),
  );
  const quiet = figures.every((f) => f.items.length === 0);
  return (
    <Page
      title="This week"
      sub={`What svc did for ${me.org.name} from ${day(since)} to ${day(new Date())}. Every number opens to what it was counted from.`}
      actions={
        <>
          <Button component={Link} href="/stats" variant="default" leftSection={<IconChartBar size={14} />}>
            All figures
          </Button>
          <Button variant="default" leftSection={<IconPrinter size={14} />} onClick={() => window.print()}>
            Print
          </Button>
        </>
      }
    >
      {quiet ? (
        <Section pad={false}>
          <Empty icon={<IconChartBar size={22} stroke={1.5} />} title="Nothing had to be told this week">
            When agents are about to collide, what svc did about it is counted here.
          </Empty>
        </Section>
      ) : (
        <div className="value">
          {figures.map((f) => (
            <FigureCard key={f.key} figure={f} />
          ))}
        </div>
      )}
    </Page>
  );
}

function FigureCard({ figure: f }: { figure: Figure }) {
  const newest = f.items.toSorted((a, b) => b.at.localeCompare(a.at));
  return (
    <section className="card figure" aria-label={f.title}>
      <div className="figure-head">
        <h2>{f.title}</h2>
        <b className="figure-value">{f.value}</b>
        <p className="dim">{f.how}</p>
      </div>
      {newest.length > 0 && (
        <details>
          <summary>What it was counted from</summary>
          <ul className="rows-plain">
            {newest.slice(0, shown).map((i, n) => (
              <li key={n}>
                <Link href={i.href}>{i.text}</Link>{" "}
                <span className="dim" title={exact(i.at)}>
                  <Ago at={i.at} />
                </span>
              </li>
            ))}
          </ul>
          {newest.length > shown && <p className="dim">And {newest.length - shown} before.</p>}
        </details>
      )}
    </section>
  );
}
