// Short notices about what an action did.
import { IconAlertCircle, IconCheck, IconX } from "./icons.gen";
import { useSyncExternalStore } from "react";
import { Problem } from "../api/client";

interface Toast {
  id: number;
  tone: "good" | "block";
  text: string;
  undo?: { label: string; run: () => void };
  gone?: () => void; // what happens when it goes away by itself
}

let toasts: Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();
const changed = () => listeners.forEach((l) => l());

function show(tone: Toast["tone"], text: string, more: Pick<Toast, "undo" | "gone"> = {}): void {
  const id = next++;
  for (const old of toasts.slice(0, -3)) dismiss(old.id);
  toasts = [...toasts, { id, tone, text, ...more }];
  changed();
  setTimeout(() => dismiss(id), more.undo ? 6000 : tone === "good" ? 4000 : 9000);
}

function dismiss(id: number, undone = false): void {
  const t = toasts.find((t) => t.id === id);
  if (!t) return;
  toasts = toasts.filter((t) => t.id !== id);
  changed();
  if (!undone) t.gone?.();
}

export const done = (text: string): void => show("good", text);
export const failed = (err: unknown): void => show("block", err instanceof Problem || err instanceof Error ? err.message : "That did not work.");
/** A notice with a way back; without it taken, then runs. */
export const offer = (text: string, label: string, back: () => void, then: () => void): void => show("good", text, { undo: { label, run: back }, gone: then });

// What was not undone when the page goes is done now.
window.addEventListener("pagehide", () => {
  for (const t of toasts) dismiss(t.id);
});

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
          {t.undo && (
            <button
              type="button"
              className="toast-undo"
              onClick={() => {
                dismiss(t.id, true);
                t.undo?.run();
              }}
            >
              {t.undo.label}
            </button>
          )}
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismiss(t.id)}>
            <IconX size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
