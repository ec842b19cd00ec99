// Who is at work in the open repositories: a list at the side, and badges in the
// tree of files.
import * as path from "node:path";
import * as vscode from "vscode";
import { colourOf } from "./marks";
import type { Peer } from "./rpc";

/** One agent, as svc/work tells it. */
export interface Worker {
  root: string;
  repo: string;
  person: string;
  own: boolean;
  agent: string;
  session: string;
  intent: string;
  title: string;
  state: string;
  words: string;
  age: string;
  file: string;
  files: string[];
  page: string;
}

type Node = { worker: Worker } | { worker: Worker; file: string };

const looks: Record<string, string> = { blocked: "circle-slash", waits_for_person: "question", collides: "warning", waits_for_other: "clock", working: "sync" };

export class Work implements vscode.TreeDataProvider<Node>, vscode.FileDecorationProvider, vscode.Disposable {
  private workers: Worker[] = [];
  private asking = false;
  private again = false;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly badges = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly onDidChangeFileDecorations = this.badges.event;
  private readonly all: vscode.Disposable[];

  constructor(private readonly peer: () => Peer | undefined) {
    this.all = [
      this.changed,
      this.badges,
      vscode.window.registerTreeDataProvider("svc.work", this),
      vscode.window.registerFileDecorationProvider(this),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("svc.badges") && this.badges.fire(undefined)),
    ];
  }

  /** Asks again, once more if something changed while it was asking. */
  async refresh(): Promise<void> {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    do {
      this.again = false;
      try {
        this.workers = (await this.peer()?.request<Worker[]>("svc/work", {})) ?? [];
      } catch {
        this.workers = []; // svc lsp has said why
      }
    } while (this.again);
    this.asking = false;
    this.changed.fire();
    this.badges.fire(undefined);
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.workers.map((worker) => ({ worker }));
    return "file" in node ? [] : node.worker.files.map((file) => ({ worker: node.worker, file }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const w = node.worker;
    if ("file" in node) {
      const uri = vscode.Uri.file(path.join(w.root, node.file));
      const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.None);
      item.description = path.dirname(node.file) === "." ? "" : path.dirname(node.file);
      item.command = { title: "Open", command: "vscode.open", arguments: [uri] };
      return item;
    }
    const open = w.files.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None;
    const item = new vscode.TreeItem(`${w.own ? "Your agent" : w.person} · ${w.title || w.intent || w.agent}`, open);
    item.id = `${w.root}\n${w.session}`;
    item.description = `${w.agent}, ${w.state.replaceAll("_", " ")}, ${w.age}`;
    item.iconPath = new vscode.ThemeIcon(looks[w.state] ?? "circle-outline", new vscode.ThemeColor(colourOf(w.own ? "you" : w.person)));
    item.tooltip = [item.label, w.words].filter(Boolean).join("\n");
    item.command = files(w) ? undefined : { title: "Open the page", command: "svc.open", arguments: [w.root, w.page] };
    return item;
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== "file" || !vscode.workspace.getConfiguration("svc").get<boolean>("badges", true)) return undefined;
    const at = this.workers.filter((w) => !w.own && w.files.some((f) => path.join(w.root, f) === uri.fsPath));
    const people = [...new Set(at.map((w) => w.person))];
    if (people.length === 0) return undefined;
    const badge = people.length === 1 ? initials(people[0]!) : `${Math.min(people.length, 9)}`;
    return new vscode.FileDecoration(badge, `${people.join(", ")} ${people.length === 1 ? "is" : "are"} at work here`, new vscode.ThemeColor(colourOf(people[0]!)));
  }

  dispose(): void {
    for (const d of this.all) d.dispose();
  }
}

const files = (w: Worker): boolean => w.files.length > 0;

/** The first letters of a person's first and last name. */
export function initials(person: string): string {
  const words = person.split(/\s+/).filter(Boolean);
  const of = words.length > 1 ? [words[0]!, words.at(-1)!] : words;
  return of.map((w) => [...w][0]!.toUpperCase()).join("") || "•";
}
