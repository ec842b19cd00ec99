import { Textarea } from "@mantine/core";
import type { ReactNode } from "react";
import { call } from "../../api/client";
import { useDraft } from "../../lib/draft";
import { useGet } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { plural } from "../../lib/text";
import { useAction } from "../../ui/action";
import { Ask } from "../../ui/form";

/** Whether the reader's role may override, in a repository or in the org, and whether it takes a reason. */
export function useOverriding(repo?: string): { may: boolean; needsReason: boolean } {
  const me = useMe();
  const rules = useGet("policies", "GET /v1/policies", { query: { repo } }).data?.effective;
  return { may: (rules?.["override.allowed_roles"] ?? ["owner", "admin"]).includes(me.org.role), needsReason: rules?.["override.require_reason"] ?? true };
}

interface Props {
  refs: string[];
  draft: string;
  needsReason?: boolean;
  share?: boolean; // the claim behind it becomes a shared one, and all whom it stops go on
  over?: boolean; // it ended while somebody wrote
  children?: ReactNode;
  onClose: () => void;
  onDone?: () => void;
}

/** Overrides one conflict, or several for one reason. */
export function OverrideDialog({ refs, draft, needsReason = true, share = false, over = false, children, onClose, onDone = onClose }: Props) {
  const [reason, setReason, forget] = useDraft(draft);
  const trimmed = reason.trim();
  const what = refs.length === 1 ? refs[0]! : plural(refs.length, "conflict");
  const override = useAction(
    async () => {
      for (const ref of refs) await call("POST /v1/conflicts/{ref}/override", { path: { ref }, body: { share, ...(trimmed && { reason: trimmed }) } });
    },
    {
      says: share ? "The claim is shared now. All sides may go on." : `${what} ${refs.length === 1 ? "is overridden. Both" : "overridden. All"} sides may go on.`,
      stale: ["conflicts", "conflict", "attention", "intents", "intent"],
      then: () => {
        forget();
        onDone();
      },
    },
  );
  const short = needsReason ? trimmed.length < 3 : trimmed.length > 0 && trimmed.length < 3;
  return (
    <Ask opened onClose={onClose} title={share ? "Share the claim?" : `Override ${what}?`} confirm={share ? "Share" : refs.length === 1 ? "Override" : "Override all"} danger busy={override.isPending} disabled={short || over} onConfirm={() => override.mutate()}>
      {children}
      <p className="dim">
        {refs.length > 1 && `${refs.join(", ")}. `}
        {share ? "It stays, but keeps nobody out any more: everybody whom it stops goes on. Who holds it is told, with your name and your reason." : `${refs.length === 1 ? "Both" : "All"} sides may go on until the evidence grows. The audit log keeps your name and your reason.`} Only people can do this; agents never can.
      </p>
      <Textarea label="Reason" required={needsReason} maxLength={2000} data-autofocus value={reason} onChange={(e) => setReason(e.target.value)} dir="auto" />
    </Ask>
  );
}
