// Dismissals wait a moment before they are sent, so that they can be undone.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";
import { call } from "../api/client";
import type { AttentionItem } from "../api/records";
import { failed, offer } from "../ui/toast";

let hidden: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();
function change(fn: (s: Set<string>) => void): void {
  const next = new Set(hidden);
  fn(next);
  hidden = next;
  for (const l of listeners) l();
}

export function useDismissals() {
  const client = useQueryClient();
  const now = useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => hidden,
  );
  const dismiss = useCallback(
    (items: AttentionItem[], what: string) => {
      const ids = items.map((i) => i.id);
      change((s) => ids.forEach((id) => s.add(id)));
      const back = () => change((s) => ids.forEach((id) => s.delete(id)));
      offer(`Dismissed: ${what}.`, "Undo", back, () => {
        void (async () => {
          try {
            for (let i = 0; i < ids.length; i += 100) await call("POST /v1/attention/dismiss", { body: { ids: ids.slice(i, i + 100) }, keepalive: true });
            await client.invalidateQueries({ queryKey: ["attention"] });
          } catch (e) {
            failed(e);
          }
          back();
        })();
      });
    },
    [client],
  );
  return { hidden: now, dismiss };
}
