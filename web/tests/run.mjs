// Runs the browser tests on SQLite and, where SVC_TEST_POSTGRES names a
// server, on PostgreSQL:
//   node tests/run.mjs [part of a file's name...]
// Two files run at a time, in one Chromium. Nothing is tried twice.
import { readdirSync } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { launchServer, patience } from "./browser.mjs";

const only = process.argv.slice(2);
const here = new URL(".", import.meta.url).pathname;
const files = readdirSync(here)
  .filter((f) => f.endsWith(".test.mjs") && (only.length === 0 || only.some((o) => f.includes(o))))
  .map((f) => here + f);

// What depends on the page alone is looked at once.
const pageOnly = /(circles|cockpit|corpus|keyboard|looks|scale|size|words)\.test\.mjs$/;

const postgres = process.env.SVC_TEST_POSTGRES;
if (process.env.CI && !postgres) throw new Error("SVC_TEST_POSTGRES is not set; use make test-web");
const rounds = [{ name: "SQLite", database: "", files }];
if (postgres) rounds.push({ name: "PostgreSQL", database: postgres, files: files.filter((f) => !pageOnly.test(f)) });

let failed = 0;
const chromium = await launchServer();
process.env.SVC_TEST_BROWSER = chromium.wsEndpoint();
try {
  for (const { name, database, files } of rounds) {
    if (files.length === 0) continue;
    const began = Date.now();
    console.log(`On ${name}:`);
    process.env.SVC_TEST_DATABASE = database;
    const tests = run({ files, concurrency: 2, timeout: 5 * patience });
    tests.on("test:fail", () => failed++);
    tests.compose(new spec()).pipe(process.stdout, { end: false });
    await new Promise((resolve, reject) => tests.once("end", resolve).once("error", reject));
    console.log(`${name} took ${Math.round((Date.now() - began) / 1000)} s.`);
  }
} finally {
  await chromium.close();
}
process.exitCode = failed ? 1 : 0;
