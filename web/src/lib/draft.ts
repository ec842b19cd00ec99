// What somebody typed and has not sent. It outlives the dialog, the page and
// the tab, and goes only when it was sent or thrown away.
import { useCallback, useEffect, useRef, useState } from "react";

const prefix = "svc-draft ";
const most = 100; // drafts that are kept; the oldest go first

interface Stored {
  text: string;
  at: number;
}

function load(key: string): string {
  try {
    const s = JSON.parse(localStorage.getItem(prefix + key) ?? "null") as Stored | null;
    return typeof s?.text === "string" ? s.text : "";
  } catch {
    return "";
  }
}

function store(key: string, text: string): void {
  try {
    if (!text) return localStorage.removeItem(prefix + key);
    localStorage.setItem(prefix + key, JSON.stringify({ text, at: Date.now() } satisfies Stored));
    const all = Object.keys(localStorage).filter((k) => k.startsWith(prefix));
    if (all.length <= most) return;
    const age = (k: string) => (JSON.parse(localStorage.getItem(k) ?? "{}") as Partial<Stored>).at ?? 0;
    for (const k of all.sort((a, b) => age(a) - age(b)).slice(0, all.length - most)) localStorage.removeItem(k);
  } catch {
    // Without storage a draft lives as long as its page.
  }
}

/** Whether something was begun under a name. */
export const hasDraft = (key: string): boolean => load(key) !== "";

/** Text that is kept under a name until it is forgotten: value, setter, forget. Begin stands there where nothing was typed. */
export function useDraft(key: string, begin = ""): [string, (text: string) => void, () => void] {
  const [text, setText] = useState(() => load(key) || begin);
  const shown = useRef(key);
  useEffect(() => {
    if (shown.current === key) return;
    shown.current = key;
    setText(load(key));
  }, [key]);
  const set = useCallback(
    (t: string) => {
      setText(t);
      store(key, t);
    },
    [key],
  );
  const forget = useCallback(() => {
    setText("");
    store(key, "");
  }, [key]);
  return [text, set, forget];
}

/** Signing out removes the drafts: the next person on this machine must not see them. */
export function forgetDrafts(): void {
  try {
    for (const k of Object.keys(localStorage)) if (k.startsWith(prefix)) localStorage.removeItem(k);
  } catch {
    // Nothing was stored, then.
  }
}
