// The TypeScript client that ships, calling a running service as a program does
// that starts agents.
import { Client, Problem } from "./client/svc.ts";

declare const process: { env: Record<string, string>; exit(code: number): never };

function must(ok: unknown, what: string, got: unknown): asserts ok {
  if (ok) return;
  console.error(`clients/ts: ${what}: ${JSON.stringify(got)}`);
  process.exit(1);
}

const svc = new Client(process.env.SVC_SERVER, process.env.SVC_TOKEN);
const repo = "acme/board";
await svc.register(repo);
await svc.register(repo);
const stop = new AbortController();
const heard = svc.follow("0", ["intent.declared", "intent.closed"], stop.signal);
const work = { title: "Draw the board", repo, branch: "ann/board", scope: { paths: ["board/**"] } };
const made = await svc.declare({ ...work, depends_on: [] });
const again = await svc.declare({ ...work, title: "Draw the board again", depends_on: [] });
must(made.intent.ref === again.intent.ref, "declaring twice", [made.intent.ref, again.intent.ref]);
must((await svc.session(repo, "ann/board")) === undefined, "a session that nobody began", repo);
const order = await svc.landing(repo);
must(order.steps.length === 1 && order.steps[0].intent?.ref === made.intent.ref, "the landing order", order);
await svc.end(made.intent.ref, "merged");
const types: string[] = [];
for await (const event of heard) {
  if (JSON.stringify(event).includes(made.intent.ref)) types.push(event.type);
  if (types.at(-1) === "intent.closed") break;
}
stop.abort();
must(types.join() === "intent.declared,intent.closed", "the stream", types);
const refused = await svc.end(made.intent.ref, "merged").catch((e: unknown) => e);
must(refused instanceof Problem && refused.status === 409 && refused.kind === "conflict", "ending twice", refused);
console.log("the TypeScript client that ships registers, declares, follows, orders and ends");
