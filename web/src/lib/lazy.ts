import { lazy, type ComponentType } from "react";

/** A module that did not come. After an upgrade of the server its files have other names. */
export class ChunkError extends Error {}

/** Loads a module, once more if it did not come: networks drop single requests. A file that
 * failed is remembered as failed by its address, so the second try has another one. */
async function fetched<M>(load: () => Promise<M>): Promise<M> {
  try {
    return await load();
  } catch (first) {
    const url = /https?:\S+\.js/.exec(String(first))?.[0];
    try {
      if (url) return (await import(/* @vite-ignore */ `${url}?again=${Date.now()}`)) as M;
      return await load();
    } catch {
      throw new ChunkError(String(first));
    }
  }
}

/** A component of a module that is loaded when it is first shown. */
export function later<M, K extends keyof M>(load: () => Promise<M>, name: K) {
  type P = M[K] extends ComponentType<infer Props> ? Props : never;
  return lazy(async () => ({ default: (await fetched(load))[name] as unknown as ComponentType<P> }));
}
