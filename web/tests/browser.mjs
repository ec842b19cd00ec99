// A real Chromium, with everything that must not happen collected.
import { chromium } from "playwright-core";
import { password, people } from "../demo/seed.mjs";

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

/** A context that notes console errors, uncaught errors and policy violations. */
export async function newContext(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  const faults = [];
  context.on("page", (page) => {
    page.on("pageerror", (e) => faults.push(`uncaught: ${e.message}`));
    page.on("console", (m) => {
      if (m.type() === "error" && !expected.some((e) => e.test(m.text()))) faults.push(`console: ${m.text()} at ${page.url()}`);
    });
  });
  await context.addInitScript(() => document.addEventListener("securitypolicyviolation", (e) => console.error(`CSP: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile ?? ""}`)));
  return Object.assign(context, { faults });
}

// Chromium itself logs every answer that is not a success; pages handle them.
const expected = [/^Failed to load resource: the server responded with a status of (400|401|402|403|404|409|429)/];

export async function signIn(page, url, who = "ana", path = "/") {
  const person = people.find((p) => p.key === who);
  await page.goto(url + "/sign-in?next=" + encodeURIComponent(path));
  await page.getByLabel("Email").fill(person.email);
  await page.getByLabel(/^Password/).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Main", exact: true }).or(page.getByRole("navigation", { name: "Main, short" })).first().waitFor();
}

/** Signs in without the form, by the cookie of a demo client. */
export async function beSignedIn(context, url, client) {
  const [name, value] = client.cookie.split("=");
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Lax" }]);
}
