import "../../styles/stats.css";
import { SegmentedControl } from "@mantine/core";
import { Link } from "wouter";
import { IconChartBar } from "../../ui/icons.gen";
import type { SavedTime, Stats as StatsAnswer, Totals } from "../../api/records";
import { sideOf } from "../../lib/conflict";
import { useGet } from "../../lib/queries";
import { conflictKind, duration, plural, toolName } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Ago, Person } from "../../ui/bits";
import { RepoFilter } from "../../ui/Filters";
import { Empty, Load, Page, Section } from "../../ui/page";
import { DailyChart } from "./DailyChart";

export function Stats() {
  const [days, setDays] = useFilter("days", "30");
  const [repo, setRepo] = useFilter("repo");
  const stats = useGet("stats", "GET /v1/stats", { query: { days, repo } }, { staleTime: 60_000 });
  return (
    <Page title="Stats" sub="What coordination did for the team.">
      <div className="filters">
        <SegmentedControl
          size="xs"
          aria-label="Days"
          value={days}
          onChange={setDays}
          data={[
            { value: "7", label: "7 days" },
            { value: "30", label: "30 days" },
            { value: "90", label: "90 days" },
          ]}
        />
        <div className="grow" />
        <RepoFilter value={repo} onChange={setRepo} />
      </div>
      <div aria-busy={stats.isPlaceholderData}>
        <Load query={stats}>{(s) => (s.totals.sessions === 0 && s.totals.intents === 0 ? <NoStats /> : <Figures stats={s} />)}</Load>
      </div>
    </Page>
  );
}

const NoStats = () => (
  <Section pad={false}>
    <Empty icon={<IconChartBar size={22} stroke={1.5} />} title="No figures for these days">
      They grow with the first agent that connects.
    </Empty>
  </Section>
);

const tiles: { key: keyof Totals; label: string }[] = [
  { key: "sessions", label: "Agent sessions" },
  { key: "intents", label: "Intents" },
  { key: "conflicts", label: "Conflicts found" },
  { key: "blocked", label: "Edits stopped" },
  { key: "warned", label: "Edits warned" },
  { key: "resolved", label: "Resolved" },
  { key: "overridden", label: "Overridden" },
  { key: "messages", label: "Messages" },
];

function Figures({ stats: s }: { stats: StatsAnswer }) {
  return (
    <>
      <div className="tiles">
        {s.time_saved_minutes > 0 && (
          <a href="#time-saved" className="tile tile-big plain-link">
            <span className="dim">Time saved, estimated</span>
            <b>
              {duration(s.time_saved_minutes)}
              {s.time_saved_worth > 0 && ` · ${money(s.time_saved_worth, s.time_saved_currency)}`}
            </b>
            <span className="dim tile-basis">From {plural(s.time_saved_count, "conflict")}: see each of them</span>
          </a>
        )}
        {tiles.map((t) => (
          <div key={t.key} className="tile">
            <span className="dim">{t.label}</span>
            <b>{s.totals[t.key].toLocaleString("en")}</b>
          </div>
        ))}
      </div>
      {s.time_saved_count > 0 && <Saved stats={s} />}
      <Section title="Day by day">
        <DailyChart daily={s.daily} />
      </Section>
      <Section title="When agents work" sub={`Events by weekday and hour, ${zone}.`}>
        <Heatmap heat={local(s.heatmap)} />
      </Section>
      <div className="three">
        <Section title="Agents" pad={false}>
          <Bars rows={s.top_clients.map((c) => ({ key: c.client, label: toolName(c.client), value: c.sessions }))} unit="sessions" />
        </Section>
        <Section title="People" pad={false}>
          <Bars rows={s.members.map((m) => ({ key: m.user.id, label: <Person user={m.user} size={18} />, value: m.intents }))} unit="intents" />
        </Section>
        <Section title="Repos" pad={false}>
          <Bars rows={s.repos.map((r) => ({ key: r.repo.id, label: r.repo.full_name, value: r.conflicts }))} unit="conflicts" />
        </Section>
      </div>
    </>
  );
}

const money = (worth: number, currency: string): string => new Intl.NumberFormat("en", { style: "currency", currency, maximumFractionDigits: 0 }).format(worth);

const savedBy: Record<SavedTime["by"], string> = { person: "settled by people", rebase: "ended by a rebase", wait: "ended by a wait", plan: "ended by a change of plan", false_alarm: "a false alarm" };

/** What the minutes are made of, so that nobody has to believe the figure. */
function Saved({ stats: s }: { stats: StatsAnswer }) {
  return (
    <Section id="time-saved" title="Time saved, conflict by conflict" sub={s.time_saved_basis} pad={false}>
      <ul className="rows saved">
        {s.time_saved.map((x) => (
          <li key={x.ref}>
            <Link href={`/conflicts/${x.ref}`} className="saved-row">
              <b className={x.minutes < 0 ? "tone-warn" : undefined}>{x.minutes > 0 ? `+${x.minutes}` : x.minutes} min</b>
              <span className="clip">
                {conflictKind[x.kind].name}: {x.parties.map(sideOf).join(" and ")}
              </span>
              <span className="dim clip">
                {savedBy[x.by]}
                {x.who && ` (${x.who.name})`} · {x.repo.full_name}
              </span>
              <span className="dim">
                <Ago at={x.closed_at} /> <span className="ref">{x.ref}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {s.time_saved_count > s.time_saved.length && <p className="dim saved-more">The newest {s.time_saved.length} of {s.time_saved_count}.</p>}
    </Section>
  );
}

function Bars({ rows, unit }: { rows: { key: string; label: React.ReactNode; value: number }[]; unit: string }) {
  const most = Math.max(1, ...rows.map((r) => r.value));
  return (
    <ul className="bars">
      {rows.slice(0, 8).map((r) => (
        <li key={r.key} className="bar">
          <span className="clip">{r.label}</span>
          <span className="bar-value">
            {r.value.toLocaleString("en")} <span className="sr-only">{unit}</span>
          </span>
          <span className="bar-track" aria-hidden>
            <span className="bar-fill" style={{ width: `${(r.value / most) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const zone = `in your time (${Intl.DateTimeFormat().resolvedOptions().timeZone})`;

/** A week by hours of UTC, turned to the reader's clock. */
function local(heat: number[][]): number[][] {
  const shift = Math.round(-new Date().getTimezoneOffset() / 60);
  const flat = heat.flat();
  return heat.map((row, d) => row.map((_, h) => flat[(d * 24 + h - shift + flat.length) % flat.length] ?? 0));
}

const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

function Heatmap({ heat }: { heat: number[][] }) {
  const most = Math.max(1, ...heat.flat());
  return (
    <div className="heat-scroll" tabIndex={0} role="region" aria-label="Activity by weekday and hour">
      <table className="heat">
        <thead>
          <tr>
            <td />
            {Array.from({ length: 24 }, (_, h) => (
              <th key={h} scope="col">
                {h % 3 === 0 ? h : <span className="sr-only">{h}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {heat.map((row, d) => (
            <tr key={d}>
              <th scope="row">{weekdays[d]}</th>
              {row.map((n, h) => (
                <td key={h} title={`${weekdays[d]} ${h}:00, ${n}`} style={{ ["--heat" as string]: n === 0 ? 0 : 0.15 + (0.85 * n) / most }}>
                  <span className="sr-only">{n}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
