import { useMantineColorScheme } from "@mantine/core";
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Stats } from "../../api/records";
import { day } from "../../lib/text";

const series = [
  { key: "conflicts", label: "Conflicts found", color: "--warn-mark" },
  { key: "resolved", label: "Resolved", color: "--good-mark" },
  { key: "blocked", label: "Edits stopped", color: "--block" },
] as const;

export function DailyChart({ daily }: { daily: Stats["daily"] }) {
  const box = useRef<HTMLDivElement>(null);
  const { colorScheme } = useMantineColorScheme();
  useEffect(() => {
    const el = box.current;
    if (!el) return;
    const css = getComputedStyle(el);
    const color = (name: string) => css.getPropertyValue(name).trim();
    const axis = { stroke: color("--dim"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "11px " + css.fontFamily };
    const plot = new uPlot(
      {
        width: el.clientWidth,
        height: 220,
        cursor: { y: false },
        legend: { live: true },
        scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, Math.max(4, max * 1.1)] } },
        axes: [
          { ...axis, size: 28, grid: { show: false }, values: (_u, at) => at.map((i) => (Number.isInteger(i) && daily[i] ? day(daily[i].date) : "")) },
          { ...axis, size: 34 },
        ],
        series: [
          { label: "Day", value: (_u, i) => (i === null || i === undefined || !daily[i] ? "–" : day(daily[i].date)) },
          ...series.map((s) => ({ label: s.label, stroke: color(s.color), width: 2, points: { show: daily.length < 10 } })),
        ],
      },
      [daily.map((_, i) => i), ...series.map((s) => daily.map((d) => d[s.key]))],
      el,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: el.clientWidth, height: 220 }));
    resize.observe(el);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [daily, colorScheme]);
  const sum = (key: (typeof series)[number]["key"]) => daily.reduce((n, d) => n + d[key], 0);
  return <div ref={box} className="chart" role="img" aria-label={`Daily figures: ${series.map((s) => `${s.label} ${sum(s.key)}`).join(", ")}`} />;
}
