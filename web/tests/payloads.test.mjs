// Every example of a webhook that GitHub's own people keep (@octokit/webhooks-examples),
// signed with their signer, against a running service: each is answered, none
// is an error, and what is forged or comes again changes nothing.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { sign } from "@octokit/webhooks-methods";
import { test } from "node:test";
import { seedPeople } from "../demo/seed.mjs";
import { useWorld } from "./world.mjs";

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples/api.github.com/index.json");
const world = useWorld({ demo: seedPeople });

test("every official payload is read", async () => {
  const { ana } = world.clients;
  const hook = await ana.put("/v1/integrations/github");
  for (const name of ["Codertocat/Hello-World", "octocat/Hello-World"]) await ana.post("/v1/repos", { full_name: name, provider: "github", remotes: ["https://github.com/" + name] });
  const send = async (event, payload, secret, delivery) => {
    const body = JSON.stringify(payload);
    const headers = { "Content-Type": "application/json", "X-GitHub-Event": event, "X-GitHub-Delivery": delivery, "X-Hub-Signature-256": await sign(secret, body) };
    const answer = await fetch(hook.webhook_url, { method: "POST", headers, body });
    return { code: answer.status, ...(await answer.json()) };
  };
  let sent = 0;
  const done = new Set();
  for (const { name, examples: list } of examples)
    for (const payload of list) {
      const what = `${name} ${payload.action ?? ""} (${++sent})`;
      assert.equal((await send(name, payload, "guess", `forged-${sent}`)).code, 403, `${what} with another secret`);
      const first = await send(name, payload, hook.secret, `once-${sent}`);
      assert.equal(first.code, 200, `${what}: ${JSON.stringify(first)}`);
      if (first.status === "done") done.add(name);
      const again = await send(name, payload, hook.secret, `once-${sent}`);
      assert.equal(again.code, 200, `${what} again: ${JSON.stringify(again)}`);
      assert.notEqual(again.status, "done", `${what} counts twice`);
    }
  assert.ok(sent >= 300, `there are ${sent} payloads`);
  for (const name of ["pull_request", "repository"]) assert.ok(done.has(name), `no ${name} was of any use; of use were ${[...done]}`);
  const moved = (await ana.get("/v1/repos")).items.find((r) => r.former_names.includes("octocat/Hello-World"));
  assert.equal(moved?.full_name, "Octocoders/Hello-World", "what was transferred is known under its new name");
});
