// The one way to call the API: a route as the server's table names it, typed
// from the API document.
import type { paths } from "./schema.gen";
import { read, sentence } from "./visible";

export type Route = {
  [P in keyof paths]: {
    [M in keyof paths[P]]: paths[P][M] extends { responses: unknown } ? `${Uppercase<M & string>} ${P & string}` : never;
  }[keyof paths[P]];
}[keyof paths];

type Operation<R> = R extends `${infer M} ${infer P}`
  ? P extends keyof paths
    ? Lowercase<M> extends keyof paths[P]
      ? paths[P][Lowercase<M>]
      : never
    : never
  : never;

type Json<C> = C extends { content: { "application/json": infer T } } ? T : void;
type Success<O> = O extends { responses: infer A }
  ? A extends { 200: infer C }
    ? Json<C>
    : A extends { 201: infer C }
      ? Json<C>
      : A extends { 202: infer C }
        ? Json<C>
        : void
  : never;

export type Answer<R extends Route> = Success<Operation<R>>;
export type Body<R extends Route> = Operation<R> extends { requestBody?: { content: { "application/json": infer B } } } ? B : undefined;

/** The parameters that a route takes: it refuses others. */
type Query<O> = O extends { parameters: { query?: infer Q } } ? (Q extends object ? Q : Record<never, never>) : Record<never, never>;

export interface Options<R extends Route> {
  path?: Record<string, string>;
  query?: { [K in keyof Query<Operation<R>>]?: string | number | boolean | undefined };
  body?: Body<R>;
  signal?: AbortSignal;
  /** Changes only the version that this tag names; otherwise the answer is 412. */
  ifMatch?: string;
  /** Acts in this org of yours instead of the one that the page is in. */
  org?: string;
  /** The request outlives the page. */
  keepalive?: boolean;
}

/** An answer that is not a success, as RFC 9457 tells it. */
export class Problem extends Error {
  readonly status: number;
  readonly kind: string;
  readonly fields: { path: string; message: string }[];
  constructor(status: number, kind: string, detail: string, fields: { path: string; message: string }[] = []) {
    super(detail);
    this.status = status;
    this.kind = kind;
    this.fields = fields;
  }
  /** What is wrong with one field of a form. */
  field(path: string): string | undefined {
    return this.fields.find((f) => f.path === path)?.message;
  }
}

let org = "";
let onSignedOut: () => void = () => {};

export function setOrg(slug: string): void {
  org = slug;
}
export function whenSignedOut(fn: () => void): void {
  onSignedOut = fn;
}
let prove: (() => Promise<void>) | null = null;
/** What asks somebody for a fresh proof of who they are, where the server wants one. */
export function whenProofNeeded(fn: () => Promise<void>): void {
  prove = fn;
}
/** The server no longer knows who this is. */
export const signedOut = (): void => onSignedOut();

export function headers(write: boolean): Record<string, string> {
  const h: Record<string, string> = {};
  if (org) h["X-Svc-Org"] = org;
  if (write) h["X-Svc-CSRF"] = "1";
  return h;
}

export async function problemOf(res: Response): Promise<Problem> {
  const b = (await res.json().catch(() => null)) as { type?: string; title?: string; detail?: string; errors?: Problem["fields"] } | null;
  const kind = b?.type?.replace("urn:svc:problem:", "") ?? "unknown";
  const detail = b?.errors?.[0] ? `${b.errors[0].path}: ${b.errors[0].message}` : (sentence(b?.detail ?? "") || b?.title || `The server answered ${res.status}.`);
  return new Problem(res.status, kind, detail, b?.errors ?? []);
}

let ahead = 0; // ms by which the server's clock is ahead of ours

/** The time by the server's clock, to a second or so. */
export const serverNow = (): number => Date.now() + ahead;

async function send<R extends Route>(route: R, options: Options<R>): Promise<Response> {
  const [method, pattern] = (route as string).split(" ") as [string, string];
  const path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(options.path?.[name] ?? ""));
  const query = new URLSearchParams();
  for (const [k, v] of Object.entries(options.query ?? {})) if (v !== undefined && v !== "") query.set(k, String(v));
  const h = headers(method !== "GET");
  if (options.body !== undefined) h["Content-Type"] = "application/json";
  if (options.ifMatch) h["If-Match"] = options.ifMatch;
  if (options.org) h["X-Svc-Org"] = options.org;
  let res: Response;
  try {
    res = await fetch(path + (query.size ? `?${query}` : ""), {
      method,
      headers: h,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      keepalive: options.keepalive,
    });
  } catch (err) {
    if (err instanceof DOMException && err.name === "AbortError") throw err;
    throw new Problem(0, "offline", "The server does not answer. This page tries again by itself; what you typed is kept.");
  }
  const at = Date.parse(res.headers.get("Date") ?? "");
  if (at) ahead = at - Date.now();
  if (!res.ok) {
    const p = await problemOf(res);
    if (p.kind === "proof_needed" && prove) {
      await prove().catch(() => {
        throw p;
      });
      return send(route, options);
    }
    if (p.status === 401 && p.kind === "unauthorized" && !path.startsWith("/v1/auth/")) onSignedOut();
    throw p;
  }
  return res;
}

export async function call<R extends Route>(route: R, options: Options<R> = {}): Promise<Answer<R>> {
  const res = await send(route, options);
  if (res.status === 204) return undefined as Answer<R>;
  return read<Answer<R>>(await res.text());
}

export interface Versioned<T> {
  value: T;
  etag: string;
}

/** An answer with the tag of its version, to change only what one has seen. */
export async function versioned<R extends Route & `GET ${string}`>(route: R, options: Options<R> = {}): Promise<Versioned<Answer<R>>> {
  const res = await send(route, options);
  return { value: read<Answer<R>>(await res.text()), etag: res.headers.get("ETag") ?? "" };
}

/** Whether somebody else changed it first. */
export const isOutdated = (e: unknown): boolean => e instanceof Problem && e.status === 412;
