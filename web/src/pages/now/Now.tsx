// The cockpit: who is in trouble, what needs the reader, what everybody does.
import { SegmentedControl, Select } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Suspense, useMemo, useState } from "react";
import type { Role } from "../../api/records";
import { stateText, states, type Agent, type AgentState, type Grouping } from "../../lib/agents";
import { later } from "../../lib/lazy";
import { countOf } from "../../lib/conflict";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { useTeam } from "../../lib/team";
import { plural } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { PersonFilter, RepoFilter } from "../../ui/Filters";
import { Failed, Loading, Page } from "../../ui/page";
import { Agents } from "./Agents";
import { NeedsYou } from "./NeedsYou";

const FirstAgent = later(() => import("./FirstAgent"), "FirstAgent");
const Outside = later(() => import("./Outside"), "Outside");
const Landed = later(() => import("./Landed"), "Landed");
const AgentMessage = later(() => import("../messages/AgentMessage"), "AgentMessage");
const Lanes = later(() => import("../lanes/Lanes"), "Lanes");
const Territory = later(() => import("../territory/Territory"), "Territory");

const views = [
  { value: "agents", label: "Agents" },
  { value: "lanes", label: "Lanes" },
  { value: "territory", label: "Territory" },
];
const groupings = [
  { value: "trouble", label: "By trouble" },
  { value: "repo", label: "By repo" },
  { value: "person", label: "By person" },
];

/** More than so many are shown in one line each, where the window is wide. */
const roomy = 14;

/** Who never has an agent. */
const readsOnly: Role[] = ["viewer", "billing"];

export function Now() {
  const team = useTeam();
  if (team.error) {
    return (
      <Page title="Now">
        <Failed error={team.error} retry={team.refetch} />
      </Page>
    );
  }
  if (!team.agents) {
    return (
      <Page title="Now" wide>
        <Loading />
      </Page>
    );
  }
  if (team.agents.length === 0 && team.intents.length === 0) {
    return (
      <Page title="Now" wide>
        <Suspense fallback={<Loading />}>
          <FirstAgent alone />
        </Suspense>
        <NeedsYou />
      </Page>
    );
  }
  return <Cockpit all={team.agents} collisions={countOf(team.conflicts)} />;
}

function Cockpit({ all, collisions }: { all: Agent[]; collisions: number }) {
  const me = useMe();
  const [view, setView] = useFilter("view", "agents");
  const [group, setGroup] = useFilter("group", "trouble");
  const [repo, setRepo] = useFilter("repo");
  const [person, setPerson] = useFilter("person");
  const [state, setState] = useFilter("state");
  const [writing, setWriting] = useState<Agent | null>(null);
  const wide = useMediaQuery("(min-width: 1200px)", undefined, { getInitialValueInEffect: false });
  const email = person === "me" ? me.user.email : person;
  const shown = useMemo(() => all.filter((a) => (!repo || a.session.repo.full_name === repo) && (!email || a.user.email === email)), [all, repo, email]);
  const agents = state ? shown.filter((a) => a.state === state) : shown;
  const [without] = useState(() => !readsOnly.includes(me.org.role) && !all.some((a) => a.user.id === me.user.id));
  const people = new Set(shown.map((a) => a.user.id)).size;
  const places = new Set(shown.map((a) => a.session.repo.id)).size;
  const outside = useGet("branches", "GET /v1/branches", { query: { limit: 100 } }).data?.items ?? [];
  const landed = (
    <Suspense fallback={null}>
      <Landed />
      {outside.length > 0 && <Outside list={outside} />}
    </Suspense>
  );
  return (
    <Page
      title="Now"
      wide
      tight
      sub={`${plural(shown.length, "agent")} of ${plural(people, "person", "people")} in ${plural(places, "repo")}, ${collisions === 0 ? "no conflicts" : plural(collisions, "conflict")}`}
      actions={<StateCounts agents={shown} chosen={state} choose={setState} />}
    >
      {without && (
        <Suspense fallback={null}>
          <FirstAgent alone={false} />
        </Suspense>
      )}
      <div className="now">
        <div className="now-main">
          <div className="filters now-filters">
            <SegmentedControl size="xs" aria-label="View" value={view} onChange={setView} data={views} />
            <Select size="xs" w={112} aria-label="Group" allowDeselect={false} value={group} onChange={setGroup} data={groupings} />
            <RepoFilter value={repo} onChange={setRepo} w={150} />
            <PersonFilter value={person} onChange={setPerson} w={130} />
            <button type="button" className="state-count wide-only" aria-pressed={person === "me"} onClick={() => setPerson(person === "me" ? null : "me")}>
              Only mine
            </button>
          </div>
          <div className="card now-card">
            {view === "agents" ? (
              <Agents agents={agents} by={group as Grouping} dense={Boolean(wide) && all.length > roomy} onMessage={setWriting} />
            ) : (
              <Suspense fallback={<Loading />}>{view === "lanes" ? <Lanes agents={agents} by={group as Grouping} /> : <Territory agents={agents} repo={repo} setRepo={setRepo} />}</Suspense>
            )}
          </div>
          {!wide && landed}
        </div>
        <div className="now-side">
          <NeedsYou />
          {wide && landed}
        </div>
      </div>
      {writing && (
        <Suspense fallback={null}>
          <AgentMessage agent={writing} onClose={() => setWriting(null)} />
        </Suspense>
      )}
    </Page>
  );
}

/** How many are in which trouble; each is a filter. */
function StateCounts({ agents, chosen, choose }: { agents: Agent[]; chosen: string; choose: (s: string | null) => void }) {
  const n = (s: AgentState) => agents.filter((a) => a.state === s).length;
  return (
    <div className="state-counts" role="group" aria-label="Filter by state">
      {states.map((s) => {
        const count = n(s);
        if (count === 0 && chosen !== s) return null;
        return (
          <button key={s} type="button" className={`state-count tone-${stateText[s].tone}`} aria-pressed={chosen === s} onClick={() => choose(chosen === s ? null : s)}>
            <b>{count}</b> {stateText[s].count}
          </button>
        );
      })}
    </div>
  );
}
