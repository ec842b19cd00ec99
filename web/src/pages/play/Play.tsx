// A stretch of the past, played back: the lanes with a play head, and below it
// where work was and what happened as the head passes.
import "../../styles/play.css";
import { Button, Select } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconDownload, IconPlayerPause, IconPlayerPlay } from "../../ui/icons.gen";
import { memo, useCallback, useEffect, useMemo, useRef, useState, type ChangeEvent } from "react";
import type { Event } from "../../api/records";
import { agentsOf, type Agent } from "../../lib/agents";
import { useStretch, type Stretch } from "../../lib/stretch";
import { clock, day, plural } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Copy } from "../../ui/bits";
import { Happening } from "../../ui/Happening";
import { Empty, Failed, Loading, Page, Section } from "../../ui/page";
import { Chart, span as across } from "../lanes/Chart";
import { laneTypes, pictureOf, type Picture } from "../lanes/data";
import { Boxes } from "../territory/Boxes";
import { spread, treeOf, type Folder } from "../territory/treemap";
import { saved } from "./saved";

const hour = 3_600_000;
const longest = 7 * 24 * hour;
const speeds = [
  { value: "60", label: "A minute a second" },
  { value: "600", label: "Ten minutes a second" },
  { value: "3600", label: "An hour a second" },
];
const recent = 30 * 60_000; // how long a place stays warm
const told = 12; // events beside the head

/** The stretch in the address, or today. */
function useWanted(): [number, number] {
  const [from] = useFilter("from");
  const [to] = useFilter("to");
  const [now] = useState(Date.now);
  const begin = Date.parse(from) || new Date(now).setHours(0, 0, 0, 0);
  const end = Math.min(Date.parse(to) || begin + 24 * hour, now);
  return [begin, Math.max(begin + 60_000, Math.min(end, begin + longest))];
}

export function Play() {
  const [from, to] = useWanted();
  const [, setFrom] = useFilter("from");
  const [, setTo] = useFilter("to");
  const [read, setRead] = useState(0);
  const stretch = useStretch(laneTypes, from, to, setRead);
  const choose = (e: ChangeEvent<HTMLInputElement>) => {
    const begin = new Date(`${e.target.value}T00:00`);
    if (Number.isNaN(begin.getTime())) return;
    setFrom(begin.toISOString());
    setTo(null);
  };
  const local = new Date(from - new Date(from).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
  return (
    <Page
      title="Played back"
      wide
      sub={`${day(new Date(from))}, ${clock(from)} to ${clock(to)}${stretch.data ? `, ${plural(stretch.data.events.length, "event")}${stretch.data.cut ? " of more" : ""}` : ""}`}
      actions={<input type="date" className="date-input" aria-label="Day" value={local} max={new Date().toISOString().slice(0, 10)} onChange={choose} />}
    >
      {stretch.isError ? (
        <Failed error={stretch.error} retry={() => void stretch.refetch()} />
      ) : !stretch.data ? (
        <>
          <Loading />
          <p className="dim thread-none" role="status">
            {read > 3 && `${plural(read * 200, "event")} read`}
          </p>
        </>
      ) : (
        <Player key={`${from} ${to}`} stretch={stretch.data} from={from} to={to} />
      )}
    </Page>
  );
}

/** The lanes of the agents that did anything in a stretch. */
function usePicture(stretch: Stretch): { picture: Picture; agents: Agent[] } {
  return useMemo(() => {
    const agents = agentsOf(stretch.sessions, stretch.intents, []);
    const whole = pictureOf(agents, "person", stretch.events);
    const lanes = whole.lanes.filter((l) => l.marks.length > 0 || l.waits.length > 0);
    return { picture: { ...whole, lanes }, agents };
  }, [stretch]);
}

const Drawn = memo(Chart);
const nothing = () => undefined;

function Player({ stretch, from, to }: { stretch: Stretch; from: number; to: number }) {
  const { picture, agents } = usePicture(stretch);
  const [at, setAt] = useFilter("at");
  const [head, setHead] = useState(() => Math.min(to, Math.max(from, Date.parse(at) || Date.parse(stretch.events[0]?.occurred_at ?? "") - 1000 || from)));
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState("600");
  const { ref, width } = useElementSize();
  const box = useRef<HTMLDivElement>(null);
  usePlaying(playing, Number(speed), to, setHead, setPlaying);
  // The address holds the moment once the head rests: a link to it shows just that.
  useEffect(() => {
    if (playing) return;
    const t = setTimeout(() => setAt(new Date(head).toISOString()), 300);
    return () => clearTimeout(t);
  }, [playing, head, from, setAt]);
  const begin = useCallback(() => {
    setHead((h) => (h >= to ? from : h));
    setPlaying((p) => !p);
  }, [from, to]);
  const upTo = useMemo(() => countUntil(stretch.events, head), [stretch.events, head]);
  if (picture.lanes.length === 0) {
    return (
      <Section>
        <Empty title="Nothing happened then">Choose another day.</Empty>
      </Section>
    );
  }
  const x = width > 0 ? across(width, from, to)(head) : 0;
  const link = new URL(location.href);
  for (const [name, t] of Object.entries({ from, to, at: head })) link.searchParams.set(name, new Date(t).toISOString());
  return (
    <>
      <Section pad={false}>
        <div className="play-bar">
          <Button size="compact-sm" leftSection={playing ? <IconPlayerPause size={14} /> : <IconPlayerPlay size={14} />} onClick={begin}>
            {playing ? "Pause" : "Play"}
          </Button>
          <input type="range" className="grow" aria-label="Moment" aria-valuetext={clock(head)} min={from} max={to} step={1000} value={head} onChange={(e) => (setPlaying(false), setHead(Number(e.target.value)))} />
          <b className="play-clock">{clock(head)}</b>
          <Select size="xs" w={168} aria-label="Speed" allowDeselect={false} value={speed} onChange={(v) => v && setSpeed(v)} data={speeds} />
          <Copy value={link.href} label="Copy a link to this moment" />
          <Button size="compact-sm" variant="default" leftSection={<IconDownload size={14} />} onClick={() => save(box.current, stretch, from, to)}>
            Save as a page
          </Button>
        </div>
        <div ref={ref} className="play-lanes">
          <div ref={box}>{width > 0 && <Drawn picture={picture} width={width} from={from} to={to} now={to} onZoom={nothing} moment={null} onMoment={nothing} still />}</div>
          <div className="play-veil" style={{ left: x }} aria-hidden />
        </div>
      </Section>
      <div className="play-below">
        <Section title="Where work was" sub="In the half hour before the head: area by changes, colour by collisions.">
          <Ground events={stretch.events} upTo={upTo} head={head} agents={agents} />
        </Section>
        <Section title="What happened">
          <div role="log" aria-label="What happened" aria-live="off">
            {stretch.events
              .slice(Math.max(0, upTo - told), upTo)
              .reverse()
              .map((e) => (
                <Happening key={e.id} event={e} refs={stretch.refs} />
              ))}
            {upTo === 0 && <p className="dim">Nothing yet.</p>}
          </div>
        </Section>
      </div>
    </>
  );
}

/** Moves the head on while it plays. */
function usePlaying(playing: boolean, speed: number, to: number, setHead: (f: (h: number) => number) => void, setPlaying: (p: boolean) => void): void {
  useEffect(() => {
    if (!playing) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function on(now) {
      const by = (now - last) * speed;
      last = now;
      setHead((h) => {
        const next = Math.min(to, h + by);
        if (next >= to) queueMicrotask(() => setPlaying(false));
        return next;
      });
      frame = requestAnimationFrame(on);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, speed, to, setHead, setPlaying]);
}

/** How many events came up to a moment; they are in order but for a few of one instant. */
function countUntil(events: Event[], head: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const mid = (low + high) >> 1;
    if (Date.parse(events[mid]!.occurred_at) <= head) low = mid + 1;
    else high = mid;
  }
  return low;
}

const paths = (e: Event): string[] => {
  const p = ((e.payload ?? {}) as Record<string, unknown>)["paths"];
  return Array.isArray(p) ? p.filter((x): x is string => typeof x === "string") : [];
};

/** The folders that were worked in just before the head. */
function Ground({ events, upTo, head, agents }: { events: Event[]; upTo: number; head: number; agents: Agent[] }) {
  const { ref, width } = useElementSize();
  const slot = Math.floor(head / 60_000); // the picture changes by the minute
  const { list, where } = useMemo(() => {
    const spots: { path: string; touched: number; collided: number }[] = [];
    const where = new Map<string, string[]>(); // an agent's places
    for (let i = upTo - 1; i >= 0 && slot * 60_000 - Date.parse(events[i]!.occurred_at) < recent; i--) {
      const e = events[i]!;
      const collided = e.type === "conflict.detected" || e.type === "hook.blocked" ? 1 : 0;
      for (const path of paths(e)) spots.push({ path, touched: collided ? 0 : 1, collided });
      if (e.type === "change.recorded" && !where.has(e.actor.id)) where.set(e.actor.id, paths(e));
    }
    return { list: spread(treeOf(spots)), where };
  }, [events, upTo, slot]);
  const at = (f: Folder) => agents.filter((a) => (where.get(a.id) ?? []).some((p) => p === f.path || p.startsWith(f.path + "/")));
  return <div ref={ref}>{list.length === 0 ? <p className="dim">Nobody changed a file in that half hour.</p> : width > 0 && <Boxes list={list} at={at} width={width} height={220} label="Folders" open={nothing} />}</div>;
}

/** Saves what is drawn as one file that opens without the server. */
function save(box: HTMLElement | null, stretch: Stretch, from: number, to: number): void {
  const svg = box?.querySelector("svg");
  if (!svg) return;
  const url = URL.createObjectURL(new Blob([saved(svg, stretch, from, to)], { type: "text/html" }));
  const a = document.createElement("a");
  a.href = url;
  a.download = `svc-${new Date(from).toISOString().slice(0, 16).replace(":", "")}.html`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
