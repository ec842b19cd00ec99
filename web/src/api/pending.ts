// Routes that the dashboard is built for and the server does not have yet.
// When one lands, its line goes: the client then takes the generated type.
import type * as r from "./records";

type Query = Record<string, string | number | boolean | undefined>;
interface R<Answer, Body = undefined> {
  answer: Answer;
  body: Body;
  query: Query;
}

export interface Pending {
  "GET /v1/github/app": R<r.GitHubApp>;
  "GET /v1/billing": R<r.Billing>;
  "POST /v1/billing/checkout": R<{ url: string }, { plan: "team" | "business" }>;
  "POST /v1/billing/portal": R<{ url: string }>;
}
