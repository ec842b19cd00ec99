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
  "POST /v1/messages": R<r.Message, { to: string; body: string; subject?: string; requires_ack?: boolean }>;
  "POST /v1/messages/{id}/ack": R<{ id: string; acked_at: string }>;
  "GET /v1/conversations": R<r.Page<r.Conversation>>;
  "GET /v1/conversations/{id}": R<r.Conversation>;
  "GET /v1/conversations/{id}/messages": R<r.Page<r.Message>>;
  "POST /v1/conversations/{id}/messages": R<r.Message, { body: string; requires_ack?: boolean }>;
  "POST /v1/questions/{id}/answers": R<unknown, { answer: string }>;
  "GET /v1/attention": R<r.Attention>;
  "POST /v1/attention/dismiss": R<void, { ids: string[] }>;
  "GET /v1/search": R<r.Page<r.SearchHit>>;
  "GET /v1/feed": R<r.Feed>;
  "GET /v1/stats": R<r.Stats>;
  "GET /v1/webhooks": R<r.Page<r.Webhook>>;
  "POST /v1/webhooks": R<r.Webhook, { url: string; event_types?: string[]; description?: string }>;
  "DELETE /v1/webhooks/{id}": R<void>;
  "POST /v1/webhooks/{id}/test": R<{ delivery_id: string }>;
  "GET /v1/webhooks/{id}/deliveries": R<r.Page<r.Delivery>>;
  "POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver": R<r.Delivery>;
  "GET /v1/integrations/slack": R<r.Slack>;
  "PUT /v1/integrations/slack": R<r.Slack, { webhook_url: string | null }>;
  "POST /v1/integrations/slack/test": R<{ notification_id: string }>;
  "GET /v1/integrations/digest": R<r.Digest>;
  "PUT /v1/integrations/digest": R<r.Digest, Partial<Pick<r.Digest, "enabled" | "day" | "hour" | "channels" | "email_me">>>;
  "POST /v1/integrations/digest/preview": R<r.DigestPreview>;
  "POST /v1/integrations/digest/send-now": R<unknown>;
  "GET /v1/github/app": R<r.GitHubApp>;
  "GET /v1/billing": R<r.Billing>;
  "POST /v1/billing/checkout": R<{ url: string }, { plan: "team" | "business" }>;
  "POST /v1/billing/portal": R<{ url: string }>;
  "GET /v1/contracts": R<r.Page<r.ContractLink>>;
}
