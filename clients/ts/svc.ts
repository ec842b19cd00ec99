// A client of svc for programs that start agents: boards and managers of
// worktrees. It declares work on behalf of the agents, follows what happens, asks
// in which order the work should land, and ends it. See docs/orchestrators.md.
//
// The types are generated from the API's document (make clients). It needs
// nothing but fetch.
import type { components, paths } from "./types.gen.ts";

type Schemas = components["schemas"];
export type Declared = Schemas["Declared"];
export type Landing = Schemas["Landing"];
export type Session = Schemas["Session"];
export type Work = paths["/v1/intents"]["post"]["requestBody"]["content"]["application/json"];
export type Outcome = paths["/v1/intents/{ref}/close"]["post"]["requestBody"]["content"]["application/json"]["outcome"];

/** One thing that happened; docs/reference/events.md has the types and payloads. */
export interface Event {
  id: string;
  type: string;
  payload: Record<string, unknown>;
}

/** The service's refusal, as RFC 9457 has it. */
export class Problem extends Error {
  readonly kind: string;
  constructor(
    readonly status: number,
    readonly body: Partial<Schemas["Body"]>,
  ) {
    super(`svc: ${body.title ?? "no answer of svc's"} (${status})${body.detail ? `: ${body.detail}` : ""}`);
    this.kind = (body.type ?? "").replace("urn:svc:problem:", "");
  }
}

export class Client {
  constructor(
    readonly server: string,
    private readonly token: string,
  ) {}

  /** Makes a repository known, as its first agent's hook would. */
  async register(fullName: string, remotes?: string[]): Promise<void> {
    try {
      await this.call("POST", "/v1/repos", { full_name: fullName, ...(remotes && { remotes }) });
    } catch (e) {
      if (!(e instanceof Problem && e.status === 409)) throw e; // it is known already
    }
  }

  /** Announces work; on the same branch again, it is updated. session_id says for which agent it is. */
  declare(work: Work): Promise<Declared> {
    return this.call("POST", "/v1/intents", work);
  }

  /** The live session of an agent on a branch. */
  async session(repo: string, branch: string): Promise<Session | undefined> {
    for (let cursor: string | null = ""; cursor !== null; ) {
      const q = new URLSearchParams({ repo, status: "live", limit: "200", ...(cursor && { cursor }) });
      const page: Schemas["SessionPage"] = await this.call("GET", `/v1/sessions?${q}`);
      const found = page.items.find((s) => s.branch === branch);
      if (found) return found;
      cursor = page.next_cursor;
    }
    return undefined;
  }

  /** The order in which the live work of a repository costs the fewest lines to redo. */
  landing(repo: string): Promise<Landing> {
    return this.call("GET", `/v1/repos/${encodeURIComponent(repo)}/landing`);
  }

  /** Closes work as merged or abandoned, and with it what it claimed. */
  async end(ref: string, outcome: Outcome): Promise<void> {
    await this.call("POST", `/v1/intents/${encodeURIComponent(ref)}/close`, { outcome });
  }

  /** Every event after an id as it happens ("" begins now), each once also where the line is cut; ends with the signal. */
  async *follow(after: string, types: string[], signal: AbortSignal): AsyncGenerator<Event> {
    if (after === "") after = (await this.call<{ items: Event[] }>("GET", "/v1/events?limit=1")).items[0]?.id ?? "0";
    while (!signal.aborted) {
      try {
        const q = new URLSearchParams({ last_event_id: after, ...(types.length > 0 && { types: types.join(",") }) });
        const res = await this.request("GET", `/v1/stream?${q}`, undefined, signal);
        let rest = "";
        for await (const part of res.body!.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
          const lines = (rest + part).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) {
            const event: Event | undefined = line.startsWith("data: {") ? JSON.parse(line.slice(6)) : undefined;
            if (!event?.id) continue; // a comment, or the service is about to stop
            after = event.id;
            yield event;
          }
        }
      } catch (e) {
        if (signal.aborted) return;
        if (e instanceof Problem && e.status < 500 && e.status !== 429) throw e;
      }
      await new Promise((go) => setTimeout(go, 3000));
    }
  }

  private async request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const res = await fetch(this.server.replace(/\/+$/, "") + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(body !== undefined && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (!res.ok) throw new Problem(res.status, await res.json().catch(() => ({})));
    return res;
  }

  private async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await this.request(method, path, body)).json() as Promise<T>;
  }
}
