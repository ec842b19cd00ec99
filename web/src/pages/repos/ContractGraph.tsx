// Linked repos drawn as a graph of the contracts between them, or as a list
// where there is no room for one.
import "../../styles/graph.css";
import { useElementSize } from "@mantine/hooks";
import { IconArrowRight } from "../../ui/icons.gen";
import { useMemo, useState } from "react";
import { useLocation } from "wouter";
import type { ContractRecord } from "../../api/records";
import { plural, shortRepo } from "../../lib/text";
import { contractPath } from "../../lib/url";

interface Bond {
  key: string;
  user: string;
  provider: string;
  contracts: ContractRecord[];
  breaking: boolean;
  apart: boolean; // no project links the two: what is not checked breaks nothing that svc tells
}

const breaks = (c: ContractRecord): boolean => c.in_flight.some((f) => f.role === "provides" && f.compatibility === "breaking");

export function bondsOf(contracts: ContractRecord[]): Bond[] {
  const bonds = new Map<string, Bond>();
  for (const c of contracts) {
    const provider = c.providers[0]?.repo.full_name;
    if (!provider) continue;
    for (const u of c.users) {
      const user = u.repo.full_name;
      if (user === provider || u.state === "moved") continue;
      const key = `${user}>${provider}`;
      const bond = bonds.get(key) ?? { key, user, provider, contracts: [], breaking: false, apart: u.apart };
      if (bond.contracts.at(-1) === c) continue;
      bond.contracts.push(c);
      bond.breaking ||= breaks(c);
      bonds.set(key, bond);
    }
  }
  return [...bonds.values()].sort((a, b) => a.key.localeCompare(b.key));
}

const node = { width: 150, height: 40 };
const margin = 56; // for lines that bend around a column
const step = { least: node.width + 70, most: 300 }; // from column to column

/** Users on the left, providers on the right, those that are both between. */
function place(bonds: Bond[], room: number): { at: Map<string, { x: number; y: number }>; width: number; height: number } {
  const users = new Set(bonds.map((b) => b.user));
  const providers = new Set(bonds.map((b) => b.provider));
  const names = [...new Set([...users, ...providers])].sort();
  const columns: string[][] = [names.filter((n) => !providers.has(n)), names.filter((n) => users.has(n) && providers.has(n)), names.filter((n) => !users.has(n))].filter((c) => c.length > 0);
  const rows = Math.max(...columns.map((c) => c.length));
  const height = rows * 66 + 30;
  const gaps = columns.length - 1;
  const wide = gaps === 0 ? 0 : Math.max(step.least, Math.min(step.most, (room - 2 * margin - node.width) / gaps));
  const at = new Map<string, { x: number; y: number }>();
  columns.forEach((names, c) => names.forEach((n, r) => at.set(n, { x: margin + c * wide, y: (height / (names.length + 1)) * (r + 1) - node.height / 2 })));
  return { at, width: 2 * margin + gaps * wide + node.width, height };
}

type Point = { x: number; y: number };

/** The line from a user to its provider, whichever way that lies. */
function route(user: Point, provider: Point): { d: string; label: Point } {
  const mid = node.height / 2;
  const [y1, y2] = [user.y + mid, provider.y + mid];
  if (user.x === provider.x) {
    // Down on the right, up on the left, so that two that use each other
    // have two lines.
    const side = y1 < y2 ? 1 : -1;
    const x = user.x + (side > 0 ? node.width : 0);
    const bend = x + side * 46;
    return { d: `M${x} ${y1} C${bend} ${y1} ${bend} ${y2} ${x + side * 2} ${y2}`, label: { x: x + side * 44, y: (y1 + y2) / 2 + 4 } };
  }
  const forward = user.x < provider.x;
  const x1 = user.x + (forward ? node.width : 0);
  const x2 = provider.x + (forward ? -2 : node.width + 2);
  const pull = forward ? 70 : -70;
  return { d: `M${x1} ${y1} C${x1 + pull} ${y1} ${x2 - pull} ${y2} ${x2} ${y2}`, label: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 7 } };
}

export function ContractGraph({ contracts }: { contracts: ContractRecord[] }) {
  const all = useMemo(() => bondsOf(contracts), [contracts]);
  const [bonds, apart] = [all.filter((b) => !b.apart), all.filter((b) => b.apart)];
  const { ref, width } = useElementSize();
  const [chosen, setChosen] = useState<string | null>(null);
  const bond = bonds.find((b) => b.key === chosen) ?? bonds.find((b) => b.breaking) ?? bonds[0];
  if (!bond && apart.length > 0) return <Apart bonds={apart} />;
  if (!bond) return <p className="dim thread-none">No repo here is known to use what another one provides. Contracts are learned as agents edit.</p>;
  const beside = 300; // the chosen bond's contracts
  const map = place(bonds, width - beside);
  return (
    <div ref={ref}>
      {width === 0 ? null : map.width <= width - beside ? (
        <div className="contracts">
          <Graph bonds={bonds} bond={bond} map={map} choose={setChosen} />
          <div className="bond">
            <div className="bond-head">
              {shortRepo(bond.user)} <span className="dim">uses of</span> {shortRepo(bond.provider)}
            </div>
            <Contracts bond={bond} />
          </div>
        </div>
      ) : (
        <ul className="bonds">
          {bonds.map((b) => (
            <li key={b.key} className="bond-row">
              <button type="button" className="bond-name" aria-expanded={b === bond} onClick={() => setChosen(b.key)}>
                <span className="grow">
                  {shortRepo(b.user)} <IconArrowRight size={14} role="img" aria-label="uses" /> {shortRepo(b.provider)}
                </span>
                {b.breaking && <span className="pill pill-block">breaks</span>}
                <span className="dim">{plural(b.contracts.length, "contract")}</span>
              </button>
              {b === bond && <Contracts bond={b} />}
            </li>
          ))}
        </ul>
      )}
      {apart.length > 0 && <Apart bonds={apart} />}
    </div>
  );
}

/** Repos that seem to use each other's contracts and share no project. */
const Apart = ({ bonds }: { bonds: Bond[] }) => (
  <p className="dim bonds-apart">
    Not checked, since no project links them: {bonds.map((b) => `${shortRepo(b.user)} uses ${plural(b.contracts.length, "contract")} of ${shortRepo(b.provider)}`).join("; ")}.
  </p>
);

function Contracts({ bond }: { bond: Bond }) {
  const [, navigate] = useLocation();
  return (
    <ul>
      {bond.contracts.map((c) => (
        <li key={c.key}>
          <button type="button" className="bond-item" onClick={() => navigate(contractPath(c.key, bond.provider))}>
            <code className="clip">{c.key}</code>
            {breaks(c) && <span className="pill pill-block">breaks</span>}
            {c.in_flight.length > 0 && !breaks(c) && <span className="pill pill-info">changing</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Graph({ bonds, bond, map, choose }: { bonds: Bond[]; bond: Bond; map: ReturnType<typeof place>; choose: (key: string) => void }) {
  return (
    <svg className="contracts-map" width={map.width} height={map.height} role="group" aria-label="Repos and the contracts between them">
      <defs>
        <marker id="uses" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
          <path d="M0 0 L8 4 L0 8 z" className="map-arrow" />
        </marker>
      </defs>
      {bonds.map((b) => {
        const { d, label } = route(map.at.get(b.user)!, map.at.get(b.provider)!);
        return (
          <g key={b.key} className={b === bond ? "edge edge-lit" : "edge"} role="button" tabIndex={0} aria-pressed={b === bond} aria-label={`${shortRepo(b.user)} uses ${plural(b.contracts.length, "contract")} of ${shortRepo(b.provider)}${b.breaking ? ", one is about to break" : ""}`} onClick={() => choose(b.key)} onKeyDown={(e) => (e.key === "Enter" || e.key === " ") && (e.preventDefault(), choose(b.key))}>
            <path d={d} className="edge-hit" />
            <path d={d} className={b.breaking ? "edge-line edge-block" : "edge-line edge-contract"} markerEnd="url(#uses)" />
            <text x={label.x} y={label.y} className="edge-count" textAnchor="middle">
              {b.contracts.length}
            </text>
          </g>
        );
      })}
      {[...map.at].map(([name, p]) => (
        <g key={name} transform={`translate(${p.x} ${p.y})`}>
          <rect width={node.width} height={node.height} rx={8} className="repo-node" />
          <text x={node.width / 2} y={node.height / 2 + 4.5} textAnchor="middle" className="repo-name">
            {shortRepo(name).slice(0, 19)}
            <title>{name}</title>
          </text>
        </g>
      ))}
    </svg>
  );
}
