import { lazy, type ComponentType } from "react";

/** A component of a module that is loaded when it is first shown. */
export function later<M, K extends keyof M>(load: () => Promise<M>, name: K) {
  return lazy(async () => ({ default: (await load())[name] as ComponentType }));
}
