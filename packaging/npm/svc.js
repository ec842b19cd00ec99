#!/usr/bin/env node
// Starts the svc that npm installed for this system. Nothing is downloaded
// here: the program came as a package of its own, with npm's checksums.
"use strict";
const { spawnSync } = require("node:child_process");
const { copyFileSync, mkdirSync, existsSync, statSync } = require("node:fs");
const { homedir, constants } = require("node:os");
const path = require("node:path");

const name = `@svc-hq/svc-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "svc.exe" : "svc";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`svc: there is no package ${name} here; install @svc-hq/svc without --omit=optional, or take a release`);
  process.exit(1);
}
const args = process.argv.slice(2);
// Hooks start svc by its name, and npx leaves none behind.
if (args[0] === "up" && !onPath()) {
  const dir = path.join(homedir(), ".local", "bin");
  const target = path.join(dir, file);
  if (!existsSync(target) || statSync(target).size !== statSync(program).size) {
    mkdirSync(dir, { recursive: true });
    copyFileSync(program, target);
    console.error(`svc: put ${target} in place, which hooks start`);
  }
  process.env.PATH = dir + path.delimiter + process.env.PATH;
  if (!(process.env.SVC_ORIGINAL_PATH ?? process.env.PATH).includes(dir)) console.error(`svc: add ${dir} to your PATH`);
  program = target;
}
const run = spawnSync(program, args, { stdio: "inherit" });
if (run.error) {
  console.error(`svc: ${run.error.message}`);
  process.exit(1);
}
process.exit(run.signal ? 128 + (constants.signals[run.signal] ?? 0) : run.status);

// onPath tells whether a svc that stays is on the PATH: npx puts its own there
// for as long as it runs.
function onPath() {
  return (process.env.PATH ?? "").split(path.delimiter).some((d) => !d.includes("_npx") && !d.includes("node_modules") && existsSync(path.join(d, file)));
}
