import { Textarea } from "@mantine/core";
import { call } from "../../api/client";
import { useDraft } from "../../lib/draft";
import { plural } from "../../lib/text";
import { useAction } from "../../ui/action";
import { Ask } from "../../ui/form";

/** One text to each of several, whom it reaches apart. To holds what a message is addressed to and how that is called. */
export function TellAll({ to, subject, draft, onClose, onDone = onClose }: { to: (readonly [string, string])[]; subject?: string; draft: string; onClose: () => void; onDone?: () => void }) {
  const [body, setBody, forget] = useDraft(draft);
  const all = new Map(to);
  const send = useAction(
    async () => {
      for (const one of all.keys()) await call("POST /v1/messages", { body: { to: one, subject, body: body.trim() } });
    },
    {
      says: `Sent: ${plural(all.size, "message")}.`,
      stale: ["conversations", "messages"],
      then: () => {
        forget();
        onDone();
      },
    },
  );
  return (
    <Ask opened onClose={onClose} title="Message all" confirm="Send" busy={send.isPending} disabled={!body.trim() || all.size === 0} onConfirm={() => send.mutate()}>
      <p className="dim">To {[...all.values()].join(", ") || "nobody: only code is hit"}.</p>
      <Textarea label="Message" required data-autofocus maxLength={4000} value={body} onChange={(e) => setBody(e.target.value)} dir="auto" />
    </Ask>
  );
}
