// Filters live in the address, so that a view can be shared.
import { useCallback } from "react";
import { useSearchParams } from "wouter";
import type { SearchHit } from "../api/records";

/** One filter of the page; an empty value removes it from the address. */
export function useFilter(name: string, fallback = ""): [string, (value: string | null) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (value: string | null) => {
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          if (!value || value === fallback) after.delete(name);
          else after.set(name, value);
          return after;
        },
        { replace: true },
      );
    },
    [name, fallback, setParams],
  );
  return [params.get(name) ?? fallback, set];
}

/** The page of a contract, as seen from a repo. */
export const contractPath = (key: string, repo: string): string => `/contracts?${new URLSearchParams({ key, repo })}`;

/** The page of a file: what is under way in it. */
export const filePath = (repo: string, path: string): string => `/file?${new URLSearchParams({ repo, path })}`;

/** Where something that was found is shown. */
export function pathOfHit(h: SearchHit): string {
  return h.kind === "contracts" && h.repo ? contractPath(h.ref, h.repo.full_name) : pathOf(h.url);
}

/** The path of a link that the server made, wherever it thinks it lives. */
export function pathOf(url: string): string {
  try {
    const u = new URL(url, location.origin);
    return u.pathname + u.search + u.hash;
  } catch {
    return "/";
  }
}
