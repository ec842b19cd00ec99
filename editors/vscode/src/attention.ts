// What waits for the person: told once, answered where it is read.
import * as vscode from "vscode";

interface Item {
  id: string;
  kind: string;
  title: string;
  detail: string;
  ref: string | null;
  url: string;
}

type Run = (command: string, args: unknown[]) => Promise<void>;

/** What can be done about a kind of item without leaving the editor. */
const replies: Record<string, { label: string; prompt?: string; command: string }> = {
  question: { label: "Answer", prompt: "It goes to the agent that asked.", command: "svc.answer" },
  message: { label: "Reply", prompt: "To them and their agents.", command: "svc.answer" },
  conflict: { label: "Acknowledge", command: "svc.ack" },
};

export class Attention {
  private told = new Set<string>();
  private waiting: { root: string; item: Item }[] = [];

  constructor(private readonly run: Run) {}

  take({ root, items }: { root: string; items: Item[] }): void {
    this.waiting = [...this.waiting.filter((w) => w.root !== root), ...items.map((item) => ({ root, item }))];
    for (const item of items) {
      if (this.told.has(item.id)) continue;
      this.told.add(item.id);
      void this.show(root, item);
    }
  }

  /** Asks the person which of all that waits to look at. */
  async list(): Promise<void> {
    const picked = await vscode.window.showQuickPick(
      this.waiting.map(({ root, item }) => ({ label: item.title, detail: item.detail, root, item })),
      { placeHolder: this.waiting.length > 0 ? "What waits for you" : "Nothing waits for you" },
    );
    if (picked) await this.show(picked.root, picked.item);
  }

  private async show(root: string, item: Item): Promise<void> {
    const reply = item.ref ? replies[item.kind] : undefined;
    const chosen = await vscode.window.showInformationMessage(`svc: ${item.title}. ${item.detail}`, ...(reply ? [reply.label] : []), "Open");
    if (chosen === "Open") await vscode.env.openExternal(vscode.Uri.parse(item.url));
    if (!reply || chosen !== reply.label) return;
    if (!reply.prompt) return this.run(reply.command, [root, item.ref]);
    const words = await vscode.window.showInputBox({ title: item.title, prompt: `${item.detail} · ${reply.prompt}`, ignoreFocusOut: true });
    if (words) await this.run(reply.command, [root, item.ref, words]);
  }
}
