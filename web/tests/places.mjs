// Every page there is, in a demo world.
const settings = ["profile", "tokens", "members", "policies", "data", "billing", "audit", "github", "slack", "digest", "webhooks"];

export const places = (world) => ({
  now: "/",
  conflicts: "/conflicts",
  conflict: "/conflicts/CF-1",
  intents: "/intents",
  intent: `/intents/${world.agents.session.intent.ref}`,
  "closed intents": "/intents?status=merged%2Cabandoned%2Cexpired",
  messages: "/messages",
  activity: "/activity",
  history: "/history?q=session",
  repos: "/repos",
  repo: "/repos/northwind/shop-api",
  contract: "/contracts?repo=northwind%2Fshop-api&key=" + encodeURIComponent("http:GET /v2/orders/{id}"),
  stats: "/stats",
  ...Object.fromEntries(settings.map((t) => [`settings ${t}`, `/settings/${t}`])),
  device: "/device",
  "a page that is not there": "/settings/nowhere",
});
