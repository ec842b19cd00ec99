// What admins do to a repo: rename, archive, remove, and make one of two
// records of it.
import { Alert, Button, Menu, Select, TextInput } from "@mantine/core";
import { IconDots } from "../../ui/icons.gen";
import { useState } from "react";
import { useLocation } from "wouter";
import { call } from "../../api/client";
import type { Repo } from "../../api/records";
import { useRepos } from "../../lib/queries";
import { fieldError, useAction } from "../../ui/action";
import { Ask } from "../../ui/form";

type Dialog = "rename" | "archive" | "remove" | "merge" | null;
const stale = ["repos", "attention", "conflicts", "intents", "sessions", "contracts", "usage", "projects"];

export function RepoMenu({ repo }: { repo: Repo }) {
  const [dialog, setDialog] = useState<Dialog>(null);
  const close = () => setDialog(null);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" px={8} aria-label={`Change ${repo.full_name}`}>
            <IconDots size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setDialog("rename")}>Rename</Menu.Item>
          <Menu.Item onClick={() => setDialog("merge")}>Merge with another record</Menu.Item>
          <Menu.Item onClick={() => setDialog("archive")}>{repo.archived_at ? "Watch again" : "Archive"}</Menu.Item>
          <Menu.Item color="red" onClick={() => setDialog("remove")}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === "rename" && <Rename repo={repo} onClose={close} />}
      {dialog === "archive" && <Archive repo={repo} onClose={close} />}
      {dialog === "remove" && <Remove repo={repo} onClose={close} />}
      {dialog === "merge" && <Merge repo={repo} onClose={close} />}
    </>
  );
}

/** Says that the repo is known under another name, too. */
export function Twins({ repo }: { repo: Repo }) {
  const [merging, setMerging] = useState<string | null>(null);
  const apart = useAction((other: string) => call("POST /v1/repos/{repo}/apart", { path: { repo: repo.id }, body: { other } }), { says: "They stay two repos.", stale });
  return (
    <>
      {repo.same_as.map((other) => (
        <Alert key={other.id} color="yellow" title={`${other.full_name} looks like the same repository`}>
          Agents at work under one name are not told of those under the other.
          <div className="wrap">
            <Button size="xs" onClick={() => setMerging(other.id)}>
              Merge them
            </Button>
            <Button size="xs" variant="default" loading={apart.isPending} onClick={() => apart.mutate(other.id)}>
              Keep them apart
            </Button>
          </div>
        </Alert>
      ))}
      {merging && <Merge repo={repo} other={merging} onClose={() => setMerging(null)} />}
    </>
  );
}

function Rename({ repo, onClose }: { repo: Repo; onClose: () => void }) {
  const [name, setName] = useState(repo.full_name);
  const [, navigate] = useLocation();
  const rename = useAction(() => call("PATCH /v1/repos/{repo}", { path: { repo: repo.id }, body: { full_name: name.trim() } }), {
    says: "The repo is renamed.",
    stale,
    then: (r) => {
      onClose();
      navigate(`/repos/${r.full_name}`);
    },
  });
  return (
    <Ask opened onClose={onClose} title={`Rename ${repo.full_name}`} confirm="Rename" busy={rename.isPending} onConfirm={() => rename.mutate()}>
      <p>Only its name here changes. Links and clones with the old name still lead to it.</p>
      <TextInput label="Name" placeholder="owner/name" required data-autofocus value={name} onChange={(e) => setName(e.target.value)} error={fieldError(rename.error, "full_name")} />
    </Ask>
  );
}

function Archive({ repo, onClose }: { repo: Repo; onClose: () => void }) {
  const archived = !repo.archived_at;
  const change = useAction(() => call("PATCH /v1/repos/{repo}", { path: { repo: repo.id }, body: { archived } }), { says: archived ? "The repo is archived." : "The repo is watched again.", stale, then: onClose });
  return (
    <Ask opened onClose={onClose} title={archived ? `Archive ${repo.full_name}?` : `Watch ${repo.full_name} again?`} confirm={archived ? "Archive" : "Watch again"} busy={change.isPending} onConfirm={() => change.mutate()}>
      <p>{archived ? "Agents in it are left alone, nothing new can be declared, and it does not count for the plan. What is known of it stays." : "Agents in it are checked again, and it counts for the plan."}</p>
    </Ask>
  );
}

function Remove({ repo, onClose }: { repo: Repo; onClose: () => void }) {
  const [, navigate] = useLocation();
  const remove = useAction(() => call("DELETE /v1/repos/{repo}", { path: { repo: repo.id } }), { says: "The repo is removed.", stale, then: () => navigate("/repos") });
  return (
    <Ask opened onClose={onClose} title={`Remove ${repo.full_name}?`} confirm="Remove" danger busy={remove.isPending} onConfirm={() => remove.mutate()}>
      <p>Its contracts, rules and remotes are forgotten; its history stays. An agent that works in it registers it again. A repo with live intents cannot be removed.</p>
    </Ask>
  );
}

function Merge({ repo, other, onClose }: { repo: Repo; other?: string; onClose: () => void }) {
  const repos = useRepos();
  const [from, setFrom] = useState<string | null>(other ?? null);
  const [name, setName] = useState<string | null>(null);
  const [, navigate] = useLocation();
  const chosen = repos.data?.items.find((r) => r.id === from);
  // Of two names the one that came later is likely the new one.
  const fresh = chosen && chosen.created_at > repo.created_at ? chosen.full_name : repo.full_name;
  const merge = useAction(() => call("POST /v1/repos/{repo}/merge", { path: { repo: from ?? "" }, body: { into: repo.id, full_name: name ?? fresh } }), {
    says: "They are one repo now.",
    stale,
    then: (r) => {
      onClose();
      navigate(`/repos/${r.full_name}`);
    },
  });
  return (
    <Ask opened onClose={onClose} title="Two records of one repository" confirm="Merge" busy={merge.isPending} disabled={!chosen} onConfirm={() => merge.mutate()}>
      <p>Claims, intents, contracts and history of both become one. It cannot be taken back.</p>
      <Select label="The other record" searchable allowDeselect={false} value={from} onChange={setFrom} data={(repos.data?.items ?? []).filter((r) => r.id !== repo.id).map((r) => ({ value: r.id, label: r.full_name }))} />
      {chosen && <Select label="What it is called from now on" allowDeselect={false} value={name ?? fresh} onChange={setName} data={[repo.full_name, chosen.full_name]} />}
    </Ask>
  );
}
