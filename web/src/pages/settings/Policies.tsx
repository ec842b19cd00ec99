// The policy as a form: what is set here, what is inherited, what is default.
import { Alert, Button, MultiSelect, NumberInput, SegmentedControl, Select, TagsInput } from "@mantine/core";
import { IconArrowBackUp } from "../../ui/icons.gen";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { call, isOutdated, versioned } from "../../api/client";
import type { ConflictKind, Policies as PolicyAnswer, Role, Rules, Severity } from "../../api/records";
import { useDraft } from "../../lib/draft";
import { useRepos } from "../../lib/queries";
import { useMe } from "../../lib/session";
import { conflictKind } from "../../lib/text";
import { useFilter } from "../../lib/url";
import { Pill, SeverityPill } from "../../ui/bits";
import { useAction } from "../../ui/action";
import { Load, Section } from "../../ui/page";
import { failed } from "../../ui/toast";

type Name = keyof Rules;
type Source = "own" | "org" | "default";

interface Rule {
  name: Name;
  label: string;
  help: string;
  wide?: boolean; // the input needs the whole row
  input: Input;
}

type Input = (value: unknown, set: (v: unknown) => void, label: string) => ReactNode;

// The value of a rule is of the type that its row in the table draws.
const input = <T,>(draw: (value: T, set: (v: T) => void, label: string) => ReactNode): Input => draw as unknown as Input;

const choice = (options: [string, string][]) =>
  input<string>((value, set, label) => <SegmentedControl size="xs" aria-label={label} value={value} onChange={set} data={options.map(([v, l]) => ({ value: v, label: l }))} />);
const number = (min: number, max: number, unit: string) =>
  input<number>((value, set, label) => (
  <NumberInput size="xs" w={150} aria-label={label} min={min} max={max} clampBehavior="strict" allowDecimal={false} suffix={` ${unit}`} value={value} onChange={(v) => typeof v === "number" && set(v)} />
  ));
const yesNo = input<boolean>((value, set, label) => (
  <SegmentedControl size="xs" aria-label={label} value={value ? "yes" : "no"} onChange={(v) => set(v === "yes")} data={[{ value: "yes", label: "Yes" }, { value: "no", label: "No" }]} />
));
const percent = input<number>((value, set, label) => (
  <NumberInput size="xs" w={150} aria-label={label} min={5} max={100} clampBehavior="strict" allowDecimal={false} suffix=" %" value={Math.round(value * 100)} onChange={(v) => typeof v === "number" && set(v / 100)} />
));
const worth = input<number>((value, set, label) => <NumberInput size="xs" w={150} aria-label={label} min={0} max={1000} clampBehavior="strict" decimalScale={2} value={value} onChange={(v) => typeof v === "number" && set(v)} />);
const currency = input<string>((value, set, label) => <Select size="xs" w={150} aria-label={label} allowDeselect={false} value={value} onChange={(v) => v && set(v)} data={["AUD", "BRL", "CAD", "CHF", "CNY", "EUR", "GBP", "INR", "JPY", "KRW", "PLN", "SEK", "USD"]} />);
const levels: [string, string][] = [
  ["off", "Off"],
  ["warn", "Warn"],
  ["block", "Block"],
];

const groups: { title: string; sub: string; rules: Rule[] }[] = [
  {
    title: "Enforcement",
    sub: "What svc may do to an agent that is about to edit.",
    rules: [
      { name: "enforcement", label: "At most", help: "The ceiling for every answer before an edit. Warn lets nothing be blocked.", input: choice(levels) },
      { name: "require_intent", label: "Editing without a declared intent", help: "Off leaves agents alone that announce nothing.", input: choice(levels) },
      { name: "shared_clone_guard", label: "Git commands over another agent's uncommitted work", help: "In a working copy that several agents share. Block refuses what would discard it and warns of what would commit it.", input: choice(levels) },
      { name: "cross_repo_contracts", label: "Breaking a contract of a linked repo", help: "When one repo changes what another one uses.", input: choice(levels) },
      { name: "exclusive_max_files", label: "An exclusive claim covers at most", help: "Larger exclusive claims count as shared.", input: number(0, 10000, "files") },
    ],
  },
  {
    title: "Overrides",
    sub: "A person can let both sides go on. An agent never can.",
    rules: [
      {
        name: "override.allowed_roles",
        label: "Who may override",
        help: "Roles of people.",
        input: input<Role[]>((value, set, label) => <MultiSelect size="xs" w={260} aria-label={label} value={value} onChange={(v) => set(v as Role[])} data={["owner", "admin", "member"]} />),
      },
      { name: "override.require_reason", label: "A reason is needed", help: "It is kept in the audit log.", input: yesNo },
    ],
  },
  {
    title: "Sessions and intents",
    sub: "When work counts as live.",
    rules: [
      { name: "auto_draft", label: "Draft an intent from the first prompt", help: "Teammates see that somebody works there, not what was typed.", input: yesNo },
      { name: "session_idle_minutes", label: "An agent is idle after", help: "Without any event.", input: number(1, 1440, "minutes") },
      { name: "intent_expire_hours", label: "An intent expires after", help: "Without activity. Its claims are released.", input: number(1, 2160, "hours") },
      { name: "review_expire_days", label: "In review it expires after", help: "Without activity.", input: number(1, 90, "days") },
      { name: "retention_days", label: "Forget what is over after", help: "Events, ended sessions and conflicts that ended by themselves. Daily figures stay. The org's rule alone counts.", input: number(30, 36500, "days") },
      {
        name: "stale_write",
        label: "An edit that would undo another agent's fresh lines",
        help: "In a shared working copy. Refused once; after a fresh read the same edit passes.",
        input: choice([
          ["refuse", "Is refused once"],
          ["warn", "Warns"],
          ["off", "Passes"],
        ]),
      },
      {
        name: "merge_check",
        label: "Check merged work in the background",
        help: "An agent's machine merges related work in a scratch folder and runs the languages' checkers. Nothing of it leaves the machine.",
        input: choice([
          ["off", "Never"],
          ["own", "With one's own other working copies"],
          ["pushed", "Also with others' branches in the clone"],
        ]),
      },
      {
        name: "share_patches",
        label: "Share unpushed work for merge checks",
        help: "Machines whose work is related hand each other the difference. Kept encrypted while the work lives, shown to nobody.",
        input: choice([
          ["off", "Never"],
          ["team", "Within the team"],
        ]),
      },
      {
        name: "pull_request_report",
        label: "Show live conflicts on pull requests as",
        help: "On GitHub, kept up to date in place.",
        input: choice([
          ["off", "Nothing"],
          ["comment", "A comment"],
          ["check", "A check"],
        ]),
      },
      {
        name: "claims_at_merge",
        label: "Commits that change what somebody else holds exclusively",
        help: "In the check on pull requests, and where a git server runs svc check --push.",
        input: choice([
          ["fail", "Fail the check"],
          ["warn", "Are reported"],
          ["off", "Pass"],
        ]),
      },
    ],
  },
  {
    title: "Learning from verdicts",
    sub: "A kind that people keep calling a false alarm drops one step in that repo.",
    rules: [
      { name: "feedback_threshold", label: "It drops when false alarms reach", help: "Of all verdicts on that kind.", input: percent },
      { name: "feedback_min_verdicts", label: "After at least", help: "Fewer change nothing.", input: number(1, 1000, "verdicts") },
      {
        name: "severity_pinned",
        label: "Kinds that never drop",
        help: "Whatever the verdicts say.",
        input: input<ConflictKind[]>((value, set, label) => <MultiSelect size="xs" w={260} aria-label={label} value={value} onChange={(v) => set(v as ConflictKind[])} data={Object.entries(conflictKind).map(([v, k]) => ({ value: v, label: k.name }))} />),
      },
    ],
  },
  {
    title: "Time saved",
    sub: "How the estimate on the stats page and in the digest is made. The org's rules alone count.",
    rules: [
      { name: "time_saved.minutes", label: "A conflict settled in time counts for", help: "0 hides the figure everywhere.", input: number(0, 480, "minutes") },
      { name: "time_saved.minute_worth", label: "A minute is worth", help: "To show the figure as money too; 0 shows none.", input: worth },
      { name: "time_saved.currency", label: "Currency", help: "Of what a minute is worth.", input: currency },
    ],
  },
  {
    title: "Ignored paths",
    sub: "Nothing is reported under them.",
    rules: [
      {
        name: "ignore_paths",
        label: "Globs",
        help: "Lock files, generated and vendored code. Enter adds one.",
        wide: true,
        input: input<string[]>((value, set, label) => <TagsInput size="xs" aria-label={label} maxTags={200} value={value} onChange={set} />),
      },
    ],
  },
];

export function Policies() {
  const [repo, setRepo] = useFilter("repo");
  const repos = useRepos();
  const policy = useQuery({ queryKey: ["policies", "versioned", repo], queryFn: ({ signal }) => versioned("GET /v1/policies", { query: { repo }, signal }) });
  return (
    <>
      <Section
        title="Policies"
        sub={repo ? `Rules of ${repo}. What it does not set comes from the org.` : "Rules of the org. Every repo follows them unless it sets its own."}
        actions={<Select aria-label="Rules of" size="xs" w={220} value={repo || ""} onChange={setRepo} allowDeselect={false} data={[{ value: "", label: "The whole org" }, ...(repos.data?.items ?? []).map((r) => ({ value: r.full_name, label: r.full_name }))]} />}
      >
        <div className="wrap dim legend-row">
          <Pill tone="accent">set here</Pill> <Pill tone="info">from the org</Pill> <Pill tone="quiet">default</Pill>
        </div>
      </Section>
      <Load query={policy}>{({ value, etag }) => <Form key={repo} answer={value} etag={etag} repo={repo} />}</Load>
    </>
  );
}

/** The rules that two versions do not agree about. */
const differing = (a: Rules, b: Rules): Name[] => ([...new Set([...Object.keys(a), ...Object.keys(b)])] as Name[]).filter((n) => JSON.stringify(a[n]) !== JSON.stringify(b[n]));
const withRule = (rules: Rules, name: Name, value: unknown): Rules => {
  const { [name]: _, ...rest } = rules;
  return value === undefined ? rest : { ...rest, [name]: value };
};

function Form({ answer, etag, repo }: { answer: PolicyAnswer; etag: string; repo: string }) {
  const me = useMe();
  const client = useQueryClient();
  const stored = useMemo<Rules>(() => (repo ? answer.repo : answer.org) as Rules, [answer, repo]);
  const above = (repo ? answer.org : {}) as Rules; // what the org sets for this repo
  const [draft, setDraft, forget] = useDraft(`policy ${repo || "org"}`);
  const [start, setStart] = useState<Rules>(stored); // what the reader began from
  const [own, setOwnRules] = useState<Rules>(() => fromDraft(draft, stored));
  const setOwn = (rules: Rules) => {
    setOwnRules(rules);
    const changed = differing(rules, stored);
    setDraft(changed.length ? JSON.stringify(Object.fromEntries(changed.map((n) => [n, rules[n] ?? null]))) : "");
  };
  // Somebody else put rules in force: those the reader did not touch follow, the others are shown twice.
  const clashes = differing(start, stored).filter((n) => JSON.stringify(own[n]) !== JSON.stringify(start[n]) && JSON.stringify(own[n]) !== JSON.stringify(stored[n]));
  useEffect(() => {
    if (start === stored || clashes.length > 0) return;
    setOwnRules((mine) => differing(start, stored).reduce((rules, n) => (JSON.stringify(mine[n]) === JSON.stringify(start[n]) ? withRule(rules, n, stored[n]) : rules), mine));
    setStart(stored);
  }, [start, stored, clashes.length]);
  const choose = (n: Name, value: unknown) => {
    setOwn(withRule(own, n, value));
    setStart(withRule(start, n, stored[n]));
  };
  const save = useAction(() => call("PUT /v1/policies", { query: { repo }, body: { rules: own }, ifMatch: etag }), { says: "The policy is in force.", stale: ["policies"], quietErrors: true, then: forget });
  const outdated = isOutdated(save.error);
  const { error } = save;
  useEffect(() => {
    if (!error) return;
    if (isOutdated(error)) void client.invalidateQueries({ queryKey: ["policies"] });
    else failed(error);
  }, [error, client]);
  const dirty = differing(own, stored).length > 0;
  const shown = (name: Name): unknown => own[name] ?? above[name] ?? answer.defaults[name];
  const source = (name: Name): Source => (own[name] !== undefined ? "own" : above[name] !== undefined ? "org" : "default");
  const set = (name: Name) => (value: unknown) => setOwn({ ...own, [name]: value });
  const clear = (name: Name) => {
    const { [name]: _, ...rest } = own;
    setOwn(rest);
  };
  return (
    <fieldset disabled={!me.isAdmin} className="policy">
      {outdated && clashes.length === 0 && dirty && (
        <Alert color="yellow" role="status" mb="md">
          Somebody else put rules in force while you were at it. Theirs are shown now beside yours; look at them and put yours in force again.
        </Alert>
      )}
      {clashes.length > 0 && (
        <Alert color="yellow" role="alert" mb="md" title="Somebody else put rules in force while you were at it">
          Nothing is overwritten. Choose for each:
          {clashes.map((n) => (
            <div key={n} className="clash" role="group" aria-label={ruleName(n)}>
              <b>{ruleName(n)}</b>
              <div>
                <span className="dim">Theirs</span> {said(stored[n])}{" "}
                <Button size="compact-xs" variant="default" onClick={() => choose(n, stored[n])}>
                  Take theirs
                </Button>
              </div>
              <div>
                <span className="dim">Yours</span> {said(own[n])}{" "}
                <Button size="compact-xs" variant="default" onClick={() => choose(n, own[n])}>
                  Keep yours
                </Button>
              </div>
            </div>
          ))}
        </Alert>
      )}
      {groups.map((g) => (
        <Section key={g.title} title={g.title} sub={g.sub} pad={false}>
          {g.rules.map((r) => (
            <RuleRow key={r.name} label={r.label} help={r.help} wide={r.wide} source={source(r.name)} onClear={() => clear(r.name)}>
              {r.input(shown(r.name), set(r.name), r.label)}
            </RuleRow>
          ))}
        </Section>
      ))}
      <Severities
        own={own.severity ?? {}}
        above={above.severity ?? {}}
        defaults={answer.defaults.severity}
        feedback={answer.feedback}
        set={(severity) => {
          const { severity: _, ...rest } = own;
          setOwn(Object.keys(severity).length ? { ...rest, severity } : rest);
        }}
      />
      {me.isAdmin && (
        <div className={dirty ? "save-bar save-bar-on" : "save-bar"}>
          <span className="grow dim">{dirty ? "You have changes that are not in force yet." : "Everything here is in force."}</span>
          <Button variant="default" disabled={!dirty} onClick={() => (setOwn(stored), setStart(stored))}>
            Discard
          </Button>
          <Button disabled={!dirty || clashes.length > 0} loading={save.isPending} onClick={() => save.mutate()}>
            Put in force
          </Button>
        </div>
      )}
    </fieldset>
  );
}

const ruleName = (n: Name): string => groups.flatMap((g) => g.rules).find((r) => r.name === n)?.label ?? (n === "severity" ? "Severity by kind" : n);
const said = (v: unknown): string => (v === undefined ? "inherited" : typeof v === "string" ? v : Array.isArray(v) ? v.join(", ") || "nothing" : JSON.stringify(v));

/** The rules with what somebody changed and did not put in force. */
function fromDraft(draft: string, stored: Rules): Rules {
  try {
    return Object.entries(draft ? (JSON.parse(draft) as Record<string, unknown>) : {}).reduce((rules, [n, v]) => withRule(rules, n as Name, v === null ? undefined : v), stored);
  } catch {
    return stored;
  }
}

function RuleRow({ label, help, wide, source, onClear, children }: { label: ReactNode; help: string; wide?: boolean; source: Source; onClear: () => void; children: ReactNode }) {
  return (
    <div className={wide ? "rule rule-wide" : "rule"}>
      <div className="rule-text">
        <div className="rule-label">{label}</div>
        <div className="dim">{help}</div>
      </div>
      <div className="rule-input">{children}</div>
      <div className="rule-source">
        <Pill tone={source === "own" ? "accent" : source === "org" ? "info" : "quiet"}>{source === "own" ? "set here" : source === "org" ? "from the org" : "default"}</Pill>
        {source === "own" && (
          <button type="button" className="icon-button" aria-label="Back to what is inherited" title="Back to what is inherited" onClick={onClear}>
            <IconArrowBackUp size={15} />
          </button>
        )}
      </div>
    </div>
  );
}

type SeverityMap = Record<string, Severity>;

function Severities({ own, above, defaults, feedback, set }: { own: SeverityMap; above: SeverityMap; defaults: SeverityMap; feedback: PolicyAnswer["feedback"]; set: (s: SeverityMap) => void }) {
  const kinds = Object.keys(conflictKind) as ConflictKind[];
  return (
    <Section title="Severity by kind" sub="Info is listed and never interrupts. Warn is told once. Block stops the edit." pad={false}>
      {kinds.map((k) => {
        const clear = () => {
          const { [k]: _, ...rest } = own;
          set(rest);
        };
        const said = feedback.find((f) => f.kind === k);
        return (
          <RuleRow key={k} label={conflictKind[k].name} help={conflictKind[k].means + (said ? ` ${verdictsOf(said)}` : "")} source={own[k] ? "own" : above[k] ? "org" : "default"} onClear={clear}>
            <Select
              size="xs"
              w={120}
              aria-label={`Severity of ${conflictKind[k].name}`}
              allowDeselect={false}
              value={own[k] ?? above[k] ?? defaults[k] ?? "warn"}
              onChange={(v) => v && set({ ...own, [k]: v as Severity })}
              data={[
                { value: "off", label: "Off" },
                { value: "info", label: "Info" },
                { value: "warn", label: "Warn" },
                { value: "block", label: "Block" },
              ]}
              renderOption={({ option }) => <SeverityPill severity={option.value as Severity} />}
            />
          </RuleRow>
        );
      })}
    </Section>
  );
}

function verdictsOf(f: PolicyAnswer["feedback"][number]): string {
  const all = f.useful + f.false_positive + f.too_late;
  return `${f.useful} of ${all} people found it useful here.${f.demoted ? " So many false alarms lowered it by a step." : ""}`;
}
