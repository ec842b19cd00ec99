// The audit log: every event, filtered, and exported as it stands.
import { Button, Select } from "@mantine/core";
import { IconDownload } from "../../ui/icons.gen";
import { call } from "../../api/client";
import type { Event } from "../../api/records";
import { useList, useMembers } from "../../lib/queries";
import { useFilter } from "../../lib/url";
import { Ago, Code, StackTable } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Empty, Failed, Loading, Section } from "../../ui/page";
import { download } from "./download";

const groups: Record<string, string> = {
  signins: "signin.succeeded,signin.failed",
  people: "member.added,member.updated,member.removed,member.erased,invite.created,invite.revoked,invite.accepted",
  tokens: "token.created,token.revoked",
  settings: "policy.updated,org.updated,webhook.created,webhook.updated,webhook.replayed,webhook.deleted,webhook.disabled,integration.updated,billing.updated",
  overrides: "conflict.override_requested,conflict.overridden",
  repos: "repo.registered,project.created,project.updated,project.deleted",
};

export function Audit() {
  const [group, setGroup] = useFilter("type");
  const events = useList("events", "GET /v1/events", { type: groups[group] }, 100);
  const members = useMembers();
  const name = (id: string) => members.data?.items.find((m) => m.id === id)?.name;
  const exported = useAction(() => exportAll(groups[group]), { says: "The export is in your downloads." });
  return (
    <Section
      title="Audit log"
      sub="What happened, by whom, newest first. It holds refs and facts, never what people or code said."
      pad={false}
      busy={events.isPlaceholderData}
      actions={
        <>
          <Select
            aria-label="Kind of event"
            size="xs"
            w={150}
            placeholder="Every kind"
            clearable
            value={group || null}
            onChange={setGroup}
            data={[
              { value: "signins", label: "Sign-ins" },
              { value: "people", label: "People" },
              { value: "tokens", label: "Tokens" },
              { value: "settings", label: "Settings" },
              { value: "overrides", label: "Overrides" },
              { value: "repos", label: "Repos" },
            ]}
          />
          <Button variant="default" leftSection={<IconDownload size={14} />} loading={exported.isPending} onClick={() => exported.mutate()}>
            Export
          </Button>
        </>
      }
    >
      {events.isError && !events.items ? (
        <Failed error={events.error} retry={() => void events.refetch()} />
      ) : !events.items ? (
        <Loading />
      ) : events.items.length === 0 ? (
        <Empty title="Nothing of this kind yet" />
      ) : (
        <>
          <StackTable label="Events" columns={["When", "What", "Who", "Facts"]}>
            {events.items.map((e) => (
              <tr key={e.id} role="row">
                <td role="cell" className="nowrap cell-end dim">
                  <Ago at={e.occurred_at} />
                </td>
                <td role="cell" className="nowrap cell-lead">
                  <Code>{e.type}</Code>
                </td>
                <td role="cell" className="nowrap cell-rest">
                  {name(e.actor.id) ?? (e.actor.kind === "system" ? "svc" : e.actor.kind)}
                </td>
                <td role="cell" className="facts-cell cell-rest" title={JSON.stringify(e.payload)}>
                  {factsOf(e)}
                </td>
              </tr>
            ))}
          </StackTable>
          {events.hasNextPage && (
            <div className="more">
              <Button variant="default" loading={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
                Older
              </Button>
            </div>
          )}
        </>
      )}
    </Section>
  );
}

// Ids, hashes and long lists are for the export; here they would only be noise.
const noise = /^[0-9a-f-]{32,}$/i;

function factsOf(e: Event): string {
  const facts: string[] = [];
  for (const [name, value] of Object.entries(e.payload ?? {})) {
    const key = name.replaceAll("_", " ");
    if (Array.isArray(value)) {
      const short = value.filter((v) => typeof v === "string" && !noise.test(v));
      if (short.length) facts.push(`${key} ${short.length > 3 ? `${short.slice(0, 3).join(", ")} and ${short.length - 3} more` : short.join(", ")}`);
    } else if (value !== null && typeof value !== "object" && value !== "" && !noise.test(String(value))) facts.push(`${key} ${String(value).replaceAll("_", " ")}`);
  }
  return facts.join(" · ");
}

const exportLimit = 20_000;

async function exportAll(type: string | undefined): Promise<void> {
  const all: Event[] = [];
  let cursor: string | undefined;
  do {
    const page = await call("GET /v1/events", { query: { limit: 200, type, cursor } });
    all.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor && all.length < exportLimit);
  download(`svc-audit-${new Date().toISOString().slice(0, 10)}.ndjson`, all);
}
