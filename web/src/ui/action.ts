// What a button does on the server, and what went wrong with a field.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Problem } from "../api/client";
import { done, failed } from "./toast";

/** An action on the server, with its notice and the lists it makes stale. */
export function useAction<V = void, T = unknown>(run: (v: V) => Promise<T>, options: { says?: string; stale?: string[]; then?: (t: T) => void; quietErrors?: boolean } = {}) {
  const client = useQueryClient();
  return useMutation<T, Error, V>({
    mutationFn: run,
    onSuccess: (t) => {
      if (options.says) done(options.says);
      for (const key of options.stale ?? []) void client.invalidateQueries({ queryKey: [key] });
      options.then?.(t);
    },
    onError: (e) => {
      if (!options.quietErrors) failed(e);
    },
  });
}

export const fieldError = (error: unknown, path: string): string | undefined => (error instanceof Problem ? error.field(path) : undefined);
