import type { Stats } from "../../api/records";
import { day } from "../../lib/text";

const panels = [
  { key: "sessions", label: "Agent sessions", tone: "accent" },
  { key: "conflicts", label: "Conflicts found", tone: "warn" },
  { key: "blocked", label: "Edits stopped", tone: "block" },
  { key: "resolved", label: "Conflicts resolved", tone: "good" },
] as const;

/** One small chart a figure, all over the same days. */
export const DailyChart = ({ daily }: { daily: Stats["daily"] }) => (
  <div className="days">
    {panels.map((p) => (
      <Panel key={p.key} label={p.label} tone={p.tone} days={daily.map((d) => ({ date: d.date, n: d[p.key] }))} />
    ))}
  </div>
);

function Panel({ label, tone, days }: { label: string; tone: string; days: { date: string; n: number }[] }) {
  // A round top, so that the half of it is a whole number.
  const most = 2 * Math.ceil(Math.max(4, ...days.map((d) => d.n)) / 2);
  const total = days.reduce((n, d) => n + d.n, 0);
  const peak = days.reduce((a, b) => (b.n > a.n ? b : a), days[0] ?? { date: "", n: 0 });
  return (
    <figure className="day-panel">
      <figcaption>
        <span className="dim">{label}</span> <b>{total.toLocaleString("en")}</b>
      </figcaption>
      <div className="day-plot">
        <div className="day-scale dim" aria-hidden>
          <span>{most}</span>
          <span>{most / 2}</span>
          <span>0</span>
        </div>
        <div className="day-bars" role="img" aria-label={`${label} by day: ${total} in all${peak.n > 0 ? `, most on ${day(peak.date)} with ${peak.n}` : ""}`}>
        {days.map((d) => (
          <span key={d.date} className="day-slot" title={`${day(d.date)}: ${d.n.toLocaleString("en")}`}>
            <span className={`day-bar day-${tone}`} style={{ height: `${(d.n / most) * 100}%` }} />
          </span>
        ))}
        </div>
      </div>
      <div className="day-axis dim" aria-hidden>
        <span>{days[0] && day(days[0].date)}</span>
        <span>days in UTC</span>
        <span>{days.at(-1) && day(days.at(-1)!.date)}</span>
      </div>
    </figure>
  );
}
