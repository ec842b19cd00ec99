// The attack corpus: hostile texts through every page that shows what people
// and agents wrote. They stay text.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { rig } from "../demo/server.mjs";
import { goTo, useWorld, walkTo } from "./world.mjs";

const world = useWorld();

// Markup that would show itself at once if anything took it for HTML.
const markup = [
  '<img src=x onerror="window.owned=1">',
  '<script>window.owned=1</script>',
  '<svg onload="window.owned=1"></svg>',
  '<iframe srcdoc="<script>parent.owned=1</script>"></iframe>',
  '<a href="javascript:window.owned=1">click</a> javascript:window.owned=1',
  "[click](javascript:window.owned=1) ![x](https://evil.example/pixel.png?q=1) <https://evil.example>",
  '<style>*{display:none}</style><link rel=stylesheet href="https://evil.example/x.css">',
  '"><form action="https://evil.example"><input name=q autofocus onfocus="window.owned=1">',
  "{{constructor.constructor('window.owned=1')()}} ${window.owned=1} <%= owned %>",
  '<math><mi xlink:href="javascript:window.owned=1">x</mi></math><base href="https://evil.example/">',
];

const marked = []; // {text, mark}: what was written and the word to find it by
let thread;
let intents;

before(async () => {
  const cases = JSON.parse(rig("corpus")).map((c) => c.Text.replaceAll("\0", "")); // the API refuses NUL
  assert.ok(cases.length >= 200, `only ${cases.length} hostile texts`);
  for (const [i, text] of [...markup, ...cases].entries()) marked.push({ text, mark: `hostile${i}x` });
});

/** Sends texts as many people as it takes: each may send 20 a minute. */
async function plant() {
  const { ana, ben, chen, dara } = world.tokens;
  const everybody = [ana, ben, chen, dara];
  // One message holds several texts, since people are slower than attackers.
  const bodies = [];
  for (const { text, mark } of marked) {
    const piece = `${mark} ${text} .${mark}\n`;
    const last = bodies.at(-1);
    if (last !== undefined && last.length + piece.length < 3500) bodies[bodies.length - 1] += piece;
    else bodies.push(piece.slice(0, 3900));
  }
  for (const [i, body] of bodies.entries()) thread = (await everybody[i % 4].post("/v1/messages", { to: "channel:team", subject: marked[i].text.slice(0, 100) || undefined, body })).conversation_id;
  // Titles, summaries, plans, statuses, questions.
  intents = [];
  for (const [i, { text, mark }] of marked.entries()) {
    if (i >= markup.length && i % 12 !== 0) continue;
    const body = { title: `${mark} ${text}`.slice(0, 190), summary: text.slice(0, 1900), plan_md: `# ${text}\n- [ ] ${text}\n\`\`\`\n${text}\n\`\`\``.slice(0, 9000), repo: "northwind/mobile", branch: `b${i}`, scope: { paths: ["app/hostile.kt"] } };
    intents.push((await everybody[i % 4].post("/v1/intents", body)).intent);
  }
}

/** What an attack would leave behind on a page. */
const traces = (page) =>
  page.evaluate(() => {
    const found = [];
    if (window.owned) found.push("a script ran");
    for (const el of document.querySelectorAll("script, iframe, object, embed, base, form[action], style, link[rel=stylesheet], img, math, a[href]")) {
      const at = el.getAttribute("src") ?? el.getAttribute("href") ?? el.getAttribute("action") ?? el.textContent ?? "";
      // What somebody wrote as an address may be followed: it says where it leads, and tells nobody where from.
      if (el.matches(".post-body a[target=_blank]") && /noreferrer/.test(el.rel) && /^https?:\/\/[a-z0-9.-]+(:\d+)?([/?#]|$)/.test(at) && el.textContent === at) continue;
      const foreign = /^\s*(javascript|data|vbscript):/i.test(at) || (/^https?:/.test(at) && !at.startsWith(location.origin) && !at.startsWith("https://linear.app/"));
      if (foreign || /^(IFRAME|OBJECT|EMBED|BASE)$/.test(el.tagName) || /owned|evil/.test(at)) found.push(el.outerHTML.slice(0, 200));
    }
    for (const el of document.querySelectorAll("*")) for (const a of el.attributes) if (/^on/i.test(a.name)) found.push(`${el.tagName} has ${a.name}`);
    return found;
  });

/** Characters that make text read otherwise than it is. */
const deceiving = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u;
/** Quotes in our sentences are isolated, so that what they hold cannot turn the words around them. */
const unquoted = (text) => text.replace(/\u2068([^\u2066-\u2069]*)\u2069/g, "$1");
const shown = (page) =>
  page.evaluate(() => {
    const texts = [document.title];
    for (const w = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); w.nextNode(); ) texts.push(w.currentNode.data);
    for (const el of document.querySelectorAll("[title], [aria-label], [placeholder]")) for (const a of ["title", "aria-label", "placeholder"]) texts.push(el.getAttribute(a) ?? "");
    return texts;
  });

async function harmless(page, where) {
  assert.deepEqual(await traces(page), [], where);
  const bad = (await shown(page)).find((t) => deceiving.test(unquoted(t)));
  assert.equal(bad && JSON.stringify(bad).slice(0, 300), undefined, `${where} shows deceiving characters`);
}

test("hostile texts are shown as they are and do nothing", async () => {
  await plant();
  const page = await world.page("ana", null);
  await goTo(page, `${world.url}/messages/${thread}`);
  await page.locator(".post").filter({ hasText: marked[0].mark }).waitFor();
  await harmless(page, "the thread");
  const posts = (await page.locator(".post-body").allTextContents()).join("\n");
  for (const { text, mark } of marked.slice(0, markup.length)) assert.ok(posts.includes(`${mark} ${text}`), `${text} is not shown as it was written`);
  for (const { mark } of marked) assert.ok(posts.includes(`${mark} `), `${mark} is missing`);

  for (const { ref } of intents.slice(0, markup.length)) {
    await walkTo(page, `/intents/${ref}`);
    await harmless(page, ref);
  }
  const conflict = (await world.clients.ana.get("/v1/conflicts?repo=northwind%2Fmobile&limit=1")).items[0];
  assert.ok(conflict, "the hostile intents do not collide");
  const search = (q) => `/history?q=${encodeURIComponent(q)}`;
  const paths = ["/", "/intents", "/conflicts", `/conflicts/${conflict.ref}`, "/messages", "/activity", search("owned"), search(marked[3].mark), "/repos/northwind/mobile", "/stats", "/settings/audit"];
  for (const path of paths) {
    await walkTo(page, path);
    await harmless(page, path);
  }
});

test("the search for a hostile text finds it and stays text", async () => {
  const page = await world.page("ben", "/");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or go to" }).fill(marked[1].mark);
  await page.getByRole("option").filter({ hasText: "window.owned" }).first().waitFor();
  await harmless(page, "the palette");
  await page.keyboard.press("Escape");
  await goTo(page, world.url + "/messages");
  await page.getByRole("button", { name: "New message" }).click();
  await page.getByRole("dialog").getByRole("combobox", { name: "To" }).fill(marked[1].mark);
  await page.getByRole("option").filter({ hasText: "window.owned" }).first().waitFor();
  await harmless(page, "the composer");
});
