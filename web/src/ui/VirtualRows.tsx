// A long list in the page's own scroll: only what can be seen is drawn. Arrow
// keys, or j and k, go from row to row.
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

export function VirtualRows<T>({ items, keyOf, estimate, render, onEnd, label }: { items: T[]; keyOf: (item: T) => string; estimate: (item: T) => number; render: (item: T) => ReactNode; onEnd?: () => void; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = () => box.current && setTop(box.current.getBoundingClientRect().top + window.scrollY);
    measure();
    const seen = new ResizeObserver(measure);
    seen.observe(document.body);
    return () => seen.disconnect();
  }, []);
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: (i) => estimate(items[i]!),
    getItemKey: (i) => keyOf(items[i]!),
    overscan: 12,
    scrollMargin: top,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd && items.length > 0 && last >= items.length - 20) onEnd();
  }, [last, items.length, onEnd]);
  return (
    <div ref={box} className="virtual" role="list" aria-label={label} style={{ height: rows.getTotalSize() }} onKeyDown={moveFocus} data-count={items.length}>
      {shown.map((row) => (
        <div key={row.key} role="listitem" ref={rows.measureElement} data-index={row.index} className="virtual-row" style={{ transform: `translateY(${row.start - top}px)` }}>
          {render(items[row.index]!)}
        </div>
      ))}
    </div>
  );
}

/** Moves the focus between the elements marked data-row. */
export function moveFocus(e: KeyboardEvent<HTMLElement>): void {
  const by = e.key === "ArrowDown" || e.key === "j" ? 1 : e.key === "ArrowUp" || e.key === "k" ? -1 : 0;
  if (!by || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as HTMLElement).tagName)) return;
  if (!e.currentTarget.contains(e.target as Node)) return; // of a menu that was opened from a row
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>("[data-row]")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const here = all.findIndex((el) => el.contains(document.activeElement));
  const next = all[Math.max(0, Math.min(all.length - 1, here + by))];
  if (!next) return;
  e.preventDefault();
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
