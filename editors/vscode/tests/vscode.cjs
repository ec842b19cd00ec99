// As much of the editor's API as the extension uses, kept in memory so that a
// test can look at it. What it shows is in `shown`; what a person does is `does`.
const { EventEmitter: Emitter } = require("node:events");
const { pathToFileURL, fileURLToPath } = require("node:url");

class Disposable {
  dispose() {}
}
class EventEmitter extends Disposable {
  emitter = new Emitter();
  event = (listener) => {
    this.emitter.on("e", listener);
    return { dispose: () => this.emitter.off("e", listener) };
  };
  fire(value) {
    this.emitter.emit("e", value);
  }
}
class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}
class Range {
  constructor(a, b, c, d) {
    this.start = new Position(a, b);
    this.end = new Position(c, d);
  }
}
class Uri {
  constructor(text) {
    this.text = text;
    this.scheme = text.slice(0, text.indexOf(":"));
    this.fsPath = this.scheme === "file" ? fileURLToPath(text) : "";
  }
  static parse = (text) => new Uri(text);
  static file = (path) => new Uri(pathToFileURL(path).href);
  toString() {
    return this.text;
  }
}
const holder = (...names) =>
  class {
    constructor(...values) {
      names.forEach((n, i) => (this[n] = values[i]));
    }
  };

const shown = { marks: {}, decorations: {}, status: null, messages: [], opened: [], tree: null, badges: null, providers: {} };
const does = { choose: null, words: null };
const settings = {};
const events = Object.fromEntries(["open", "change", "save", "close", "settings", "visible", "active", "focus"].map((n) => [n, new EventEmitter()]));
const commands = new Map();
const message = async (text, ...labels) => {
  shown.messages.push(text);
  return labels.includes(does.choose) ? does.choose : undefined;
};
const provider = (kind) => (_files, p) => ((shown.providers[kind] = p), new Disposable());
const window = {
  visibleTextEditors: [],
  activeTextEditor: undefined,
  onDidChangeVisibleTextEditors: events.visible.event,
  onDidChangeActiveTextEditor: events.active.event,
  createOutputChannel: () => ({ warn: (t) => process.stderr.write(`${t}\n`), error: (t) => process.stderr.write(`${t}\n`), dispose() {} }),
  createStatusBarItem: () => {
    const item = { show: () => (shown.status = { text: item.text, tooltip: item.tooltip, warns: !!item.backgroundColor }), hide: () => (shown.status = null), dispose() {} };
    return item;
  },
  createTextEditorDecorationType: (options) => ({ options, dispose() {} }),
  registerTreeDataProvider: (_id, p) => ((shown.tree = p), new Disposable()),
  registerFileDecorationProvider: (p) => ((shown.badges = p), new Disposable()),
  showInformationMessage: message,
  showErrorMessage: message,
  showWarningMessage: message,
  showInputBox: async () => does.words,
  showQuickPick: async (items) => {
    shown.picks = items.map((i) => i.label);
    return undefined;
  },
};
const workspace = {
  textDocuments: [],
  getConfiguration: (section) => ({ get: (key, otherwise) => settings[`${section}.${key}`] ?? otherwise }),
  onDidOpenTextDocument: events.open.event,
  onDidChangeTextDocument: events.change.event,
  onDidSaveTextDocument: events.save.event,
  onDidCloseTextDocument: events.close.event,
  onDidChangeConfiguration: events.settings.event,
};
module.exports = {
  shown, does, settings, events, called: commands, window, workspace,
  EventEmitter, Disposable, Position, Range, Uri,
  Diagnostic: holder("range", "message", "severity"),
  Hover: holder("contents", "range"),
  MarkdownString: holder("value"),
  CodeLens: holder("range", "command"),
  InlayHint: holder("position", "label"),
  CodeAction: holder("title", "kind"),
  CodeActionKind: { QuickFix: "quickfix" },
  ThemeColor: holder("id"),
  ThemeIcon: holder("id", "color"),
  TreeItem: holder("label", "collapsibleState"),
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  FileDecoration: holder("badge", "tooltip", "color"),
  OverviewRulerLane: { Left: 1 },
  DecorationRangeBehavior: { ClosedClosed: 1 },
  StatusBarAlignment: { Left: 1 },
  env: { openExternal: async (uri) => (shown.opened.push(`${uri}`), true) },
  commands: { registerCommand: (name, run) => (commands.set(name, run), new Disposable()) },
  languages: {
    createDiagnosticCollection: () => ({
      set: (uri, list) => (shown.marks[uri] = list.map((d) => ({ from: d.range.start.line + 1, to: d.range.end.line, severity: d.severity, says: d.message }))),
      delete: (uri) => delete shown.marks[uri],
      clear: () => (shown.marks = {}),
      dispose() {},
    }),
    registerHoverProvider: provider("hover"),
    registerCodeLensProvider: provider("lens"),
    registerInlayHintsProvider: provider("hint"),
    registerCodeActionsProvider: provider("action"),
  },
};
