// Notices of the browser for what needs the reader, if they asked for it.
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { AttentionItem } from "../api/records";
import { sentence } from "../api/visible";

const key = "svc-notify";
const listeners = new Set<() => void>();
const can = (): boolean => "Notification" in window;

const wanted = (): boolean => {
  try {
    return can() && Notification.permission === "granted" && localStorage.getItem(key) === "yes";
  } catch {
    return false;
  }
};

/** Whether notices are on, and how to switch them. Browsers that refuse say so in their own words. */
export function useNotices(): { possible: boolean; on: boolean; toggle: () => Promise<void> } {
  const on = useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    wanted,
  );
  const toggle = async () => {
    const next = !on && (await Notification.requestPermission()) === "granted";
    try {
      localStorage.setItem(key, next ? "yes" : "no");
    } catch {
      // Without storage nothing is remembered, and so nothing is shown.
    }
    for (const l of listeners) l();
  };
  return { possible: can(), on, toggle };
}

/** Tells of what newly waits for the reader while they look elsewhere. */
export function useNoticesOf(items: AttentionItem[] | undefined, open: (item: AttentionItem) => void): void {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (!items) return;
    const before = known.current;
    known.current = new Set(items.map((i) => i.id));
    if (!before || !document.hidden || !wanted()) return;
    const fresh = items.filter((i) => !before.has(i.id));
    const first = fresh[0];
    if (!first) return;
    const notice = new Notification(fresh.length > 1 ? `${fresh.length} things need you` : sentence(first.title), { body: sentence(first.detail), tag: "svc-needs-you", icon: "/icon.svg" });
    notice.onclick = () => {
      window.focus();
      open(first);
      notice.close();
    };
  }, [items, open]);
}
