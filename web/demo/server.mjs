// Starts a real svcd on a free port with an empty data folder.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const bin = (name) => new URL(`../../bin/${name}`, import.meta.url).pathname;
export const svcd = process.env.SVCD ?? bin("svcd");
export const svc = bin("svc");
export const rig = (...args) => execFileSync(bin("rig"), args, { encoding: "utf8", maxBuffer: 64 << 20 });

/** An empty schema of its own in a PostgreSQL database. */
function newSchema(url) {
  const name = `web_${randomBytes(6).toString("hex")}`;
  execFileSync("psql", [url, "-qc", `CREATE SCHEMA ${name}`]);
  const own = new URL(url);
  own.searchParams.set("search_path", name);
  return own.href;
}

/** @returns {Promise<{url: string, code: string, database: string, down: () => Promise<void>, restart: () => Promise<void>, stop: () => Promise<void>}>} */
export async function startServer(flags = []) {
  const data = mkdtempSync(join(tmpdir(), "svc-dash-"));
  const database = process.env.SVC_TEST_DATABASE && newSchema(process.env.SVC_TEST_DATABASE);
  const run = (addr) =>
    new Promise((resolve, reject) => {
      const args = ["serve", "--addr", addr, "--data", data, ...(database ? ["--database", database] : []), ...flags];
      const child = spawn(svcd, args, { stdio: ["ignore", "pipe", "pipe"] });
      let out = "";
      let err = "";
      child.stderr.on("data", (b) => {
        err += b;
        if (/level=ERROR|"level":"ERROR"/.test(b)) process.stderr.write(b); // a 500 is told with its cause
      });
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
    database: database || join(data, "svc.db"),
    /** Ends the server until it is restarted. */
    down: () => end(child),
    async restart() {
      if (child.exitCode === null) await end(child);
      // Whoever asks for any free port may hold ours for a moment.
      for (let tries = 1; ; tries++) {
        try {
          ({ child } = await run(new URL(url).host));
          return;
        } catch (e) {
          if (tries === 100 || !/in use/.test(e.message)) throw e;
          await new Promise((r) => setTimeout(r, 200));
        }
      }
    },
    async stop() {
      await end(child);
      rmSync(data, { recursive: true, force: true });
    },
  };
}
