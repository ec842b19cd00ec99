// Starts svc lsp, keeps it told of what is open, and turns what it says into
// what the editor shows. What is live and where it stands, svc lsp decides.
import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import { Peer } from "./rpc";

interface Place {
  line: number;
  character: number;
}
interface Span {
  start: Place;
  end: Place;
}
interface Command {
  title: string;
  command: string;
  arguments?: unknown[];
}

/** One piece of work in a file, as svc/live tells it. Lines count from 1. */
export interface Agent {
  person: string;
  own: boolean;
  agent: string;
  work: string;
  age: string;
  lines: { start: number; count: number }[];
  meets: boolean;
  says: string;
}

const range = (s: Span): vscode.Range => new vscode.Range(s.start.line, s.start.character, s.end.line, s.end.character);
const kinds = ["diagnostics", "own", "codeLens", "hover", "inlayHints", "attention", "presence"];
const severities = [0, 0, 1, 2, 3]; // the protocol counts from 1, the editor from 0

/** What a person switched on, as svc lsp reads it. */
export function settings(): Record<string, boolean> {
  const all = vscode.workspace.getConfiguration("svc");
  return Object.fromEntries(kinds.map((k) => [k, all.get<boolean>(k, true)]));
}

const ours = (d: vscode.TextDocument): boolean => d.uri.scheme === "file";

export class Server implements vscode.Disposable {
  peer: Peer | undefined;
  private child: ChildProcess | undefined;
  private failures = 0;
  private ended = false;
  private readonly marks = vscode.languages.createDiagnosticCollection("svc");
  private readonly lenses = new vscode.EventEmitter<void>();
  private readonly hints = new vscode.EventEmitter<void>();
  private readonly all: vscode.Disposable[] = [];

  /** setUp is called with each new svc lsp, before anything is said to it. */
  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly setUp: (peer: Peer) => void,
    private readonly ready: () => void,
  ) {
    this.all.push(this.marks, this.lenses, this.hints);
    this.follow();
    this.provide();
  }

  start(): void {
    const child = spawn(vscode.workspace.getConfiguration("svc").get<string>("program", "svc"), ["lsp"], { stdio: ["pipe", "pipe", "pipe"] });
    this.child = child;
    child.stderr.on("data", (text: Buffer) => this.log.warn(text.toString().trimEnd()));
    child.on("error", (e: NodeJS.ErrnoException) => {
      if (e.code === "ENOENT") {
        this.failures = 5; // trying again will not find it
        void vscode.window.showWarningMessage("svc: there is no program svc on the PATH. Install it, or set svc.program to where it is.");
      }
      this.gone(child, e.message);
    });
    child.on("exit", (code) => this.gone(child, `svc lsp ended with ${code}`));
    const peer = new Peer(child.stdout, child.stdin);
    peer.on("textDocument/publishDiagnostics", (p: { uri: string; diagnostics: { range: Span; severity: number; message: string }[] }) => {
      const shown = p.diagnostics.map((d) => Object.assign(new vscode.Diagnostic(range(d.range), d.message, severities[d.severity]), { source: "svc" }));
      this.marks.set(vscode.Uri.parse(p.uri), shown);
    });
    peer.on("window/showMessage", (p: { message: string }) => void vscode.window.showInformationMessage(p.message));
    peer.on("window/showDocument", async (p: { uri: string }) => ({ success: await vscode.env.openExternal(vscode.Uri.parse(p.uri)) }));
    peer.on("workspace/codeLens/refresh", () => this.lenses.fire());
    peer.on("workspace/inlayHint/refresh", () => this.hints.fire());
    this.setUp(peer);
    const refresh = { refreshSupport: true };
    const asked = peer.request("initialize", {
      processId: process.pid,
      rootUri: null,
      initializationOptions: settings(),
      capabilities: { window: { showDocument: { support: true } }, workspace: { codeLens: refresh, inlayHint: refresh } },
    });
    asked.then(
      () => {
        this.failures = 0;
        this.peer = peer;
        peer.notify("initialized", {});
        for (const d of vscode.workspace.textDocuments) this.opened(d);
        this.ready();
      },
      () => undefined, // gone says why
    );
  }

  /** Tries again after a while, five times: a person may be updating svc. */
  private gone(child: ChildProcess, why: string): void {
    if (this.child !== child || this.ended) return;
    this.log.error(why);
    this.child = this.peer = undefined;
    this.marks.clear();
    if (++this.failures <= 5) setTimeout(() => this.ended || this.child || this.start(), 500 * 2 ** this.failures);
  }

  restart(): void {
    this.stop();
    this.failures = 0;
    this.start();
  }

  private stop(): void {
    const { child, peer } = this;
    this.child = this.peer = undefined;
    this.marks.clear();
    if (!child) return;
    peer?.leave();
    peer?.request("shutdown", null).then(() => peer.notify("exit", null), () => undefined);
    setTimeout(() => child.kill(), 4000).unref(); // it tells others that nothing is typed any more
  }

  dispose(): void {
    this.ended = true;
    this.stop();
    for (const d of this.all) d.dispose();
  }

  /** Runs a command of svc lsp and says what came of it. */
  async run(command: string, args: unknown[]): Promise<void> {
    try {
      const said = await this.peer?.request<string>("workspace/executeCommand", { command, arguments: args });
      if (said && command !== "svc.open") void vscode.window.showInformationMessage(`svc: ${said}`);
    } catch (e) {
      void vscode.window.showErrorMessage(`svc: ${(e as Error).message}`);
    }
  }

  private opened(d: vscode.TextDocument): void {
    if (ours(d)) {
      this.peer?.notify("textDocument/didOpen", { textDocument: { uri: d.uri.toString(), languageId: d.languageId, version: d.version, text: d.getText() } });
    }
  }

  private follow(): void {
    const id = (d: vscode.TextDocument) => ({ uri: d.uri.toString(), version: d.version });
    this.all.push(
      vscode.workspace.onDidOpenTextDocument((d) => this.opened(d)),
      vscode.workspace.onDidChangeTextDocument(({ document: d, contentChanges }) => {
        if (!ours(d) || contentChanges.length === 0) return;
        this.peer?.notify("textDocument/didChange", { textDocument: id(d), contentChanges: contentChanges.map(({ range, text }) => ({ range, text })) });
      }),
      vscode.workspace.onDidSaveTextDocument((d) => ours(d) && this.peer?.notify("textDocument/didSave", { textDocument: id(d) })),
      vscode.workspace.onDidCloseTextDocument((d) => {
        if (!ours(d)) return;
        this.marks.delete(d.uri);
        this.peer?.notify("textDocument/didClose", { textDocument: id(d) });
      }),
      vscode.workspace.onDidChangeConfiguration((e) => {
        if (e.affectsConfiguration("svc.program")) this.restart();
        else if (e.affectsConfiguration("svc")) this.peer?.notify("workspace/didChangeConfiguration", { settings: { svc: settings() } });
      }),
    );
  }

  private async ask<T>(method: string, d: vscode.TextDocument, more: object): Promise<T | undefined> {
    return this.peer?.request<T>(method, { textDocument: { uri: d.uri.toString() }, ...more });
  }

  private provide(): void {
    const files = { scheme: "file" };
    this.all.push(
      vscode.languages.registerHoverProvider(files, {
        provideHover: async (d, position) => {
          const h = await this.ask<{ contents: { value: string }; range: Span }>("textDocument/hover", d, { position });
          return h && new vscode.Hover(new vscode.MarkdownString(h.contents.value), range(h.range));
        },
      }),
      vscode.languages.registerCodeLensProvider(files, {
        onDidChangeCodeLenses: this.lenses.event,
        provideCodeLenses: async (d) => {
          const all = await this.ask<{ range: Span; command: Command }[]>("textDocument/codeLens", d, {});
          return (all ?? []).map((l) => new vscode.CodeLens(range(l.range), l.command));
        },
      }),
      vscode.languages.registerInlayHintsProvider(files, {
        onDidChangeInlayHints: this.hints.event,
        provideInlayHints: async (d, r) => {
          const all = await this.ask<{ position: Place; label: string; tooltip?: string }[]>("textDocument/inlayHint", d, { range: r });
          return (all ?? []).map((h) => {
            const hint = new vscode.InlayHint(new vscode.Position(h.position.line, h.position.character), h.label);
            return Object.assign(hint, { paddingLeft: true, tooltip: h.tooltip });
          });
        },
      }),
      vscode.languages.registerCodeActionsProvider(files, {
        provideCodeActions: async (d, r) => {
          const all = await this.ask<{ title: string; command: Command }[]>("textDocument/codeAction", d, { range: r, context: { diagnostics: [] } });
          return (all ?? []).map((a) => Object.assign(new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix), { command: a.command }));
        },
      }),
    );
  }
}
