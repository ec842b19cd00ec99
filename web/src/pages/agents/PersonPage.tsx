// One person: their agents, their work, their conflicts.
import { Button } from "@mantine/core";
import { IconMessage } from "../../ui/icons.gen";
import { useState } from "react";
import { Link, useParams } from "wouter";
import type { Agent } from "../../lib/agents";
import { matters, pairsOf } from "../../lib/conflict";
import { useGet, useMembers } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { useTeam } from "../../lib/team";
import { plural } from "../../lib/text";
import { Pill } from "../../ui/bits";
import { Failed, Load, Loading, Page, Section } from "../../ui/page";
import { ConflictRow } from "../conflicts/ConflictRow";
import { IntentRow } from "../intents/IntentRow";
import { AgentMessage } from "../messages/AgentMessage";
import { Compose } from "../messages/Compose";
import { Agents } from "../now/Agents";

export function PersonPage() {
  const { id } = useParams<{ id: string }>();
  const me = useMe();
  const members = useMembers();
  const team = useTeam();
  const [writing, setWriting] = useState<Agent | "person" | null>(null);
  const person = members.data?.items.find((m) => m.id === id);
  const past = useGet("intents", "GET /v1/intents", { query: { owner: person?.email ?? "", status: "merged,abandoned,expired", limit: 10 } }, { enabled: Boolean(person) });
  if (!person) return <Page title="Person">{members.isPending ? <Loading /> : <Failed error={members.error ?? new Error("Nobody of this org has that page.")} />}</Page>;
  const agents = (team.agents ?? []).filter((a) => a.user.id === id);
  const live = team.intents.filter((i) => i.owner.id === id);
  const pairs = pairsOf(team.conflicts.filter((c) => matters(c) && c.parties.some((p) => p.user?.id === id)));
  const close = () => setWriting(null);
  return (
    <Page
      title={person.name}
      written
      sub={
        <span className="wrap">
          <Pill tone="quiet">{person.role}</Pill>
          <span>{person.email}</span>
          {team.agents && (
            <span>
              {plural(agents.length, "agent")}, {plural(live.length, "live intent")}, {plural(pairs.length, "conflict")}
            </span>
          )}
        </span>
      }
      actions={
        person.id !== me.user.id && (
          <Button variant="default" leftSection={<IconMessage size={14} />} onClick={() => setWriting("person")}>
            Message
          </Button>
        )
      }
    >
      <Section title="Agents" pad={false}>
        {team.agents ? <Agents agents={agents} by="trouble" dense={false} onMessage={setWriting} /> : team.error ? <Failed error={team.error} retry={team.refetch} /> : <Loading />}
      </Section>
      {pairs.length > 0 && (
        <Section title="Conflicts" pad={false}>
          {pairs.map((p) => (
            <ConflictRow key={p.key} conflict={p.worst} more={p.all.length - 1} />
          ))}
        </Section>
      )}
      {live.length > 0 && (
        <Section title="Live intents" pad={false} actions={<Link href={`/intents?owner=${encodeURIComponent(person.email)}`}>all</Link>}>
          {live.slice(0, 20).map((i) => (
            <IntentRow key={i.id} intent={i} />
          ))}
        </Section>
      )}
      <Load query={past}>
        {(page) =>
          page.items.length > 0 && (
            <Section title="Finished of late" pad={false}>
              {page.items.map((i) => (
                <IntentRow key={i.id} intent={i} />
              ))}
            </Section>
          )
        }
      </Load>
      {writing === "person" && <Compose to={`user:${person.email}`} name={person.name} onClose={close} onSent={close} />}
      {writing && writing !== "person" && <AgentMessage agent={writing} onClose={close} />}
    </Page>
  );
}
