// Somebody at the dashboard, with a mouse or with the keyboard alone, who counts
// what they do: each press of a button or a link, each field they fill in, each
// key that leads somewhere is a step. How far Tab has to go is not counted.
import assert from "node:assert/strict";

export class Hand {
  constructor(page, by) {
    Object.assign(this, { page, by, steps: 0 });
  }

  /** Presses something: by mouse, or by going to it and pressing Enter. */
  async press(locator) {
    this.steps++;
    if (this.by === "mouse") return locator.click();
    await tabTo(this.page, locator);
    await this.page.keyboard.press("Enter");
  }

  /** Goes to a page by the menu, or by its two keys. */
  async goTo(label, key) {
    if (this.by === "mouse") return this.press(this.page.getByRole("navigation", { name: "Main", exact: true }).getByRole("link", { name: label }));
    this.steps++;
    await this.page.locator("h1").first().waitFor();
    await Promise.all([this.page.keyboard.press("g"), this.page.keyboard.press(key)]); // sent together: there is a time limit between them
  }

  /** Opens a menu and takes one of its items: two steps. */
  async pick(button, item) {
    await this.press(button);
    if (this.by === "mouse") return this.press(item);
    await this.page.waitForFunction(() => document.activeElement?.closest('[role="menu"]'));
    this.steps++;
    await moveTo(this.page, item, "ArrowDown");
    await this.page.keyboard.press("Enter");
  }

  /** Writes where the focus is. */
  async write(locator, text) {
    this.steps++;
    await locator.waitFor();
    await this.page.waitForFunction(() => /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? ""));
    await this.page.keyboard.type(text);
  }

  /** Sends what is written. */
  async send(button) {
    if (this.by === "mouse") return this.press(button);
    this.steps++;
    await button.waitFor();
    await this.page.waitForFunction(() => document.activeElement?.closest("form")); // a dialog takes the focus a moment after it opens
    await this.page.keyboard.press("Control+Enter");
  }
}

/** Presses a key until something has the focus. */
export async function moveTo(page, locator, key) {
  await locator.waitFor({ state: "attached" });
  for (let n = 0; n < 160; n++) {
    if (await locator.evaluate((el) => el === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  assert.fail(`${key} never reaches ${locator}`);
}
export const tabTo = (page, locator) => moveTo(page, locator, "Tab");
