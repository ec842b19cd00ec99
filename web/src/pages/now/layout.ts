// Where the map of work puts each intent. The same input gives the same
// picture, so that a live update moves nothing that did not change.
import type { Conflict, Intent, Severity } from "../../api/records";

export const card = { height: 80, gap: 10, top: 34, pad: 16, between: 56, narrow: 148, wide: 230 };
export const perLane = 9;
export const maxLanes = 12;

export interface Edge {
  key: string;
  from: string;
  to: string;
  kind: "conflict" | "depends";
  severity: Severity;
  ref: string;
  label: string;
}

export interface Lane {
  repo: string;
  x: number;
  cards: Intent[];
  hidden: number;
}

export interface Layout {
  card: number; // width of a card
  others: number; // repos that are left out, those with the fewest collisions
  lanes: Lane[];
  at: Map<string, { x: number; y: number }>;
  edges: Edge[];
  width: number;
  height: number;
}

const ranks: Severity[] = ["off", "info", "warn", "block"];

export function edgesOf(intents: Intent[], conflicts: Conflict[]): Edge[] {
  const here = new Set(intents.map((i) => i.ref));
  const edges: Edge[] = [];
  // Two intents that collide in several ways are joined once, by the worst.
  const joined = new Map<string, Edge>();
  for (const c of conflicts) {
    const [a, b] = c.parties.map((p) => p.intent?.ref);
    if (!a || !b || a === b || !here.has(a) || !here.has(b)) continue;
    const pair = [a, b].sort().join(" ");
    const worst = joined.get(pair);
    const edge: Edge = { key: c.ref, from: a, to: b, kind: "conflict", severity: c.severity, ref: c.ref, label: `${c.ref}: ${c.explanation}` };
    if (!worst) joined.set(pair, edge);
    else if (ranks.indexOf(c.severity) > ranks.indexOf(worst.severity)) joined.set(pair, { ...edge, label: `${edge.label}\n${worst.label}` });
    else worst.label += `\n${c.ref}: ${c.explanation}`;
  }
  edges.push(...joined.values());
  for (const i of intents) for (const d of i.depends_on) if (here.has(d)) edges.push({ key: `${i.ref}>${d}`, from: i.ref, to: d, kind: "depends", severity: "info", ref: i.ref, label: `${i.ref} waits for ${d}` });
  return edges;
}

export function layOut(intents: Intent[], conflicts: Conflict[], room: number): Layout {
  const edges = edgesOf(intents, conflicts);
  const degree = new Map<string, number>();
  for (const e of edges) for (const end of [e.from, e.to]) degree.set(end, (degree.get(end) ?? 0) + (e.kind === "conflict" ? 2 : 1));
  const byRepo = new Map<string, Intent[]>();
  for (const i of intents) byRepo.set(i.repo.full_name, [...(byRepo.get(i.repo.full_name) ?? []), i]);
  const weight = (list: Intent[]) => list.reduce((n, i) => n + (degree.get(i.ref) ?? 0), 0);
  const repos = [...byRepo].sort((a, b) => weight(b[1]) - weight(a[1]) || b[1].length - a[1].length || a[0].localeCompare(b[0]));

  const others = repos.splice(maxLanes).length;
  // Lanes share the room there is; a map with many scrolls.
  const n = repos.length;
  const width = Math.max(card.narrow, Math.min(card.wide, Math.floor((room - 2 * card.pad - (n - 1) * card.between) / n) - (n === 1 ? card.between : 0)));
  const at = new Map<string, { x: number; y: number }>();
  const lanes: Lane[] = repos.map(([repo, list], n) => {
    const x = card.pad + n * (width + card.between);
    // Those with edges first; among them, near the height of what they are
    // joined to in the lanes already placed, so that fewer lines cross.
    const height = (i: Intent) => {
      const ys = edges.flatMap((e) => (e.from === i.ref ? [at.get(e.to)?.y] : e.to === i.ref ? [at.get(e.from)?.y] : [])).filter((y) => y !== undefined);
      return ys.length ? ys.reduce((a, b) => a + b, 0) / ys.length : 1e6;
    };
    const sorted = [...list].sort((a, b) => Math.sign(degree.get(b.ref) ?? 0) - Math.sign(degree.get(a.ref) ?? 0) || height(a) - height(b) || a.number - b.number);
    const cards = sorted.slice(0, perLane);
    cards.forEach((i, row) => at.set(i.ref, { x, y: card.top + row * (card.height + card.gap) }));
    return { repo, x, cards, hidden: sorted.length - cards.length };
  });
  const rows = Math.max(1, ...lanes.map((l) => l.cards.length + (l.hidden ? 0.5 : 0)));
  return {
    lanes,
    at,
    edges: edges.filter((e) => at.has(e.from) && at.has(e.to)),
    card: width,
    others,
    width: card.pad * 2 + n * width + Math.max(1, n - 1) * card.between,
    height: card.top + rows * (card.height + card.gap) + card.pad - card.gap,
  };
}

/** The line of an edge: sideways between lanes, round the side within one;
 * and where its name stands, unless a card would cover that. */
export function pathOfEdge(map: Layout, e: Edge): { d: string; name: { x: number; y: number } | null } {
  const [a, b] = [map.at.get(e.from)!, map.at.get(e.to)!];
  // Several edges between the same two run side by side.
  const twins = map.edges.filter((o) => (o.from === e.from && o.to === e.to) || (o.from === e.to && o.to === e.from));
  const mid = card.height / 2 + (twins.indexOf(e) - (twins.length - 1) / 2) * 9;
  if (a.x === b.x) {
    const x = a.x + map.card;
    // The further apart, the wider, so that lines of one lane stay apart.
    const bend = 14 + 9 * Math.min(6, Math.abs(a.y - b.y) / (card.height + card.gap));
    const d = `M${x} ${a.y + mid} C${x + bend} ${a.y + mid} ${x + bend} ${b.y + mid} ${x} ${b.y + mid}`;
    return { d, name: { x: x + bend * 0.75, y: (a.y + b.y) / 2 + mid } };
  }
  const [l, r] = a.x < b.x ? [a, b] : [b, a];
  const x1 = l.x + map.card;
  const half = Math.max(34, (r.x - x1) / 2);
  const d = `M${x1} ${l.y + mid} C${x1 + half} ${l.y + mid} ${r.x - half} ${r.y + mid} ${r.x} ${r.y + mid}`;
  const near = r.x - x1 <= card.between;
  return { d, name: near ? { x: (x1 + r.x) / 2, y: (l.y + r.y) / 2 + mid } : null };
}
