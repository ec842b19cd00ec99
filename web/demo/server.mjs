// Starts a real svcd on a free port with an empty data folder.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const binary = process.env.SVCD ?? new URL("../../bin/svcd", import.meta.url).pathname;

/** An empty schema of its own in a PostgreSQL database. */
function newSchema(url) {
  const name = `web_${randomBytes(6).toString("hex")}`;
  execFileSync("psql", [url, "-qc", `CREATE SCHEMA ${name}`]);
  const own = new URL(url);
  own.searchParams.set("search_path", name);
  return own.href;
}

/** @returns {Promise<{url: string, code: string, restart: () => Promise<void>, stop: () => Promise<void>}>} */
export async function startServer() {
  const data = mkdtempSync(join(tmpdir(), "svc-dash-"));
  const database = process.env.SVC_TEST_DATABASE && newSchema(process.env.SVC_TEST_DATABASE);
  const run = (addr) =>
    new Promise((resolve, reject) => {
      const args = ["serve", "--addr", addr, "--data", data, ...(database ? ["--database", database] : [])];
      const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"] });
      let out = "";
      let err = "";
      child.stderr.on("data", (b) => (err += b));
      child.on("exit", (code) => reject(new Error(`svcd ended with ${code}: ${err}`)));
      child.stdout.on("data", (b) => {
        out += b;
        const url = /listening on (\S+)/.exec(out)?.[1];
        const code = /\/setup#(\S+)/.exec(out)?.[1];
        if (url && (code || /Dashboard:/.test(out))) resolve({ child, url, code: code ?? "" });
      });
    });
  const end = (child) =>
    new Promise((resolve) => {
      child.removeAllListeners("exit");
      child.on("exit", resolve);
      child.kill("SIGTERM");
    });
  let { child, url, code } = await run("127.0.0.1:0");
  return {
    url,
    code,
    async restart() {
      await end(child);
      ({ child } = await run(new URL(url).host));
    },
    async stop() {
      await end(child);
      rmSync(data, { recursive: true, force: true });
    },
  };
}
