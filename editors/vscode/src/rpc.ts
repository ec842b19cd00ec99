// JSON-RPC 2.0 with a length before each message, as language servers speak it.
import type { Readable, Writable } from "node:stream";

interface Message {
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string };
}

/** The other side of a conversation; what it says goes to the handlers of `on`. */
export class Peer {
  private rest = Buffer.alloc(0);
  private ids = 0;
  private readonly open = new Map<number, { done: (result: never) => void; failed: (e: Error) => void }>();
  private readonly handlers = new Map<string, (params: never) => unknown>();

  constructor(
    from: Readable,
    private readonly to: Writable,
  ) {
    from.on("data", (part: Buffer) => this.take(part));
    from.on("close", () => this.close());
    to.on("error", () => this.close());
  }

  on<T>(method: string, handle: (params: T) => unknown): void {
    this.handlers.set(method, handle);
  }

  /** Heeds nothing more that it says of itself: another has taken its place. */
  leave(): void {
    this.handlers.clear();
  }

  notify(method: string, params: unknown): void {
    this.send({ method, params });
  }

  request<T>(method: string, params: unknown): Promise<T> {
    const id = ++this.ids;
    return new Promise<T>((done, failed) => {
      this.open.set(id, { done, failed });
      this.send({ id, method, params });
    });
  }

  private send(m: Message): void {
    if (!this.to.writable) return;
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...m }));
    this.to.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.to.write(body);
  }

  private close(): void {
    for (const { failed } of this.open.values()) failed(new Error("svc lsp has ended"));
    this.open.clear();
  }

  private take(part: Buffer): void {
    this.rest = Buffer.concat([this.rest, part]);
    for (;;) {
      const head = this.rest.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.rest.toString("latin1", 0, head))?.[1] ?? 0);
      if (this.rest.length < head + 4 + length) return;
      const body = this.rest.toString("utf8", head + 4, head + 4 + length);
      this.rest = this.rest.subarray(head + 4 + length);
      this.hear(JSON.parse(body) as Message);
    }
  }

  private hear(m: Message): void {
    if (m.method === undefined) {
      const asked = this.open.get(Number(m.id));
      this.open.delete(Number(m.id));
      if (m.error) asked?.failed(new Error(m.error.message));
      else asked?.done(m.result as never);
      return;
    }
    const result = this.handlers.get(m.method)?.(m.params as never);
    if (m.id !== undefined) void Promise.resolve(result).then((r) => this.send({ id: m.id!, result: r ?? null }));
  }
}
