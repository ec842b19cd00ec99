// Runs the browser tests on SQLite and, where SVC_TEST_POSTGRES names a
// server, on PostgreSQL:
//   node tests/run.mjs [--pages | --service] [part of a file's name...]
// Two files run at a time, in one Chromium. Nothing is tried twice. --pages runs
// those that depend on the page alone, --service the others.
import { readdirSync } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { launchServer, patience } from "./browser.mjs";

const flags = process.argv.slice(2).filter((a) => a.startsWith("--"));
const only = process.argv.slice(2).filter((a) => !a.startsWith("--"));
const here = new URL(".", import.meta.url).pathname;

// What depends on the page, and on the shape of answers.
const pageOnly = /(circles|corpus|keyboard|looks|scale|size|words)\.test\.mjs$/;
// A page asks the API, and each operation of it, each query and these ways through the service are tested in Go on both
// databases. What is left: every page, and what people do to records and others see at once.
const onBoth = /(actions|live|pages|talk)\.test\.mjs$/;

const files = readdirSync(here)
  .filter((f) => f.endsWith(".test.mjs") && (only.length === 0 || only.some((o) => f.includes(o))))
  .filter((f) => !flags.includes(pageOnly.test(f) ? "--service" : "--pages"))
  .map((f) => here + f);

const postgres = process.env.SVC_TEST_POSTGRES;
if (process.env.CI && !postgres) throw new Error("SVC_TEST_POSTGRES is not set; use make test-web");
const rounds = [{ name: "SQLite", database: "", files }];
if (postgres) rounds.push({ name: "PostgreSQL", database: postgres, files: files.filter((f) => onBoth.test(f)) });

let failed = 0;
const chromium = await launchServer(flags.includes("--service"));
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
