// Short notices about what an action did.
import { IconAlertCircle, IconCheck, IconX } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";
import { Problem } from "../api/client";

interface Toast {
  id: number;
  tone: "good" | "block";
  text: string;
}

let toasts: Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((l) => l());

function show(tone: Toast["tone"], text: string): void {
  const id = next++;
  toasts = [...toasts.slice(-3), { id, tone, text }];
  changed();
  setTimeout(() => dismiss(id), tone === "good" ? 4000 : 9000);
}

function dismiss(id: number): void {
  toasts = toasts.filter((t) => t.id !== id);
  changed();
}

export const done = (text: string): void => show("good", text);
export const failed = (err: unknown): void => show("block", err instanceof Problem || err instanceof Error ? err.message : "That did not work.");

export function Toasts() {
  const list = useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {list.map((t) => (
        <div key={t.id} className={`toast toast-${t.tone}`}>
          {t.tone === "good" ? <IconCheck size={16} aria-hidden /> : <IconAlertCircle size={16} aria-hidden />}
          <span className="grow">{t.text}</span>
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismiss(t.id)}>
            <IconX size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
