// The lint that finds files importing each other in a circle.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { circles } from "../build/circles.mjs";

test("no file of the dashboard is in a circle of imports", () => {
  assert.deepEqual(circles(new URL("../src", import.meta.url).pathname), []);
});

test("a circle is found, however it is written", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-circles-"));
  try {
    const files = { "a.ts": 'import { b } from "./b";', "b.tsx": 'export { c } from "./c";', "c.ts": 'const a = () => import("./a");', "d.ts": 'import type { A } from "./a";' };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    assert.deepEqual(circles(folder), [["a.ts", "b.tsx", "c.ts", "a.ts"]]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
