import { SegmentedControl } from "@mantine/core";
import { IconTargetArrow } from "../../ui/icons.gen";
import { useList } from "../../lib/queries";
import { useFilter } from "../../lib/url";
import { Command } from "../../ui/bits";
import { PersonFilter, RepoFilter } from "../../ui/Filters";
import { Empty, Page, Section } from "../../ui/page";
import { WorkList } from "../../ui/WorkList";
import { IntentRow } from "./IntentRow";

const views = [
  { value: "live", label: "Live" },
  { value: "blocked", label: "Blocked" },
  { value: "in_review", label: "In review" },
  { value: "merged,abandoned,expired", label: "Closed" },
];

export function Intents() {
  const [status, setStatus] = useFilter("status", "live");
  const [repo, setRepo] = useFilter("repo");
  const [owner, setOwner] = useFilter("owner");
  const list = useList("intents", "GET /v1/intents", { status, repo, owner });
  const filtered = repo !== "" || owner !== "" || status !== "live";
  return (
    <Page title="Intents" sub="What is being worked on, by whom, and which files, symbols and contracts it claims.">
      <div className="filters">
        <SegmentedControl size="xs" aria-label="Status" value={status} onChange={setStatus} data={views} />
        <div className="grow" />
        <RepoFilter value={repo} onChange={setRepo} />
        <PersonFilter value={owner} onChange={setOwner} />
      </div>
      <Section pad={false} busy={list.isPlaceholderData}>
        <WorkList
          list={list}
          label="Intents"
          height={63}
          render={(i) => <IntentRow intent={i} />}
          empty={
            filtered ? (
              <Empty icon={<IconTargetArrow size={22} stroke={1.5} />} title="No intent matches">
                Other filters may show some.
              </Empty>
            ) : (
              <Empty icon={<IconTargetArrow size={22} stroke={1.5} />} title="Nobody has announced work yet">
                Agents declare an intent before they edit, so that teammates hear of it first. Connect one:
                <Command>svc init</Command>
              </Empty>
            )
          }
        />
      </Section>
    </Page>
  );
}
