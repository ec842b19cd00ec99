// Drives a real VS Code in a browser; the argument is its address. Orders are
// lines of JSON, as in host.cjs: ["open", file] ["type", text] ["press", keys]
// ["click", text] ["look"] ["picture", file].
import readline from "node:readline";
import { launch } from "../../../web/tests/browser.mjs";

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.goto(process.argv[2], { timeout: 180_000 });
await page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: 180_000 });

const texts = (selector) => page.locator(selector).allTextContents();
const orders = {
  async open(name) {
    await page.keyboard.press("Control+P");
    await page.locator(".quick-input-widget input").first().fill(name);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: name }).waitFor();
  },
  async type(text) {
    await page.locator(".editor-instance .view-lines").first().click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.insertText(text);
  },
  press: (keys) => page.keyboard.press(keys),
  words: (text) => page.keyboard.insertText(text),
  click: (text) => page.locator(".monaco-button, .pane-header", { hasText: text }).first().click(),
  async look() {
    const lines = await page.evaluate(() => {
      const top = (e) => Math.round(e.getBoundingClientRect().top);
      const numbers = new Map([...document.querySelectorAll(".margin-view-overlays .line-numbers")].map((e) => [top(e), Number(e.textContent)]));
      const marks = [...document.querySelectorAll(".glyph-margin-widgets [class*=ced-], .margin-view-overlays .cgmr[class*=ced-]")];
      return marks.map((e) => numbers.get(top(e))).sort((a, b) => a - b);
    });
    return {
      gutter: lines,
      squiggles: (await texts(".cdr[class*=squiggly]")).length,
      status: await texts(".statusbar-item"),
      tree: await texts(".explorer-folders-view .monaco-list-row"),
      badges: await page.locator(".explorer-folders-view .monaco-icon-label").evaluateAll((all) => all.map((l) => [l.textContent, getComputedStyle(l, "::after").content])),
      work: await texts(".pane:has(.pane-header[aria-label^='Live' i]) .monaco-list-row"),
      notices: await texts(".notifications-toasts .notification-list-item-message"),
      asks: await texts(".quick-input-widget:visible"),
    };
  },
  picture: (path) => page.screenshot({ path }),
};
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [what, ...args] = JSON.parse(line);
  let answer;
  try {
    answer = await orders[what](...args);
  } catch (e) {
    answer = { error: `${e.message}`.slice(0, 500) };
  }
  process.stdout.write(`${JSON.stringify(what === "picture" ? null : (answer ?? null))}\n`);
}
await browser.close();
