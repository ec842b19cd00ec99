// Linked repos drawn as a graph of the contracts between them.
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
}

const breaks = (c: ContractRecord): boolean => c.in_flight.some((f) => f.role === "provides" && f.compatibility === "breaking");

export function bondsOf(contracts: ContractRecord[]): Bond[] {
  const bonds = new Map<string, Bond>();
  for (const c of contracts) {
    const provider = c.providers[0]?.repo.full_name;
    if (!provider) continue;
    for (const user of new Set(c.users.map((u) => u.repo.full_name))) {
      if (user === provider) continue;
      const key = `${user}>${provider}`;
      const bond = bonds.get(key) ?? { key, user, provider, contracts: [], breaking: false };
      bond.contracts.push(c);
      bond.breaking ||= breaks(c);
      bonds.set(key, bond);
    }
  }
  return [...bonds.values()].sort((a, b) => a.key.localeCompare(b.key));
}

const node = { width: 150, height: 40 };

/** Users on the left, providers on the right, those that are both between. */
function place(bonds: Bond[]): { at: Map<string, { x: number; y: number }>; width: number; height: number } {
  const users = new Set(bonds.map((b) => b.user));
  const providers = new Set(bonds.map((b) => b.provider));
  const names = [...new Set([...users, ...providers])].sort();
  const columns: string[][] = [names.filter((n) => !providers.has(n)), names.filter((n) => users.has(n) && providers.has(n)), names.filter((n) => !users.has(n))].filter((c) => c.length > 0);
  const rows = Math.max(...columns.map((c) => c.length));
  const height = rows * 66 + 30;
  const at = new Map<string, { x: number; y: number }>();
  columns.forEach((names, c) => names.forEach((n, r) => at.set(n, { x: 56 + c * 300, y: (height / (names.length + 1)) * (r + 1) - node.height / 2 })));
  return { at, width: 112 + (columns.length - 1) * 300 + node.width, height };
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
  const [, navigate] = useLocation();
  const bonds = useMemo(() => bondsOf(contracts), [contracts]);
  const map = useMemo(() => place(bonds), [bonds]);
  const [chosen, setChosen] = useState<string | null>(null);
  const bond = bonds.find((b) => b.key === chosen) ?? bonds.find((b) => b.breaking) ?? bonds[0];
  if (!bond) return <p className="dim thread-none">No repo here is known to use what another one provides. Contracts are learned as agents edit.</p>;
  return (
    <div className="contracts">
      <div className="map-scroll" tabIndex={0} role="region" aria-label="Graph of contracts">
        <svg width={map.width} height={map.height} role="group" aria-label="Repos and the contracts between them">
          <defs>
            <marker id="uses" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
              <path d="M0 0 L8 4 L0 8 z" className="map-arrow" />
            </marker>
          </defs>
          {bonds.map((b) => {
            const a = map.at.get(b.user)!;
            const z = map.at.get(b.provider)!;
            const { d, label } = route(a, z);
            return (
              <g key={b.key} className={b === bond ? "edge edge-lit" : "edge"} role="button" tabIndex={0} aria-pressed={b === bond} aria-label={`${shortRepo(b.user)} uses ${plural(b.contracts.length, "contract")} of ${shortRepo(b.provider)}${b.breaking ? ", one is about to break" : ""}`} onClick={() => setChosen(b.key)} onKeyDown={(e) => (e.key === "Enter" || e.key === " ") && (e.preventDefault(), setChosen(b.key))}>
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
              </text>
            </g>
          ))}
        </svg>
      </div>
      <div className="bond">
        <div className="bond-head">
          {shortRepo(bond.user)} <span className="dim">uses of</span> {shortRepo(bond.provider)}
        </div>
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
      </div>
    </div>
  );
}
