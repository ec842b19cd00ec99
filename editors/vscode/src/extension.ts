// Others' work in VS Code. svc lsp knows it; this starts it and shows what it
// says where a language server alone cannot: in the gutter, the tree of files,
// the status bar, a list at the side and notifications.
import * as vscode from "vscode";
import { Attention } from "./attention";
import { Marks } from "./marks";
import { Server } from "./server";
import { Work } from "./work";

/** Commands of svc lsp that want words of the person, and what these are. */
const wordy: Record<string, string> = { "svc.message": "Message", "svc.ask": "Question" };

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("svc", { log: true });
  const marks = new Marks();
  const attention = new Attention((command, args) => server.run(command, args));
  const work: Work = new Work(() => server.peer);
  const server: Server = new Server(
    log,
    (peer) => {
      marks.clear();
      peer.on("svc/live", (p: Parameters<Marks["take"]>[0]) => marks.take(p));
      peer.on("svc/attention", (p: Parameters<Attention["take"]>[0]) => attention.take(p));
      peer.on("svc/workChanged", () => void work.refresh());
    },
    () => void work.refresh(),
  );
  const command = (name: string, run: (...args: never[]) => unknown) => vscode.commands.registerCommand(name, run);
  context.subscriptions.push(
    log, marks, work, server,
    command("svc.refresh", () => work.refresh()),
    command("svc.restart", () => server.restart()),
    command("svc.waiting", () => attention.list()),
    command("svc.who", () => {
      const here = marks.agents(vscode.window.activeTextEditor).map((a) => ({ label: a.says, description: a.work }));
      return vscode.window.showQuickPick(here, { placeHolder: here.length > 0 ? "At work in this file" : "Nobody else is at work in this file" });
    }),
    ...["svc.open", "svc.ack", "svc.wait", "svc.claim"].map((name) => command(name, (...args: unknown[]) => server.run(name, args))),
    ...Object.entries(wordy).map(([name, title]) =>
      command(name, async (...args: unknown[]) => {
        const words = await vscode.window.showInputBox({ title, ignoreFocusOut: true });
        if (words) await server.run(name, [...args.slice(0, 2), words]);
      }),
    ),
  );
  server.start();
}

export function deactivate(): void {
  // What is disposed of ends it.
}
