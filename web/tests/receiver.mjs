// A server of somebody else's, which hears what svc sends out.
import { createServer } from "node:http";

export async function startReceiver() {
  const r = { heard: [], answer: 200 };
  let woken = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (b) => (body += b));
    req.on("end", () => {
      r.heard.push({ path: req.url, headers: req.headers, body });
      res.writeHead(r.answer).end(r.answer === 200 ? "ok" : "no");
      woken.splice(0).forEach((wake) => wake());
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  r.url = `http://127.0.0.1:${server.address().port}`;
  r.stop = () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));

  /** Waits for something that was sent to a path, from the nth on. */
  r.hears = async (path, nth = 1) => {
    for (;;) {
      const found = r.heard.filter((h) => h.path === path);
      if (found.length >= nth) return found[nth - 1];
      await new Promise((wake) => woken.push(wake));
    }
  };
  return r;
}
