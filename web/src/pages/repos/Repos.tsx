import { Button, MultiSelect, Select, TextInput } from "@mantine/core";
import { IconFolderPlus, IconFolders, IconGitFork } from "../../ui/icons.gen";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call } from "../../api/client";
import type { Repo } from "../../api/records";
import { concerns, matters, pairsOf } from "../../lib/conflict";
import { useAll, useGet, useLiveConflicts, useLiveIntents, useLiveSessions, useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { plural } from "../../lib/text";
import { Ago, Command, Pill } from "../../ui/bits";
import { fieldError, useAction } from "../../ui/action";
import { Ask } from "../../ui/form";
import { Empty, Load, Page, Section } from "../../ui/page";
import { moveFocus } from "../../ui/VirtualRows";
import { ContractGraph } from "./ContractGraph";

export function Repos() {
  const me = useMe();
  const repos = useRepos();
  const projects = useGet("projects", "GET /v1/projects");
  const contracts = useAll("contracts", "GET /v1/contracts", {});
  const [dialog, setDialog] = useState<"repo" | "project" | null>(null);
  return (
    <Page
      title="Repos"
      sub="Repos register themselves with their first agent. A project links repos, so that their contracts are checked against each other."
      actions={
        me.isAdmin && (
          <>
            <Button variant="default" leftSection={<IconFolderPlus size={15} />} onClick={() => setDialog("repo")}>
              Add repo
            </Button>
            <Button leftSection={<IconGitFork size={15} />} onClick={() => setDialog("project")} disabled={!repos.data?.items.length}>
              New project
            </Button>
          </>
        )
      }
    >
      {(contracts.data?.length ?? 0) > 0 && (repos.data?.items.length ?? 0) > 1 && (
        <Section title="Contracts between repos" sub="An arrow goes from a repo that uses a contract to the one that provides it." pad={false}>
          <ContractGraph contracts={contracts.data ?? []} />
        </Section>
      )}
      <Load query={projects}>
        {(page) =>
          page.items.length > 0 && (
            <Section title="Projects" pad={false}>
              <ul className="rows">
                {page.items.map((p) => (
                  <li key={p.id}>
                    <Link href={`/projects/${p.id}`} className="work-row">
                      <IconGitFork size={17} stroke={1.6} className="tone-quiet" aria-hidden />
                      <span className="work-main">
                        <b>{p.name}</b>
                        <span className="work-meta">{p.repos.map((r) => r.full_name).join(", ") || "no repos"}</span>
                      </span>
                      <span className="dim">{plural(p.repos.length, "repo")}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            </Section>
          )
        }
      </Load>
      <Section title="All repos" pad={false}>
        <Load query={repos}>
          {(page) =>
            page.items.length === 0 ? (
              <Empty icon={<IconFolders size={22} stroke={1.5} />} title="No repo is known yet">
                Set up svc in a clone, and the repo registers itself with the first event.
                <Command>svc init</Command>
              </Empty>
            ) : (
              <ul className="rows" onKeyDown={moveFocus}>
                {page.items.map((r) => (
                  <RepoRow key={r.id} repo={r} />
                ))}
              </ul>
            )
          }
        </Load>
      </Section>
      {dialog === "repo" && <AddRepo onClose={() => setDialog(null)} />}
      {dialog === "project" && <NewProject onClose={() => setDialog(null)} />}
    </Page>
  );
}

export function RepoRow({ repo }: { repo: Repo }) {
  const intents = useLiveIntents();
  const sessions = useLiveSessions();
  const conflicts = useLiveConflicts();
  const here = (list: { repo: { id: string } }[] | undefined) => (list ?? []).filter((x) => x.repo.id === repo.id).length;
  const hits = pairsOf((conflicts.data ?? []).filter((c) => matters(c) && concerns(c, repo.full_name))).length;
  return (
    <li>
      <Link href={`/repos/${repo.full_name}`} className="work-row" data-row>
        <span className="work-main">
          <b>{repo.full_name}</b>
          <span className="work-meta">
            <span>{repo.provider}</span>
            <span>{repo.default_branch}</span>
            {repo.archived_at && <span>archived</span>}
            <span className="wide-only">
              <Ago at={repo.created_at} prefix="since " />
            </span>
          </span>
        </span>
        <span className="wrap repo-figures">
          {repo.same_as.length > 0 && <Pill tone="warn">same as {repo.same_as.map((o) => o.full_name).join(", ")}?</Pill>}
          {here(sessions.data) > 0 && <Pill tone="good">{plural(here(sessions.data), "agent")}</Pill>}
          {here(intents.data) > 0 && <Pill tone="quiet">{plural(here(intents.data), "intent")}</Pill>}
          {hits > 0 && <Pill tone="warn">{plural(hits, "conflict")}</Pill>}
        </span>
      </Link>
    </li>
  );
}

function AddRepo({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [provider, setProvider] = useState("github");
  const [branch, setBranch] = useState("main");
  const add = useAction(() => call("POST /v1/repos", { body: { full_name: name.trim(), provider: provider as Repo["provider"], default_branch: branch.trim() || "main", remotes: [] } }), { says: "The repo is registered.", stale: ["repos"], then: onClose });
  return (
    <Ask opened onClose={onClose} title="Add a repo" confirm="Add" busy={add.isPending} onConfirm={() => add.mutate()}>
      <TextInput label="Name" placeholder="owner/name" required data-autofocus value={name} onChange={(e) => setName(e.target.value)} error={fieldError(add.error, "full_name")} />
      <div className="two">
        <Select
          label="Where it lives"
          allowDeselect={false}
          value={provider}
          onChange={(v) => setProvider(v ?? "github")}
          data={[
            { value: "github", label: "GitHub" },
            { value: "gitlab", label: "GitLab" },
            { value: "bitbucket", label: "Bitbucket" },
            { value: "generic", label: "Elsewhere" },
          ]}
        />
        <TextInput label="Default branch" required value={branch} onChange={(e) => setBranch(e.target.value)} />
      </div>
    </Ask>
  );
}

function NewProject({ onClose }: { onClose: () => void }) {
  const repos = useRepos();
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const [, navigate] = useLocation();
  const make = useAction(() => call("POST /v1/projects", { body: { name: name.trim(), repos: chosen } }), { says: "The repos are linked.", stale: ["projects"], then: (p) => navigate(`/projects/${p.id}`) });
  return (
    <Ask opened onClose={onClose} title="New project" confirm="Link them" busy={make.isPending} disabled={!name.trim()} onConfirm={() => make.mutate()}>
      <TextInput label="Name" placeholder="Shop" required data-autofocus maxLength={100} value={name} onChange={(e) => setName(e.target.value)} error={fieldError(make.error, "name")} />
      <MultiSelect label="Repos" searchable value={chosen} onChange={setChosen} data={(repos.data?.items ?? []).map((r) => r.full_name)} placeholder={chosen.length ? "" : "Choose two or more"} />
    </Ask>
  );
}
