import "../../styles/sides.css";
import { Button, MultiSelect } from "@mantine/core";
import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { call } from "../../api/client";
import { useAll, useGet, useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { useAction } from "../../ui/action";
import { Confirmed } from "../../ui/form";
import { Empty, Failed, Loading, Page, Section } from "../../ui/page";
import { ContractGraph } from "./ContractGraph";

export function ProjectDetail() {
  const { id } = useParams<{ id: string }>();
  const me = useMe();
  const [, navigate] = useLocation();
  const project = useGet("projects", "GET /v1/projects/{id}", { path: { id } });
  const repos = useRepos();
  const contracts = useAll("contracts", "GET /v1/contracts", {});
  const [adding, setAdding] = useState<string[]>([]);
  const add = useAction(() => call("POST /v1/projects/{id}/repos", { path: { id }, body: { repos: adding } }), { says: "Added.", stale: ["projects"], then: () => setAdding([]) });
  const take = useAction((repo: string) => call("DELETE /v1/projects/{id}/repos/{repo}", { path: { id, repo } }), { says: "Taken out.", stale: ["projects"] });
  const drop = useAction(() => call("DELETE /v1/projects/{id}", { path: { id } }), { says: "The project is gone.", stale: ["projects"], then: () => navigate("/repos") });
  if (!project.data) return <Page title="Project">{project.isError ? <Failed error={project.error} retry={() => void project.refetch()} /> : <Loading />}</Page>;
  const p = project.data;
  const isIn = (x: { repo: { id: string } }) => p.repos.some((r) => r.id === x.repo.id);
  const inside = (contracts.data ?? []).map((c) => ({ ...c, providers: c.providers.filter(isIn), users: c.users.filter(isIn) })).filter((c) => c.providers.length + c.users.length > 0);
  const rest = (repos.data?.items ?? []).map((r) => r.full_name).filter((n) => !p.repos.some((r) => r.full_name === n));
  return (
    <Page
      title={p.name}
      sub="Contracts of these repos are checked against each other."
      actions={me.isAdmin && <Confirmed label="Delete project" title={`Delete ${p.name}?`} text="The repos stay. Their contracts are no longer checked against each other." confirm="Delete" onConfirm={() => drop.mutateAsync()} />}
    >
      {inside.length > 0 && (
        <Section title="Contracts" pad={false}>
          <ContractGraph contracts={inside} />
        </Section>
      )}
      <Section title="Repos" pad={false}>
        {p.repos.length === 0 ? (
          <Empty title="No repos in it yet">Add two or more, and a break in one is seen in the others.</Empty>
        ) : (
          <ul className="rows">
            {p.repos.map((r) => (
              <li key={r.id} className="row-item">
                <b className="grow">{r.full_name}</b>
                {me.isAdmin && <Confirmed label="Take out" title={`Take ${r.full_name} out?`} text="Its contracts are no longer checked against the other repos." confirm="Take out" onConfirm={() => take.mutateAsync(r.id)} />}
              </li>
            ))}
          </ul>
        )}
        {me.isAdmin && (
          <form
            className="add-row"
            onSubmit={(e) => {
              e.preventDefault();
              add.mutate();
            }}
          >
            <MultiSelect aria-label="Repos to add" className="grow" size="xs" searchable value={adding} onChange={setAdding} data={rest} placeholder={adding.length ? "" : "Add repos"} />
            <Button type="submit" disabled={adding.length === 0} loading={add.isPending}>
              Add
            </Button>
          </form>
        )}
      </Section>
    </Page>
  );
}
