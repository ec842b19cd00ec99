// A tree of folders from paths, and rectangles for its branches: area by how
// much was done there, so that what is quiet is small.
export interface Spot {
  path: string;
  touched: number; // pieces of work that named or changed it
  collided: number; // conflicts that warned or blocked there
}

export interface Folder {
  name: string;
  path: string; // without a slash at the end; empty for the root
  isFile: boolean;
  touched: number;
  collided: number;
  children: Map<string, Folder>;
}

const empty = (name: string, path: string, isFile: boolean): Folder => ({ name, path, isFile, touched: 0, collided: 0, children: new Map() });

/** A pattern counts for the folder before its first wildcard. */
const plain = (path: string): string[] => {
  const parts = path.split("/").filter(Boolean);
  const wild = parts.findIndex((p) => /[*?[{]/.test(p));
  return wild < 0 ? parts : parts.slice(0, wild);
};

export function treeOf(spots: Spot[]): Folder {
  const root = empty("", "", false);
  for (const s of spots) {
    let at = root;
    root.touched += s.touched;
    root.collided += s.collided;
    const parts = plain(s.path);
    for (const [i, part] of parts.entries()) {
      const isFile = i === parts.length - 1 && parts.length === s.path.split("/").filter(Boolean).length && part.includes(".");
      let next = at.children.get(part);
      if (!next) at.children.set(part, (next = empty(part, parts.slice(0, i + 1).join("/"), isFile)));
      next.touched += s.touched;
      next.collided += s.collided;
      at = next;
    }
  }
  return root;
}

export function folderAt(root: Folder, path: string): Folder {
  let at = root;
  for (const part of path.split("/").filter(Boolean)) {
    const next = at.children.get(part);
    if (!next) break;
    at = next;
  }
  return at;
}

const busiest = (a: Folder, b: Folder): number => b.touched - a.touched || a.path.localeCompare(b.path);
const few = 6; // tiles that say little of a whole repository

/** The branches of a folder, the busiest first. A chain of single folders counts as one. */
function branches(f: Folder): Folder[] {
  return [...f.children.values()].map(single).sort(busiest);
}

/** The branches of a folder, or where nearly all is in one of few, what is in that one instead: a repository whose
 * code is all below src is not one tile. */
export function spread(f: Folder): Folder[] {
  let list = branches(f);
  for (;;) {
    const first = list[0];
    if (!first || list.length >= few || first.isFile || first.children.size < 2 || first.touched * 2 < f.touched) return list;
    list = [...list.slice(1), ...branches(first).map((c) => ({ ...c, name: `${first.name}/${c.name}` }))].sort(busiest);
  }
}

function single(f: Folder): Folder {
  const only = f.children.size === 1 ? [...f.children.values()][0]! : undefined;
  if (!only || only.isFile || only.touched !== f.touched) return f;
  const end = single(only);
  return { ...end, name: `${f.name}/${end.name}` };
}

export interface Box<T> {
  item: T;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Squarified: rows along the shorter side, each as long as its boxes get squarer by one more. */
export function squarify<T>(items: { item: T; size: number }[], w: number, h: number): Box<T>[] {
  const total = items.reduce((n, i) => n + i.size, 0);
  if (total <= 0 || w <= 0 || h <= 0) return [];
  const scale = (w * h) / total;
  const rest = items.map((i) => ({ item: i.item, area: i.size * scale })).sort((a, b) => b.area - a.area);
  const out: Box<T>[] = [];
  let [x, y] = [0, 0];
  while (rest.length > 0) {
    const side = Math.min(w, h);
    let row = [rest[0]!];
    for (let n = 2; n <= rest.length; n++) {
      const longer = rest.slice(0, n);
      if (worst(longer, side) > worst(row, side)) break;
      row = longer;
    }
    rest.splice(0, row.length);
    const sum = row.reduce((n, r) => n + r.area, 0);
    const thick = sum / side;
    let along = 0;
    for (const r of row) {
      const long = r.area / thick;
      out.push(w >= h ? { item: r.item, x, y: y + along, w: thick, h: long } : { item: r.item, x: x + along, y, w: long, h: thick });
      along += long;
    }
    if (w >= h) [x, w] = [x + thick, w - thick];
    else [y, h] = [y + thick, h - thick];
  }
  return out;
}

function worst(row: { area: number }[], side: number): number {
  const sum = row.reduce((n, r) => n + r.area, 0);
  const thick = sum / side;
  return Math.max(...row.map((r) => Math.max(thick / (r.area / thick), r.area / thick / thick)));
}
