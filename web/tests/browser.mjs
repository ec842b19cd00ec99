// A real Chromium, with everything that must not happen collected.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

/** Ends a hang; nothing here is measured by the clock. */
export const patience = Number(process.env.SVC_TEST_PATIENCE ?? 180) * 1000;

/** How late every request to the API is sent, in ms: shows which tests read a page before its answer has come. */
const slow = Number(process.env.SVC_TEST_SLOW ?? 0);

const places = (process.env.PATH ?? "").split(delimiter);
const found = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].flatMap((name) => places.map((dir) => join(dir, name))).find((p) => existsSync(p));
// A page lives for seconds: compiling what it calls often, and collecting its garbage often, costs more than it gives. Only axe,
// which looks at one page for a while, and long lists gain by the first of the compilers: brief is for pages without either.
const options = (brief) => ({
  executablePath: process.env.CHROMIUM ?? found,
  timeout: patience,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    `--js-flags=--no-opt ${brief ? "--no-maglev " : ""}--min-semi-space-size=16`],
});

/** A browser of one's own, or the one that the runner shares. */
export const launch = () => (process.env.SVC_TEST_BROWSER ? chromium.connect(process.env.SVC_TEST_BROWSER, { timeout: patience }) : chromium.launch(options()));
export const launchServer = (brief) => chromium.launchServer(options(brief));

/** A context that notes console errors, uncaught errors and policy violations,
 * and keeps the notices that a page showed, since they go away again. */
export async function newContext(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  const faults = [];
  context.on("page", (page) => {
    page.on("pageerror", (e) => faults.push(`uncaught: ${e.message}`));
    page.on("console", (m) => {
      if (m.type() === "error" && !expected.some((e) => e.test(m.text()))) faults.push(`console: ${m.text()} at ${page.url()}`);
    });
  });
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (e) => console.error(`CSP: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile ?? ""}`));
    // Of a page that Chromium takes for hidden no frame is ever drawn.
    window.nextFrame = (then) => {
      const timer = setTimeout(() => go(), 500);
      const frame = requestAnimationFrame(() => go());
      const go = () => (clearTimeout(timer), cancelAnimationFrame(frame), then());
    };
    window.notices = [];
    new MutationObserver((changes) => {
      for (const c of changes) for (const n of c.addedNodes) if (n.classList?.contains("toast")) window.notices.push(n.textContent);
    }).observe(document, { childList: true, subtree: true });
  });
  if (slow) await context.route("**/v1/**", (route) => setTimeout(() => void route.continue().catch(() => {}), slow));
  context.setDefaultTimeout(patience);
  return Object.assign(context, { faults });
}

// Chromium itself logs every answer that is not a success; pages handle them. So
// they do a connection that it loses before the first byte on a busy machine.
const expected = [
  /^Failed to load resource: the server responded with a status of (400|401|402|403|404|409|429)/,
  /^Failed to load resource: net::ERR_SOCKET_NOT_CONNECTED$/,
];

/** Signs in without the form, by the cookie of a demo client. */
export async function beSignedIn(context, url, client) {
  const [name, value] = client.cookie.split("=");
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Lax" }]);
}
