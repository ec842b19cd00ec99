// Finds files that import each other in a circle: such files can only be
// understood, loaded and changed together.
//   node build/circles.mjs [folder]
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const endings = ["", ".ts", ".tsx", ".mjs", "/index.ts", "/index.tsx"];
const isFile = (p) => statSync(p, { throwIfNoEntry: false })?.isFile() ?? false;

/** The files under a folder, each with those of them that it imports. Types alone count as well: they tie files together for whoever reads them. */
function importsOf(folder) {
  const files = readdirSync(folder, { recursive: true }).map((f) => join(folder, f)).filter((f) => /\.(tsx?|mjs)$/.test(f));
  return new Map(
    files.map((f) => {
      const named = [...readFileSync(f, "utf8").matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.[^"]+)"/g)].map((m) => resolve(dirname(f), m[1]));
      return [f, named.flatMap((n) => endings.map((e) => n + e).find(isFile) ?? [])];
    }),
  );
}

/** Every circle, as the files along it. */
export function circles(folder) {
  const imports = importsOf(resolve(folder));
  const found = [];
  const state = new Map(); // open: on the way, done: leads to no circle that is not known
  const walk = (file, way) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      found.push([...way.slice(way.indexOf(file)), file].map((f) => relative(folder, f)));
      return;
    }
    state.set(file, "open");
    for (const next of imports.get(file) ?? []) walk(next, [...way, file]);
    state.set(file, "done");
  };
  for (const file of imports.keys()) walk(file, []);
  return found;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const found = circles(process.argv[2] ?? "src");
  for (const c of found) console.error(`These files import each other in a circle: ${c.join(" -> ")}`);
  process.exitCode = found.length ? 1 : 0;
}
