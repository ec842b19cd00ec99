import { useElementSize } from "@mantine/hooks";
import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import type { Conflict, Intent } from "../../api/records";
import { intentStatus, plural, shortRepo } from "../../lib/text";
import { Avatar } from "../../ui/bits";
import { card, layOut, pathOfEdge } from "./layout";

export function WorkMap({ intents, conflicts }: { intents: Intent[]; conflicts: Conflict[] }) {
  const [, navigate] = useLocation();
  const [over, setOver] = useState<string | null>(null);
  const { ref, width } = useElementSize();
  const map = useMemo(() => layOut(intents, conflicts, width || 800), [intents, conflicts, width]);
  const lit = (e: { from: string; to: string; key: string }) => over !== null && (e.from === over || e.to === over || e.key === over);
  return (
    <div className="map-scroll" ref={ref} tabIndex={0} role="region" aria-label="Map of the work in flight">
      <div className="map" style={{ width: map.width, height: map.height }}>
        <svg width={map.width} height={map.height} className="map-edges" aria-hidden>
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
              <path d="M0 0 L8 4 L0 8 z" className="map-arrow" />
            </marker>
          </defs>
          {map.edges.map((e) => {
            const a = map.at.get(e.from)!;
            const b = map.at.get(e.to)!;
            const { d, name } = pathOfEdge(map, e);
            const forward = a.x === b.x || a.x < b.x;
            return (
              <g key={e.key} className={lit(e) ? "edge edge-lit" : "edge"} onMouseEnter={() => setOver(e.key)} onMouseLeave={() => setOver(null)} onClick={() => navigate(e.kind === "conflict" ? `/conflicts/${e.ref}` : `/intents/${e.ref}`)}>
                <title>{e.label}</title>
                <path d={d} className="edge-hit" />
                <path d={d} className={e.kind === "conflict" ? `edge-line edge-${e.severity}` : "edge-line edge-depends"} markerEnd={e.kind === "depends" && forward ? "url(#arrow)" : undefined} markerStart={e.kind === "depends" && !forward ? "url(#arrow)" : undefined} />
                {name && e.kind === "conflict" && (
                  <text x={name.x} y={name.y + 4} textAnchor="middle" className={`edge-ref edge-ref-${e.severity}`}>
                    {e.ref}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
        {map.lanes.map((lane) => (
          <div key={lane.repo}>
            <Link href={`/intents?repo=${encodeURIComponent(lane.repo)}`} className="lane-name plain-link" style={{ left: lane.x, width: map.card }} title={lane.repo}>
              {shortRepo(lane.repo)}
            </Link>
            {lane.cards.map((i) => {
              const p = map.at.get(i.ref)!;
              const hits = map.edges.filter((e) => e.kind === "conflict" && (e.from === i.ref || e.to === i.ref));
              const worst = hits.some((e) => e.severity === "block") ? "block" : hits.some((e) => e.severity === "warn") ? "warn" : null;
              return (
                <Link
                  key={i.ref}
                  href={`/intents/${i.ref}`}
                  className={`map-card${worst ? ` map-${worst}` : ""}${over && map.edges.some((e) => lit(e) && (e.from === i.ref || e.to === i.ref)) ? " map-lit" : ""}`}
                  style={{ left: p.x, top: p.y, width: map.card, height: card.height }}
                  onMouseEnter={() => setOver(i.ref)}
                  onMouseLeave={() => setOver(null)}
                >
                  <span className="map-title">{i.title}</span>
                  <span className="map-meta">
                    <span className={`status-dot status-${i.status}`} title={intentStatus[i.status]} />
                    <span className="ref">{i.ref}</span>
                    <span className="clip dim grow map-branch" title={i.branch ?? undefined}>
                      {i.branch ?? "no branch"}
                    </span>
                    <Avatar user={i.owner} size={18} />
                    <span className="sr-only">
                      {intentStatus[i.status]}, {i.owner.name}
                      {hits.length > 0 && `, collides in ${hits.map((h) => h.ref).join(", ")}`}
                    </span>
                  </span>
                </Link>
              );
            })}
            {lane.hidden > 0 && (
              <Link href={`/intents?repo=${encodeURIComponent(lane.repo)}`} className="lane-more" style={{ left: lane.x, top: card.top + lane.cards.length * (card.height + card.gap), width: map.card }}>
                and {lane.hidden} more
              </Link>
            )}
          </div>
        ))}
      </div>
      <div className="map-legend dim" aria-hidden>
        <span className="legend legend-block">blocks</span>
        <span className="legend legend-warn">warns</span>
        <span className="legend legend-info">info</span>
        <span className="legend legend-depends">waits for</span>
        {map.others > 0 && <span>{plural(map.others, "more repo")} without collisions</span>}
      </div>
    </div>
  );
}
