// Follows the event stream. EventSource cannot name an org in a header, so the
// frames are read from fetch; that also lets us tell a quiet stream from a
// dead one by its keep-alives.
import { headers, problemOf, signedOut } from "./client";
import type { Event } from "./records";
import { read } from "./visible";

export type StreamState = "connecting" | "live" | "stale" | "offline";

const staleAfter = 35_000; // two keep-alives missed

export interface StreamOptions {
  onEvents: (events: Event[]) => void;
  onState: (state: StreamState) => void;
  /** Called when the stream came back and may have missed something. */
  onResync: () => void;
}

/** Follow connects until the returned function is called. */
export function follow(options: StreamOptions): () => void {
  let last = "";
  let stopped = false;
  let attempt = 0;
  let abort = new AbortController();
  let quiet: ReturnType<typeof setTimeout> | undefined;

  const alive = () => {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      options.onState("stale");
      abort.abort(); // reconnect rather than trust a dead connection
    }, staleAfter);
  };

  async function connect(): Promise<number> {
    abort = new AbortController();
    const h = headers(false);
    if (last) h["Last-Event-ID"] = last;
    const res = await fetch("/v1/stream", { headers: h, signal: abort.signal, cache: "no-store" });
    if (!res.ok || !res.body) {
      const p = await problemOf(res);
      if (p.status === 401) {
        options.onState("stale");
        signedOut();
        return Infinity;
      }
      throw p;
    }
    if (attempt > 0) options.onResync();
    attempt = 0;
    options.onState("live");
    alive();
    let wait = 1000;
    const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return wait;
      alive();
      buffer += value;
      const frames = buffer.split("\n\n");
      buffer = frames.pop() ?? "";
      const events: Event[] = [];
      for (const frame of frames) {
        const f = parse(frame);
        if (f.id) last = f.id;
        if (f.event === "reconnect") {
          wait = (JSON.parse(f.data) as { after_ms: number }).after_ms;
          attempt = 1;
        } else if (f.data) events.push(read<Event>(f.data));
      }
      if (events.length) options.onEvents(events);
    }
  }

  // A connection may look alive long after the network went away.
  const cut = () => abort.abort();
  window.addEventListener("offline", cut);

  void (async () => {
    while (!stopped) {
      let wait = Math.min(30_000, 1000 * 2 ** Math.min(attempt, 5));
      try {
        wait = await connect();
      } catch {
        if (!stopped) options.onState(navigator.onLine ? "stale" : "offline");
      }
      clearTimeout(quiet);
      if (stopped || wait === Infinity) return;
      attempt++;
      await sleep(wait * (0.75 + Math.random() / 2));
    }
  })();

  return () => {
    stopped = true;
    window.removeEventListener("offline", cut);
    clearTimeout(quiet);
    abort.abort();
  };
}

// sleep ends early when the machine comes back online.
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(t);
      window.removeEventListener("online", done);
      resolve();
    };
    const t = setTimeout(done, ms);
    window.addEventListener("online", done);
  });
}

export function parse(frame: string): { id: string; event: string; data: string } {
  const out = { id: "", event: "", data: "" };
  for (const line of frame.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const name = line.slice(0, at);
    if (name === "id" || name === "event" || name === "data") out[name] = line.slice(at + 1).replace(/^ /, "");
  }
  return out;
}
