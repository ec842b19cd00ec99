// Where code and pull requests are shown at the git host.
import type { Repo } from "../api/records";
import type { Range } from "./conflict";

/** The web address of a repo, from how git knows it: host/owner/name. */
function home(repo: Repo): string | null {
  const remote = repo.remotes.find((r) => /^[\w.-]+\.[\w-]+(:\d+)?\/[\w./-]+$/.test(r));
  return remote && repo.provider !== "generic" ? `https://${remote}` : null;
}

const path = (p: string): string => p.split("/").map(encodeURIComponent).join("/");

/** A file at a branch, at some lines; null where the host is not known. */
export function fileUrl(repo: Repo | undefined, branch: string | null | undefined, file: string, at?: Range): string | null {
  const base = repo && home(repo);
  if (!base) return null;
  const ref = path(branch || repo.default_branch);
  if (repo.provider === "gitlab") return `${base}/-/blob/${ref}/${path(file)}${at ? `#L${at.start}-${at.end}` : ""}`;
  if (repo.provider === "bitbucket") return `${base}/src/${ref}/${path(file)}${at ? `#lines-${at.start}:${at.end}` : ""}`;
  return `${base}/blob/${ref}/${path(file)}${at ? `#L${at.start}-L${at.end}` : ""}`;
}

export function pullUrl(repo: Repo | undefined, number: number): string | null {
  const base = repo && home(repo);
  if (!base) return null;
  return repo.provider === "gitlab" ? `${base}/-/merge_requests/${number}` : repo.provider === "bitbucket" ? `${base}/pull-requests/${number}` : `${base}/pull/${number}`;
}
