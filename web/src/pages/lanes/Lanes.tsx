// Agents over the last hours: time runs to the right, now is at the edge.
import { Button, Select } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconPlayerPlay, IconTable, IconTimeline, IconZoomReset } from "../../ui/icons.gen";
import { useEffect, useMemo, useState } from "react";
import { Link } from "wouter";
import type { Agent, Grouping } from "../../lib/agents";
import { useHistory } from "../../lib/history";
import { clock, exact } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Failed, Loading } from "../../ui/page";
import { Chart, type Moment } from "./Chart";
import { laneTypes, pictureOf, type Picture } from "./data";
import { LaneTable } from "./LaneTable";

const spans = [
  { value: "0.25", label: "15 minutes" },
  { value: "1", label: "1 hour" },
  { value: "2", label: "2 hours" },
  { value: "8", label: "8 hours" },
  { value: "24", label: "24 hours" },
  { value: "168", label: "7 days" },
];
const minute = 60_000;
const tick = 5000; // ms between two looks at the clock

function useClock(): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    const t = setInterval(() => set(Date.now()), tick);
    return () => clearInterval(t);
  }, []);
  return now;
}

export function Lanes({ agents, by }: { agents: Agent[]; by: Grouping }) {
  const [span, setSpan] = useFilter("span", "2");
  const [table, setTable] = useFilter("table");
  const hours = Number(span) > 0 && Number(span) <= 168 ? Number(span) : 2;
  const history = useHistory("lanes", laneTypes, hours);
  const [zoom, setZoom] = useState<[number, number] | null>(null);
  const [moment, setMoment] = useState<Moment | null>(null);
  const now = useClock();
  const { ref, width } = useElementSize();
  const picture = useMemo<Picture>(() => pictureOf(agents, by, history.data ?? []), [agents, by, history.data]);
  const whole: [number, number] = [now - hours * 60 * minute, now];
  const [from, to] = zoom ?? whole;
  return (
    <div className="lanes">
      <div className="view-head">
        <Select size="xs" w={112} aria-label="How far back" allowDeselect={false} value={span} onChange={(v) => (setSpan(v), setZoom(null))} data={spans} />
        <Button size="compact-xs" variant="default" leftSection={table ? <IconTimeline size={14} /> : <IconTable size={14} />} onClick={() => setTable(table ? null : "true")}>
          {table ? "As lanes" : "As a table"}
        </Button>
        {zoom && (
          <Button size="compact-xs" variant="light" leftSection={<IconZoomReset size={14} />} onClick={() => setZoom(null)}>
            {clock(zoom[0])} – {clock(zoom[1])}, show all
          </Button>
        )}
        <Button size="compact-xs" variant="default" component={Link} href={`/play?${new URLSearchParams({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })}`} leftSection={<IconPlayerPlay size={14} />}>
          Play back
        </Button>
        <span className="grow" />
        <Legend />
      </div>
      <div ref={ref}>
        {!history.data ? (
          history.isError ? (
            <Failed error={history.error} retry={() => void history.refetch()} />
          ) : (
            <Loading />
          )
        ) : table ? (
          <LaneTable picture={picture} from={from} to={to} />
        ) : (
          width > 0 && <Chart picture={picture} width={width} from={from} to={to} now={now} onZoom={setZoom} moment={moment} onMoment={setMoment} />
        )}
      </div>
      <div className="lanes-moment" role="status">
        {moment ? (
          <>
            <b dir="auto">{moment.who}</b> {moment.text} <span className="dim">{exact(new Date(moment.at).toISOString())}</span>{" "}
            {moment.href && (
              <Link href={moment.href} className="plain-link">
                <u>Open</u>
              </Link>
            )}
          </>
        ) : (
          <span className="dim">Drag to zoom in, click a mark to see the moment. With the keyboard: arrows go from mark to mark, + and − zoom, Enter opens.</span>
        )}
      </div>
    </div>
  );
}

const Legend = () => (
  <span className="lanes-legend dim" aria-hidden>
    <span className="key key-edit">edits</span>
    <span className="key key-message">messages</span>
    <span className="key key-warned">warned</span>
    <span className="key key-refused">refused</span>
    <span className="key key-wait">waits</span>
    <span className="key key-link">collide</span>
  </span>
);
