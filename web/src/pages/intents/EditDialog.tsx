// Editing an intent. It changes only the version that the reader has seen: if
// somebody was faster, both versions are shown and nothing is overwritten.
import { Alert, Button, Select, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call, isOutdated, versioned, type Versioned } from "../../api/client";
import type { Intent, IntentPatch, ScopeSet } from "../../api/records";
import { useDraft } from "../../lib/draft";
import { fieldError, useAction } from "../../ui/action";
import { Dialog, Form } from "../../ui/form";
import { Load } from "../../ui/page";
import { stale, type Props } from "./IntentDialogs";

const minus = (a: string[], b: string[]) => a.filter((x) => !b.includes(x));

/** What to add to and remove from a scope; nothing where nothing changed. */
export function scopeChange(before: ScopeSet, after: ScopeSet): Pick<IntentPatch, "scope_add" | "scope_remove"> {
  const out: Pick<IntentPatch, "scope_add" | "scope_remove"> = {};
  for (const part of ["paths", "symbols", "contracts"] as const) {
    const add = minus(after[part], before[part]);
    const remove = minus(before[part], after[part]);
    if (add.length) out.scope_add = { ...out.scope_add, [part]: add };
    if (remove.length) out.scope_remove = { ...out.scope_remove, [part]: remove };
  }
  return out;
}

interface Fields {
  title: string;
  summary: string;
  status: "active" | "in_review";
  paths: string[];
  symbols: string[];
  contracts: string[];
}

const fieldsOf = (i: Intent): Fields => ({ title: i.title, summary: i.summary ?? "", status: i.status === "in_review" ? "in_review" : "active", ...i.scope });
const labels: Record<keyof Fields, string> = { title: "Title", summary: "Summary", status: "Status", paths: "Paths", symbols: "Symbols", contracts: "Contracts" };
const names = Object.keys(labels) as (keyof Fields)[];
const shown = (v: string | string[]): string => (typeof v === "string" ? v.replace("in_review", "in review") : v.join(", ")) || "nothing";
const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What differs from what was read. */
function patchOf(before: Fields, after: Fields): IntentPatch {
  const body: IntentPatch = { ...scopeChange({ paths: before.paths, symbols: before.symbols, contracts: before.contracts }, { paths: after.paths, symbols: after.symbols, contracts: after.contracts }) };
  if (after.title !== before.title) body.title = after.title;
  if (after.summary !== before.summary) body.summary = after.summary;
  if (after.status !== before.status) body.status = after.status;
  return body;
}

export function EditDialog({ intent, onClose }: Props) {
  const key = ["editing", intent.ref];
  const read = useQuery({ queryKey: key, queryFn: ({ signal }) => versioned("GET /v1/intents/{ref}", { path: { ref: intent.ref }, signal }), staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false });
  return (
    <Dialog opened onClose={onClose} title={`Edit ${intent.ref}`}>
      <Load query={read}>{(base) => <Edit base={base} queryKey={key} onClose={onClose} />}</Load>
    </Dialog>
  );
}

function Edit({ base, queryKey, onClose }: { base: Versioned<Intent>; queryKey: string[]; onClose: () => void }) {
  const client = useQueryClient();
  const ref = base.value.ref;
  const theirs = fieldsOf(base.value);
  const [draft, setDraft, forget] = useDraft(`edit ${ref}`);
  const [start, setStart] = useState(theirs); // what the reader began from
  const [mine, setMine] = useState<Fields>(() => {
    try {
      return draft ? { ...theirs, ...(JSON.parse(draft) as Partial<Fields>) } : theirs;
    } catch {
      return theirs;
    }
  });
  const set = <K extends keyof Fields>(name: K, value: Fields[K]) => {
    const next = { ...mine, [name]: value };
    setMine(next);
    const changed = names.filter((n) => !equal(next[n], start[n]));
    setDraft(changed.length ? JSON.stringify(Object.fromEntries(changed.map((n) => [n, next[n]]))) : "");
  };
  // Somebody was faster: what the reader left alone follows, the rest is shown twice.
  const clashes = names.filter((n) => !equal(start[n], theirs[n]) && !equal(mine[n], start[n]) && !equal(mine[n], theirs[n]));
  const moved = names.some((n) => !equal(start[n], theirs[n]));
  useEffect(() => {
    if (!moved || clashes.length > 0) return;
    setMine((m) => ({ ...m, ...Object.fromEntries(names.filter((n) => equal(m[n], start[n])).map((n) => [n, theirs[n]])) }));
    setStart(theirs);
  });
  const take = (n: keyof Fields, value: Fields[keyof Fields]) => {
    setMine({ ...mine, [n]: value } as Fields);
    setStart({ ...start, [n]: theirs[n] } as Fields);
  };
  const save = useAction(() => call("PATCH /v1/intents/{ref}", { path: { ref }, body: patchOf(theirs, mine), ifMatch: base.etag }), {
    says: `${ref} is changed.`,
    stale,
    quietErrors: true,
    then: () => {
      forget();
      onClose();
    },
  });
  const outdated = isOutdated(save.error);
  useEffect(() => {
    if (outdated) void client.invalidateQueries({ queryKey });
  }, [outdated, client, queryKey]);
  const discard = () => {
    forget();
    setMine(theirs);
    setStart(theirs);
  };
  return (
    <Form onSubmit={() => save.mutate()} onCancel={onClose} confirm="Save" busy={save.isPending} disabled={clashes.length > 0} error={outdated ? null : save.error} fields={["title", "scope_add.paths"]}>
      {outdated && clashes.length === 0 && (
        <Alert color="yellow" role="status">
          Somebody changed {ref} while you were writing. Their changes are in the form now beside yours; look at it and save again.
        </Alert>
      )}
      {clashes.length > 0 && (
        <Alert color="yellow" role="alert" title={`Somebody changed ${ref} while you were writing`}>
          Nothing is overwritten. Choose for each:
          {clashes.map((n) => (
            <div key={n} className="clash" role="group" aria-label={labels[n]}>
              <b>{labels[n]}</b>
              <div>
                <span className="dim">Theirs</span> <span dir="auto">{shown(theirs[n])}</span>{" "}
                <Button size="compact-xs" variant="default" onClick={() => take(n, theirs[n])}>
                  Take theirs
                </Button>
              </div>
              <div>
                <span className="dim">Yours</span> <span dir="auto">{shown(mine[n])}</span>{" "}
                <Button size="compact-xs" variant="default" onClick={() => take(n, mine[n])}>
                  Keep yours
                </Button>
              </div>
            </div>
          ))}
        </Alert>
      )}
      {draft !== "" && !outdated && (
        <p className="dim row">
          <span className="grow">What you changed is kept until you save it.</span>
          <Button size="compact-xs" variant="subtle" onClick={discard}>
            Discard
          </Button>
        </p>
      )}
      <TextInput label="Title" required maxLength={200} data-autofocus value={mine.title} onChange={(e) => set("title", e.target.value)} error={fieldError(save.error, "title")} dir="auto" />
      <Textarea label="Summary" maxLength={2000} value={mine.summary} onChange={(e) => set("summary", e.target.value)} dir="auto" />
      <Select
        label="Status"
        allowDeselect={false}
        value={mine.status}
        onChange={(v) => set("status", v === "in_review" ? "in_review" : "active")}
        data={[
          { value: "active", label: "Active" },
          { value: "in_review", label: "In review" },
        ]}
      />
      <TagsInput label="Paths" description="Globs from the root of the repo. Enter adds one." maxTags={200} value={mine.paths} onChange={(v) => set("paths", v)} error={fieldError(save.error, "scope_add.paths")} />
      <TagsInput label="Symbols" maxTags={200} value={mine.symbols} onChange={(v) => set("symbols", v)} />
      <TagsInput label="Contracts" maxTags={200} value={mine.contracts} onChange={(v) => set("contracts", v)} />
    </Form>
  );
}
