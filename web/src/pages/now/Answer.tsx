// Answering what needs somebody where it stands. What is typed is kept.
import { Button, Textarea } from "@mantine/core";
import type { AttentionItem } from "../../api/records";
import { useDraft } from "../../lib/draft";
import { useAction } from "../../ui/action";

export function Answer({ item: i, label, hint, least, send, draft, stale, close }: { item: AttentionItem; label: string; hint: string; least: number; send: (i: AttentionItem, text: string) => Promise<unknown>; draft: string; stale: string[]; close: () => void }) {
  const [text, setText, forget] = useDraft(draft);
  const answer = useAction(() => send(i, text.trim()), { says: "Done.", stale, then: forget });
  return (
    <form
      className="need-do need-say"
      onSubmit={(e) => {
        e.preventDefault();
        answer.mutate();
      }}
    >
      <Textarea aria-label={`${label}: ${i.title}`} size="xs" minRows={1} autoFocus placeholder={hint} maxLength={2000} value={text} onChange={(e) => setText(e.target.value)} dir="auto" />
      <div className="row">
        <Button size="compact-xs" variant="subtle" onClick={close}>
          Close
        </Button>
        <Button size="compact-xs" type="submit" loading={answer.isPending} disabled={text.trim().length < least}>
          {label}
        </Button>
      </div>
    </form>
  );
}
