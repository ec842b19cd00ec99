import "../../styles/lanes.css";
import { useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { useLocation } from "wouter";
import { stateText } from "../../lib/agents";
import { clock, toolName } from "../../lib/text";
import { ticks, type Lane, type Mark, type Picture } from "./data";

export interface Moment {
  who: string;
  lane: string;
  at: number;
  text: string;
  href: string;
}

interface Props {
  picture: Picture;
  width: number;
  from: number;
  to: number;
  now: number;
  onZoom: (z: [number, number] | null) => void;
  moment: Moment | null;
  onMoment: (m: Moment | null) => void;
  still?: boolean; // only looked at: its marks are drawn at one go, and none of them answers
}

const head = 22; // px of the axis
const tickWidth = 84; // px that a time needs
const least = 60_000; // ms that can be zoomed into
const drag = 6; // px from which on a click is a brush

const whoOf = (l: Lane): string => `${l.agent.user.name}'s ${toolName(l.agent.session.tool)}`;
const momentOf = (l: Lane, m: Pick<Mark, "at" | "text" | "href">): Moment => ({ who: whoOf(l), lane: l.id, at: m.at, text: m.text, href: m.href });

/** Marks that would be drawn on the same few pixels become one. */
function thin(marks: Mark[], x: (t: number) => number, from: number, to: number): (Mark & { n: number })[] {
  const out = new Map<string, Mark & { n: number }>();
  for (const m of marks) {
    if (m.at < from || m.at > to) continue;
    const key = `${m.kind} ${Math.round(x(m.at) / 3)}`;
    const there = out.get(key);
    if (there) {
      there.n++;
      there.size += m.size;
      there.text = `${there.n} times: ${m.text}`;
    } else out.set(key, { ...m, n: 1 });
  }
  return [...out.values()];
}

const namesOf = (width: number): number => (width < 600 ? 84 : 176);

/** Where a moment is drawn. */
export const span = (width: number, from: number, to: number) => (t: number) => namesOf(width) + ((t - from) / (to - from)) * (width - namesOf(width) - 4);

export function Chart({ picture, width, from, to, now, onZoom, moment, onMoment, still = false }: Props) {
  const [, navigate] = useLocation();
  const [brush, setBrush] = useState<[number, number] | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  const names = namesOf(width);
  const step = picture.lanes.length > 24 ? 16 : 22;
  const height = head + picture.lanes.length * step + 4;
  const x = span(width, from, to);
  const timeAt = (px: number) => from + ((px - names) / (width - names - 4)) * (to - from);
  const row = useMemo(() => new Map(picture.lanes.map((l, i) => [l.id, head + i * step + step / 2])), [picture.lanes, step]);
  const inside = (e: PointerEvent) => Math.max(names, e.clientX - (svg.current?.getBoundingClientRect().left ?? 0));
  const clamp = (t: number) => Math.max(from, Math.min(to, t));

  const down = (e: PointerEvent<SVGSVGElement>) => {
    if (e.button !== 0 || inside(e) <= names) return;
    setBrush([inside(e), inside(e)]);
  };
  const move = (e: PointerEvent<SVGSVGElement>) => brush && setBrush([brush[0], inside(e)]);
  const up = () => {
    if (brush && Math.abs(brush[1] - brush[0]) > drag) {
      const [a, b] = [timeAt(Math.min(...brush)), timeAt(Math.max(...brush))];
      if (b - a >= least) onZoom([a, b]);
    }
    setBrush(null);
  };
  const zoomBy = (k: number) => {
    const mid = moment ? clamp(moment.at) : (from + to) / 2;
    const half = Math.max(least, (to - from) * k) / 2;
    onZoom([mid - half, Math.min(now, mid + half)]);
  };
  const key = (e: KeyboardEvent) => {
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[e.key];
    if (step) onMoment(stepFrom(picture.lanes, moment, step[0]!, step[1]!, from, to) ?? moment);
    else if (e.key === "+" || e.key === "=") zoomBy(0.5);
    else if (e.key === "-") zoomBy(2);
    else if (e.key === "0" || e.key === "Escape") onZoom(null);
    else if (e.key === "Enter" && moment?.href) navigate(moment.href);
    else return;
    e.preventDefault();
  };
  return (
    <div className="lanes-box" tabIndex={0} role="group" aria-label={`Lanes of ${picture.lanes.length} agents from ${clock(from)} to ${clock(to)}. The same as a table: the button before.`} onKeyDown={key}>
      <svg ref={svg} width={width} height={height} className="lanes-svg" onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={() => setBrush(null)} aria-hidden>
        {ticks(from, to, Math.max(2, Math.floor((width - names) / tickWidth))).map((t) => (
          <g key={t}>
            <line x1={x(t)} x2={x(t)} y1={head - 4} y2={height} className="lanes-tick" />
            <text x={x(t)} y={13} textAnchor="middle" className="lanes-time">
              {clock(t, to - from)}
            </text>
          </g>
        ))}
        {picture.lanes.map((l) => (
          <LaneShape key={l.id} lane={l} y={row.get(l.id)!} step={step} names={names} width={width} x={x} from={from} to={to} now={now} onMoment={onMoment} lit={moment?.lane === l.id ? moment : null} still={still} />
        ))}
        {picture.links.map((k) => {
          const [a, b] = [row.get(k.a), row.get(k.b)];
          if (a === undefined || b === undefined || (k.to ?? now) < from || k.from > to) return null;
          const at = x(clamp(k.from));
          const end = k.to !== null && k.to <= to ? x(k.to) : null;
          return (
            <g key={k.ref} className={`lane-link lane-link-${k.severity}`} onClick={() => navigate(`/conflicts/${k.ref}`)}>
              <title>{k.text}</title>
              <line x1={at} x2={at} y1={a} y2={b} className="lane-link-hit" />
              <line x1={at} x2={at} y1={a} y2={b} className="lane-link-line" />
              {[a, b].map((y) => (
                <circle key={y} cx={at} cy={y} r={2.5} />
              ))}
              {end !== null && <line x1={end} x2={end} y1={Math.min(a, b) - 4} y2={Math.min(a, b) + 4} className="lane-link-line" />}
            </g>
          );
        })}
        {brush && <rect x={Math.min(...brush)} width={Math.abs(brush[1] - brush[0])} y={head - 4} height={height - head} className="lanes-brush" />}
      </svg>
    </div>
  );
}

/** The mark to go to from here: the next in the lane, or the nearest in the lane beside. */
function stepFrom(lanes: Lane[], here: Moment | null, lanesDown: number, marksOn: number, from: number, to: number): Moment | null {
  const seen = (l: Lane) => l.marks.filter((m) => m.at >= from && m.at <= to);
  const at = here ? lanes.findIndex((l) => l.id === here.lane) : -1;
  if (marksOn && at >= 0) {
    const marks = seen(lanes[at]!);
    const i = marks.findIndex((m) => m.at === here!.at && m.text === here!.text);
    const next = marks[i < 0 ? (marksOn > 0 ? 0 : marks.length - 1) : i + marksOn];
    return next ? momentOf(lanes[at]!, next) : null;
  }
  const way = lanesDown || 1;
  for (let i = at < 0 ? (way > 0 ? 0 : lanes.length - 1) : at + way; i >= 0 && i < lanes.length; i += way) {
    const marks = seen(lanes[i]!);
    const near = here ? marks.reduce<Mark | undefined>((a, m) => (!a || Math.abs(m.at - here.at) < Math.abs(a.at - here.at) ? m : a), undefined) : marks.at(-1);
    if (near) return momentOf(lanes[i]!, near);
  }
  return null;
}

interface LaneProps {
  lane: Lane;
  y: number;
  step: number;
  names: number;
  width: number;
  x: (t: number) => number;
  from: number;
  to: number;
  now: number;
  onMoment: (m: Moment) => void;
  lit: Moment | null;
  still: boolean;
}

const tallOf = (m: Mark, step: number): number => (m.kind === "message" ? 2.6 : Math.min(step / 2 - 1, 3 + 1.6 * Math.log2(1 + m.size)));

/** All marks of a kind in one shape. */
function StillMarks({ marks, y, step, x }: { marks: Mark[]; y: number; step: number; x: (t: number) => number }) {
  const shapes = new Map<Mark["kind"], string>();
  for (const m of marks) {
    const tall = tallOf(m, step);
    shapes.set(m.kind, `${shapes.get(m.kind) ?? ""}M${(x(m.at) - 1.5).toFixed(1)} ${(y - tall).toFixed(1)}h3v${(2 * tall).toFixed(1)}h-3z`);
  }
  return [...shapes].map(([kind, d]) => <path key={kind} d={d} className={`lane-mark lane-${kind}`} />);
}

function LaneShape({ lane: l, y, step, names, width, x, from, to, now, onMoment, lit, still }: LaneProps) {
  const [, navigate] = useLocation();
  const begin = Math.max(from, Math.min(l.from, now));
  return (
    <g>
      <foreignObject x={0} y={y - step / 2} width={names - 6} height={step}>
        <div className="lane-name" onClick={() => navigate(`/agents/${l.id}`)}>
          <span className={`lane-dot tone-${stateText[l.agent.state].tone}`} />
          <span className="clip" dir="auto" title={`${whoOf(l)}, ${l.agent.session.repo.full_name}`}>
            {l.agent.user.name}
          </span>
          {names > 120 && <span className="ref">{l.agent.session.intent?.ref}</span>}
        </div>
      </foreignObject>
      <line x1={x(Math.min(begin, to))} x2={Math.min(x(Math.min(now, to)), width)} y1={y} y2={y} className="lane-line" />
      {l.waits.map((w, i) => {
        const [a, b] = [Math.max(w.from, from), Math.min(w.to ?? now, to)];
        if (b <= a) return null;
        return (
          <rect key={i} x={x(a)} width={Math.max(2, x(b) - x(a))} y={y - 4} height={8} rx={2} className="lane-wait" onClick={() => onMoment(momentOf(l, { at: w.from, text: w.text, href: w.href }))}>
            <title>{w.text}</title>
          </rect>
        );
      })}
      {still && <StillMarks marks={thin(l.marks, x, from, to)} y={y} step={step} x={x} />}
      {(still ? [] : thin(l.marks, x, from, to)).map((m, i) => {
        const at = x(m.at);
        const on = lit && Math.abs(lit.at - m.at) < 1 ? " lane-mark-on" : "";
        const common = { className: `lane-mark lane-${m.kind}${on}`, onClick: () => onMoment(momentOf(l, m)) };
        const tall = tallOf(m, step);
        return m.kind === "message" ? (
          <circle key={i} cx={at} cy={y} r={2.6} {...common}>
            <title>{m.text}</title>
          </circle>
        ) : (
          <rect key={i} x={at - 1.5} width={3} y={y - tall} height={2 * tall} {...common}>
            <title>{m.text}</title>
          </rect>
        );
      })}
    </g>
  );
}
