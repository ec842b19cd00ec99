import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconArrowsSplit, IconFileCode, IconMessage, IconMessageQuestion, IconRobot, IconSearch, IconTargetArrow, type Icon } from "../ui/icons.gen";
import { useState } from "react";
import { Link } from "wouter";
import type { ConflictKind, SearchHit } from "../api/records";
import { useGet } from "../lib/queries";
import { conflictKind } from "../lib/text";
import { pathOfHit, useFilter } from "../lib/url";
import { Ago } from "../ui/bits";
import { ChoiceFilter, RepoFilter } from "../ui/Filters";
import { Empty, Load, Page, Section } from "../ui/page";
import { moveFocus } from "../ui/VirtualRows";

const kinds: Record<string, { label: string; icon: Icon }> = {
  intents: { label: "Intents", icon: IconTargetArrow },
  conflicts: { label: "Conflicts", icon: IconArrowsSplit },
  messages: { label: "Messages", icon: IconMessage },
  questions: { label: "Questions", icon: IconMessageQuestion },
  contracts: { label: "Contracts", icon: IconFileCode },
  statuses: { label: "Agents' statuses", icon: IconRobot },
};

export function History() {
  const [q, setQ] = useFilter("q");
  const [typed, setTyped] = useState(q);
  const [kind, setKind] = useFilter("kinds");
  const [repo, setRepo] = useFilter("repo");
  const ask = useDebouncedCallback((v: string) => setQ(v.trim()), 250);
  const enough = q.length >= 2;
  const hits = useGet("search", "GET /v1/search", { query: { q, kinds: kind, repo, limit: 50 } }, { enabled: enough });
  return (
    <Page title="History" sub="Search what the team did, said and decided in the last 90 days.">
      <div className="filters">
        <TextInput
          className="grow"
          aria-label="Search"
          size="sm"
          leftSection={<IconSearch size={15} />}
          placeholder="A word, a path, a symbol, a person"
          autoFocus
          maxLength={500}
          value={typed}
          onChange={(e) => {
            setTyped(e.target.value);
            ask(e.target.value);
          }}
        />
        <ChoiceFilter label="Kind" all="Every kind" value={kind} onChange={setKind} data={Object.entries(kinds).map(([value, k]) => ({ value, label: k.label }))} w={160} />
        <RepoFilter value={repo} onChange={setRepo} />
      </div>
      <Section pad={false} busy={hits.isPlaceholderData}>
        {!enough ? (
          <Empty icon={<IconSearch size={22} stroke={1.5} />} title="What are you looking for?">
            Why did we change the token format? Who last touched the checkout route? Type two letters or more.
          </Empty>
        ) : (
          <Load query={hits}>
            {(page) =>
              page.items.length === 0 ? (
                <Empty icon={<IconSearch size={22} stroke={1.5} />} title={`Nothing about “${q}”`}>
                  Search covers the last 90 days. Try a shorter word, or fewer filters.
                </Empty>
              ) : (
                <ul className="rows" onKeyDown={moveFocus}>
                  {page.items.map((h) => (
                    <Hit key={h.kind + h.id} hit={h} q={q} />
                  ))}
                </ul>
              )
            }
          </Load>
        )}
      </Section>
    </Page>
  );
}

function Hit({ hit: h, q }: { hit: SearchHit; q: string }) {
  const look = kinds[h.kind] ?? { label: h.kind, icon: IconSearch };
  const title = h.kind === "conflicts" ? (conflictKind[h.title.replaceAll(" ", "_") as ConflictKind]?.name ?? h.title) : h.title;
  // What has no title of its own is named by how it begins; once is enough.
  const repeats = h.snippet.startsWith(h.title.replace(/(…|\.\.\.)$/, ""));
  return (
    <li>
      <Link href={pathOfHit(h)} className="work-row" data-row>
        <look.icon size={17} stroke={1.6} className="tone-quiet" role="img" aria-label={look.label} />
        <span className="work-main">
          <span className="work-title">
            {/^(INT|CF)-/.test(h.ref) && <span className="ref">{h.ref}</span>}
            <b>
              <Marked text={repeats ? h.snippet : title} q={q} />
            </b>
          </span>
          {!repeats && (
            <span className="work-text">
              <Marked text={h.snippet} q={q} />
            </span>
          )}
          <span className="work-meta">
            {h.by && <span>{h.by.name}</span>}
            {h.repo && <span>{h.repo.full_name}</span>}
            <Ago at={h.at} />
          </span>
        </span>
      </Link>
    </li>
  );
}

/** Text with the searched words marked. */
function Marked({ text, q }: { text: string; q: string }) {
  const wanted = q.split(/\s+/).filter((w) => w.length > 1).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (wanted.length === 0) return <>{text}</>;
  const parts = text.split(new RegExp(`(${wanted.join("|")})`, "gi"));
  return <>{parts.map((p, i) => (i % 2 ? <mark key={i}>{p}</mark> : p))}</>;
}
