// Calls a running service with the types that openapi-typescript made of the
// API's document, through openapi-fetch: run puts both beside a copy of this.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.gen.ts";

declare const process: { env: Record<string, string>; exit(code: number): never };

const api = createClient<paths>({ baseUrl: process.env.SVC_SERVER, headers: { Authorization: `Bearer ${process.env.SVC_TOKEN}` } });

function must(ok: unknown, what: string, got: unknown): asserts ok {
  if (ok) return;
  console.error(`the generated TypeScript client: ${what}: ${JSON.stringify(got)}`);
  process.exit(1);
}

const repo = await api.POST("/v1/repos", { body: { full_name: "acme/typescript" } });
must(repo.data, "registering a repo", repo.error);
const made = await api.POST("/v1/intents", { body: { title: "From TypeScript", repo: repo.data.full_name, depends_on: [], scope: { paths: ["src/**"] } } });
must(made.data, "declaring", made.error);
const list = await api.GET("/v1/intents", { params: { query: { repo: "acme/typescript", status: ["live"] } }, querySerializer: { array: { style: "form", explode: false } } });
must(list.data?.items.length === 1 && list.data.items[0].title === "From TypeScript", "listing", list);
const changed = await api.PATCH("/v1/intents/{ref}", { params: { path: { ref: made.data.intent.ref } }, body: { summary: "Seen" } });
must(changed.data?.intent.summary === "Seen", "changing", changed);
const wrong = await api.GET("/v1/intents", { params: { query: { cursor: "of-another-list" } } });
const problem: components["schemas"]["Body"] | undefined = wrong.error;
must(wrong.response.status === 400 && problem?.errors?.[0]?.path === "cursor", "a wrong cursor", wrong);
console.log("the generated TypeScript client declares, lists, changes and is refused");
