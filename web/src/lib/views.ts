// Views that somebody saved: a name for an address with its filters. They are
// kept in this browser, for each org.
import { useCallback, useState } from "react";

export interface View {
  name: string;
  path: string;
}

const most = 20;
const keyOf = (org: string): string => `svc-views ${org}`;

function load(org: string): View[] {
  try {
    const all = JSON.parse(localStorage.getItem(keyOf(org)) ?? "[]") as View[];
    return Array.isArray(all) ? all.filter((v) => typeof v?.name === "string" && typeof v.path === "string" && v.path.startsWith("/") && !v.path.startsWith("//")).slice(0, most) : [];
  } catch {
    return [];
  }
}

/** Whether somebody saved a view here: what shows them is fetched then. */
export const hasViews = (org: string): boolean => load(org).length > 0;

export function useViews(org: string): { views: View[]; save: (v: View) => void; drop: (path: string) => void } {
  const [views, set] = useState(() => load(org));
  const keep = useCallback(
    (change: (before: View[]) => View[]) => {
      const next = change(load(org)).slice(0, most); // another tab may have saved one
      try {
        localStorage.setItem(keyOf(org), JSON.stringify(next));
      } catch {
        // Without storage a view lives as long as its page.
      }
      set(next);
    },
    [org],
  );
  const drop = useCallback((path: string) => keep((all) => all.filter((v) => v.path !== path)), [keep]);
  const save = useCallback((v: View) => keep((all) => [...all.filter((o) => o.path !== v.path), v]), [keep]);
  return { views, save, drop };
}
