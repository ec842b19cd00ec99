// Folders as rectangles: area by work, heat by collisions, initials who is there.
import "../../styles/territory.css";
import { useMemo, type KeyboardEvent } from "react";
import type { User } from "../../api/records";
import { plural } from "../../lib/text";
import { Avatar } from "../../ui/bits";
import { squarify, type Folder } from "./treemap";

const most = 60; // rectangles; beyond that none can be told from the next

interface Who {
  id: string;
  user: User;
}

export const describe = (f: Folder, who: Who[]): string => `${f.path}: ${plural(f.touched, "piece")} of work, ${plural(f.collided, "collision")}${who.length ? `, now ${who.map((a) => a.user.name).join(", ")}` : ""}`;

export function Boxes({ list, at, width, height, label, open }: { list: Folder[]; at: (f: Folder) => Who[]; width: number; height: number; label: string; open: (path: string) => void }) {
  const hottest = Math.max(1, ...list.map((f) => f.collided));
  const boxes = useMemo(() => squarify(list.slice(0, most).map((item) => ({ item, size: Math.max(1, item.touched) })), width, height), [list, width, height]);
  return (
    <div className="treemap" style={{ height }} role="group" aria-label={label} onKeyDown={moveBetween}>
      {boxes.map(({ item: f, x, y, w, h }) => {
        const who = at(f);
        return (
          <button key={f.path} type="button" className="treemap-box" data-box style={{ left: x, top: y, width: Math.max(0, w - 2), height: Math.max(0, h - 2), ["--heat" as string]: f.collided === 0 ? 0 : 0.2 + (0.8 * f.collided) / hottest }} onClick={() => open(f.path)} aria-label={describe(f, who)} title={describe(f, who)}>
            {w > 54 && h > 22 && <span className="treemap-name clip">{f.name}</span>}
            {h > 42 && w > 40 && (
              <span className="treemap-who">
                {who.slice(0, Math.max(1, Math.floor(w / 24))).map((a) => (
                  <Avatar key={a.id} user={a.user} size={18} />
                ))}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
}

/** Arrows go to the nearest box that way. */
function moveBetween(e: KeyboardEvent<HTMLElement>): void {
  const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[e.key];
  const from = (e.target as HTMLElement).closest("[data-box]");
  if (!way || !from) return;
  const mid = (el: Element) => {
    const r = el.getBoundingClientRect();
    return [r.left + r.width / 2, r.top + r.height / 2] as const;
  };
  const [fx, fy] = mid(from);
  const far = (el: Element) => {
    const [x, y] = mid(el);
    const [on, off] = way[0] ? [(x - fx) * way[0], Math.abs(y - fy)] : [(y - fy) * way[1]!, Math.abs(x - fx)];
    return on <= 1 ? Infinity : on + 2 * off;
  };
  const next = [...e.currentTarget.querySelectorAll<HTMLElement>("[data-box]")].filter((b) => b !== from && far(b) < Infinity).sort((a, b) => far(a) - far(b))[0];
  if (!next) return;
  e.preventDefault();
  next.focus();
}
