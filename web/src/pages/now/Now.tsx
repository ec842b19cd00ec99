// What everybody's agents do at this moment, what is about to collide, and
// what needs the reader.
import { useLiveConflicts, useLiveIntents, useLiveSessions, useRepos } from "../../lib/queries";
import { plural } from "../../lib/text";
import { Failed, Loading, Page, Section } from "../../ui/page";
import { Agents } from "./Agents";
import { FirstAgent } from "./FirstAgent";
import { NeedsYou } from "./NeedsYou";
import { WorkMap } from "./WorkMap";

export function Now() {
  const sessions = useLiveSessions();
  const intents = useLiveIntents();
  const conflicts = useLiveConflicts();
  const repos = useRepos();
  const broken = [sessions, intents, conflicts].find((q) => q.isError && q.data === undefined);
  if (broken) {
    return (
      <Page title="Now">
        <Failed error={broken.error} retry={() => [sessions, intents, conflicts].forEach((q) => void q.refetch())} />
      </Page>
    );
  }
  if (!sessions.data || !intents.data || !conflicts.data) {
    return (
      <Page title="Now" wide>
        <Loading />
      </Page>
    );
  }
  const people = new Set(sessions.data.map((s) => s.user.id)).size;
  const isNew = sessions.data.length === 0 && intents.data.length === 0;
  const blocking = conflicts.data.filter((c) => c.severity === "block").length;
  return (
    <Page
      title="Now"
      wide
      sub={
        isNew
          ? undefined
          : `${plural(sessions.data.length, "agent")} of ${plural(people, "person", "people")} on ${plural(intents.data.length, "intent")}, ${conflicts.data.length === 0 ? "no conflicts" : plural(conflicts.data.length, "live conflict")}${blocking ? `, ${blocking} blocking` : ""}`
      }
    >
      {isNew && <FirstAgent repos={repos.data?.items ?? []} sessions={sessions.data} />}
      <div className={isNew ? "now now-new" : "now"}>
        <div className="now-main">
          {intents.data.length > 0 && (
            <Section title="Work in flight" sub="Intents by repo. Lines join those that collide or wait for each other." pad={false}>
              <WorkMap intents={intents.data} conflicts={conflicts.data} />
            </Section>
          )}
          {(sessions.data.length > 0 || !isNew) && (
            <Section title="Agents" sub="By repo and branch, the latest first." pad={false}>
              <Agents sessions={sessions.data} />
            </Section>
          )}
        </div>
        <div className="now-side">
          <NeedsYou />
        </div>
      </div>
    </Page>
  );
}
