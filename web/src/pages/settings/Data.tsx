import { Radio } from "@mantine/core";
import { useState } from "react";
import { call } from "../../api/client";
import { useMe } from "../../lib/session";
import { useAction } from "../../ui/action";
import { Ask } from "../../ui/form";
import { Section } from "../../ui/page";

export function Data() {
  const me = useMe();
  const [wanted, setWanted] = useState<"full" | "metadata_only" | null>(null);
  const change = useAction((mode: "full" | "metadata_only") => call("PATCH /v1/org", { body: { data_mode: mode } }), {
    says: "Changed how much may leave the machines.",
    stale: ["session"],
    then: () => setWanted(null),
  });
  const may = me.org.role === "owner";
  return (
    <Section title="What leaves your machines" sub="Code never does. This decides about the text of signatures and prompts.">
      <Radio.Group aria-label="Data mode" value={me.org.data_mode} onChange={(v) => setWanted(v as "full" | "metadata_only")}>
        <div className="stack">
          <Radio value="full" disabled={!may} label="Signatures too" description="Conflicts show the changed signatures before and after. Drafts are titled from the prompt." />
          <Radio value="metadata_only" disabled={!may} label="Metadata only" description="Only paths, line numbers, names and hashes leave a machine. Evidence shows hashes instead of signatures." />
        </div>
      </Radio.Group>
      {!may && <p className="dim">Only an owner may change this.</p>}
      <Ask opened={wanted !== null} onClose={() => setWanted(null)} title={wanted === "full" ? "Let signatures leave the machines?" : "Keep to metadata?"} confirm="Change it" danger={wanted !== "full"} busy={change.isPending} onConfirm={() => wanted && change.mutate(wanted)}>
        <p className="dim">{wanted === "full" ? "From now on agents send the text of changed signatures." : "Signature texts that are stored now are deleted at once, and this cannot be undone."}</p>
      </Ask>
    </Section>
  );
}
