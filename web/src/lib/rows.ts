// Rows that somebody looks into without leaving the list, or has chosen to do
// something to all of them. A row is known by the address that it leads to.
import { useSyncExternalStore } from "react";

interface Rows {
  peeked: string | null;
  chosen: readonly string[];
}

let rows: Rows = { peeked: null, chosen: [] };
const listeners = new Set<() => void>();
function set(next: Partial<Rows>): void {
  rows = { ...rows, ...next };
  for (const l of listeners) l();
}

const subscribe = (l: () => void): (() => void) => {
  listeners.add(l);
  return () => listeners.delete(l);
};
export const useRows = (): Rows => useSyncExternalStore(subscribe, () => rows);
export const useIsChosen = (href: string): boolean => useSyncExternalStore(subscribe, () => rows.chosen.includes(href));

export const peek = (href: string | null): void => set({ peeked: href });
export const choose = (href: string): void => set({ chosen: rows.chosen.includes(href) ? rows.chosen.filter((h) => h !== href) : [...rows.chosen, href] });
export const chooseNone = (): void => set({ chosen: [] });

/** The rows of the page that can be looked into, from top to bottom. */
export const rowsHere = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("main a[data-row]")].filter((el) => canPeek(addressOf(el))).sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
export const addressOf = (row: Element): string => row.getAttribute("href") ?? "";
export const canPeek = (href: string): boolean => /^\/(conflicts|intents|agents)\/[^/?]+$/.test(href);

/** Space looks into the row that has the focus, x chooses it. */
export function rowKey(e: KeyboardEvent): boolean {
  const href = addressOf((e.target as Element).closest("a[data-row]") ?? document.body);
  if (!canPeek(href) || (e.key !== " " && e.key !== "x")) return false;
  (e.key === " " ? peek : choose)(href);
  return true;
}
