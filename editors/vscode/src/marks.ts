// Colours the lines that others are changing, by person, in the gutter and in
// the overview ruler, and says in the status bar how many are at work there.
import * as vscode from "vscode";
import type { Agent } from "./server";

/** The theme's colours for the ruler, and what comes near them for the gutter, where an image can follow no theme. */
const gutter: Record<string, string> = {
  "charts.blue": "#3794ff",
  "charts.purple": "#b180d7",
  "charts.green": "#4f9e5f",
  "charts.yellow": "#b89500",
  "charts.orange": "#d18616",
  "charts.red": "#e5534b",
};
const colours = Object.keys(gutter);

/** Gives each person one of six colours, the same in every window. */
export function colourOf(person: string): string {
  let sum = 0;
  for (const c of person) sum = (sum * 31 + c.codePointAt(0)!) % colours.length;
  return colours[sum]!;
}

const bar = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="6" width="4" height="16" rx="1" fill="COLOUR"/></svg>`;

const shows = (kind: string): boolean => vscode.workspace.getConfiguration("svc").get<boolean>(kind, true);

export class Marks implements vscode.Disposable {
  private readonly live = new Map<string, Agent[]>();
  private readonly types = new Map<string, vscode.TextEditorDecorationType>();
  private readonly status = vscode.window.createStatusBarItem("svc.status", vscode.StatusBarAlignment.Left, 0);
  private readonly all: vscode.Disposable[] = [this.status];

  constructor() {
    this.status.name = "svc";
    this.status.command = "svc.who";
    this.all.push(
      vscode.window.onDidChangeVisibleTextEditors(() => this.draw()),
      vscode.window.onDidChangeActiveTextEditor(() => this.draw()),
      vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("svc") && this.draw()),
      vscode.workspace.onDidCloseTextDocument((d) => this.live.delete(d.uri.toString())),
    );
  }

  take(p: { uri: string; agents: Agent[] }): void {
    this.live.set(vscode.Uri.parse(p.uri).toString(), p.agents);
    this.draw();
  }

  clear(): void {
    this.live.clear();
    this.draw();
  }

  agents(editor: vscode.TextEditor | undefined): Agent[] {
    return (editor && this.live.get(editor.document.uri.toString())) ?? [];
  }

  private type(colour: string): vscode.TextEditorDecorationType {
    let t = this.types.get(colour);
    if (!t) {
      const theme = new vscode.ThemeColor(colour);
      t = vscode.window.createTextEditorDecorationType({
        gutterIconPath: vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(bar.replace("COLOUR", gutter[colour]!)).toString("base64")}`),
        gutterIconSize: "contain",
        overviewRulerColor: theme,
        overviewRulerLane: vscode.OverviewRulerLane.Left,
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      });
      this.types.set(colour, t);
    }
    return t;
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) this.paint(editor);
    const here = this.agents(vscode.window.activeTextEditor);
    if (here.length === 0 || !shows("status")) {
      this.status.hide();
      return;
    }
    const meets = here.some((a) => a.meets);
    this.status.text = `$(${meets ? "warning" : "person"}) ${here.length} ${here.length === 1 ? "agent" : "agents"} here`;
    this.status.tooltip = here.map((a) => a.says).join("\n");
    this.status.backgroundColor = meets ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.status.show();
  }

  private paint(editor: vscode.TextEditor): void {
    const by = new Map<string, vscode.DecorationOptions[]>();
    if (shows("gutter")) {
      for (const a of this.agents(editor)) {
        const colour = colourOf(a.person);
        const list = by.get(colour) ?? [];
        by.set(colour, list);
        for (const l of a.lines) {
          const first = Math.min(l.start, editor.document.lineCount) - 1;
          const last = Math.min(Math.max(first, l.start + l.count - 2), editor.document.lineCount - 1);
          list.push({ range: new vscode.Range(first, 0, last, 0) });
        }
      }
    }
    for (const colour of colours) {
      if (by.has(colour) || this.types.has(colour)) editor.setDecorations(this.type(colour), by.get(colour) ?? []);
    }
  }

  dispose(): void {
    for (const d of [...this.all, ...this.types.values()]) d.dispose();
  }
}
