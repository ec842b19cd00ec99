// Runs the compiled extension (its folder is the argument) without the editor,
// and does what it is told on standard input, a line of JSON each:
//   ["open", file] ["edit", file, line, lines, text] ["save", file] ["set", key, value]
//   ["choose", button, words] ["run", command, ...arguments] ["offer", kind, file, line] ["look"] ["end"]
// Each is answered by a line with what the editor would show.
const { readFileSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const readline = require("node:readline");

const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => (name === "vscode" ? path.join(__dirname, "vscode.cjs") : resolve(name, ...rest));
const vscode = require("./vscode.cjs");
const { activate } = require(path.join(process.argv[2], "extension.js"));

const documents = new Map();
const find = (name) => documents.get(path.resolve(name));

const orders = {
  open(name) {
    const file = path.resolve(name);
    const d = { uri: vscode.Uri.file(file), languageId: "plaintext", version: 1, text: readFileSync(file, "utf8") };
    d.getText = () => d.text;
    Object.defineProperty(d, "lineCount", { get: () => d.text.split("\n").length });
    documents.set(file, d);
    vscode.workspace.textDocuments.push(d);
    const editor = { document: d, setDecorations: (type, list) => ((vscode.shown.decorations[d.uri] ??= {})[type.options.overviewRulerColor.id] = list.map((o) => [o.range.start.line + 1, o.range.end.line + 1])) };
    vscode.window.visibleTextEditors = [editor];
    vscode.window.activeTextEditor = editor;
    vscode.events.open.fire(d);
    vscode.events.visible.fire();
  },
  edit(name, line, count, text) {
    const d = find(name);
    const lines = d.text.split(/(?<=\n)/);
    lines.splice(line, count, text);
    d.text = lines.join("");
    d.version++;
    vscode.events.change.fire({ document: d, contentChanges: [{ range: new vscode.Range(line, 0, line + count, 0), text }] });
  },
  save(name) {
    writeFileSync(path.resolve(name), find(name).text);
    vscode.events.save.fire(find(name));
  },
  set(key, value) {
    vscode.settings[`svc.${key}`] = value;
    vscode.events.settings.fire({ affectsConfiguration: (name) => name === "svc" || name === `svc.${key}` });
  },
  choose(label, words) {
    Object.assign(vscode.does, { choose: label, words });
  },
  run: (name, ...args) => vscode.called.get(name)(...args),
  async offer(kind, name, line) {
    const d = find(name);
    const at = new vscode.Range(line, 0, line, 0);
    const p = vscode.shown.providers[kind];
    if (kind === "hover") return p.provideHover(d, at.start);
    if (kind === "lens") return p.provideCodeLenses(d);
    if (kind === "hint") return p.provideInlayHints(d, new vscode.Range(0, 0, d.lineCount, 0));
    return p.provideCodeActions(d, at);
  },
  look() {
    const { marks, decorations, status, messages, opened, tree, badges, picks } = vscode.shown;
    const items = tree.getChildren().map((n) => ({ ...tree.getTreeItem(n), files: tree.getChildren(n).map((f) => tree.getTreeItem(f).label.fsPath) }));
    const badge = Object.fromEntries([...documents.values()].map((d) => [d.uri, badges.provideFileDecoration(d.uri) ?? null]));
    return { marks, decorations, status, messages, opened, picks, items, badge };
  },
  end() {
    for (const d of context.subscriptions) d.dispose();
    input.close();
  },
};

const context = { subscriptions: [] };
activate(context);
const input = readline.createInterface({ input: process.stdin });
input.on("line", async (line) => {
  const [what, ...args] = JSON.parse(line);
  let answer;
  try {
    answer = await orders[what](...args);
  } catch (e) {
    answer = { error: e.message };
  }
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`);
});
