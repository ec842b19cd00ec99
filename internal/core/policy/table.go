// Package policy holds the rules that an org or a repo may set: their names,
// types, ranges and defaults, how they are read, and how those of org and repo
// merge into what is in effect. It decides nothing itself; the engine and the
// operations ask it.
package policy

import (
	"encoding/json"
	"fmt"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Type is the form of a rule's value.
type Type string

const (
	Boolean  Type = "boolean"
	Integer  Type = "integer"
	Number   Type = "number"
	Choice   Type = "choice"   // one of Values
	Choices  Type = "choices"  // a list of Values
	Choosing Type = "choosing" // an object from Keys to Values
	Globs    Type = "globs"    // a list of path globs
	Ranges   Type = "ranges"   // an object from kinds of resources to ranges of numbers
)

// A Rule is one row of the table from which validation, defaults and the
// documentation derive.
type Rule struct {
	Name     string
	Type     Type
	Default  any
	Min, Max float64  // of Integer and Number; the most items of a list is Max
	Keys     []string // of Choosing
	Values   []string // of Choice, Choices and Choosing
	Doc      string
}

// Form tells in words what the rule's value must be.
func (r Rule) Form() string {
	switch r.Type {
	case Integer:
		return fmt.Sprintf("a whole number from %g to %g", r.Min, r.Max)
	case Number:
		return fmt.Sprintf("a number from %g to %g", r.Min, r.Max)
	case Choice:
		return "one of " + list(r.Values)
	case Choices:
		return "a list of " + list(r.Values)
	case Choosing:
		return "an object from conflict kinds to one of " + list(r.Values)
	case Ranges:
		return "an object from kinds of resources to ranges such as 3000-3099"
	case Globs:
		return fmt.Sprintf("a list of at most %g path globs", r.Max)
	}
	return "true or false"
}

// Table returns every rule, in the order of the documentation.
func Table() []Rule {
	levels := []string{"off", "warn", "block"}
	kinds := coord.ConflictKind("").Enum()
	return []Rule{
		{Name: "override.require_reason", Type: Boolean, Default: true,
			Doc: "A person who overrides a conflict must say why."},
		{Name: "override.allowed_roles", Type: Choices, Values: coord.Role("").Enum(), Default: []string{"owner", "admin"},
			Doc: "Who may override a conflict. Agents never may."},
		{Name: "session_idle_minutes", Type: Integer, Min: 1, Max: 1440, Default: 30,
			Doc: "A session without hook events for this long is idle."},
		{Name: "exclusive_max_files", Type: Integer, Min: 0, Max: 10000, Default: 50,
			Doc: "An exclusive claim is honoured when it covers at most this many files."},
		{Name: "exclusive_grace_minutes", Type: Integer, Min: 1, Max: 10080, Default: 120,
			Doc: "An exclusive claim in somebody's way, whose last session has ended, is shared after this long without a sign of life."},
		{Name: "ignore_case", Type: Boolean, Default: false,
			Doc: "Paths that differ in case alone are one file. Where it is not set, a client whose git says core.ignorecase turns it on."},
		{Name: "cross_repo_contracts", Type: Choice, Values: levels, Default: "warn",
			Doc: "What a contract break does when the code that depends on it is in a linked repo."},
		{Name: "enforcement", Type: Choice, Values: levels, Default: "block",
			Doc: "The most that a hook may answer."},
		{Name: "severity", Type: Choosing, Keys: kinds, Values: coord.Severity("").Enum(), Default: DefaultSeverities(),
			Doc: "What a conflict of each kind does. Kinds that are left out keep what they have."},
		{Name: "severity_pinned", Type: Choices, Values: kinds, Default: []string{string(coord.ExclusiveClaim)},
			Doc: "Kinds that keep their severity whatever the feedback says. Setting it replaces the default list."},
		{Name: "feedback_threshold", Type: Number, Min: 0.05, Max: 1, Default: 0.5,
			Doc: "A kind drops one severity step in a repo when this share of its verdicts is a false alarm (false_positive)."},
		{Name: "feedback_min_verdicts", Type: Integer, Min: 1, Max: 1000, Default: 10,
			Doc: "Fewer verdicts than this change no severity."},
		{Name: "require_intent", Type: Choice, Values: levels, Default: "off",
			Doc: "What editing without a declared intent does."},
		{Name: "resource_ranges", Type: Ranges, Max: 50, Default: map[string]string{"port": "3100-3999"},
			Doc: "The numbers that `res:<kind>:*` in a scope hands out, by kind. Kinds that are left out keep what they have."},
		{Name: "shared_clone_guard", Type: Choice, Values: levels, Default: "block",
			Doc: "What a git command does that would hit uncommitted work of another agent in the same working copy. " +
				"With block, one that discards it (stash, reset --hard, checkout, restore, clean, rebase --abort; also in a submodule or " +
				"another worktree) or takes a stash that the other made (stash pop, drop, clear) is refused, and one that commits it (add -A, " +
				"commit -a, commit of what the other staged), moves it onto another commit (switch, merge, pull, rebase, " +
				"cherry-pick, am) or mixes other changes into it (stash pop, apply) warns; with warn all only warn."},
		{Name: "auto_draft", Type: Boolean, Default: true,
			Doc: "The first prompt of a session without an intent drafts one."},
		{Name: "ignore_paths", Type: Globs, Max: 200, Default: DefaultIgnorePaths(),
			Doc: "Paths that raise no conflicts. Setting it replaces the default list."},
		{Name: "intent_expire_hours", Type: Integer, Min: 1, Max: 2160, Default: 72,
			Doc: "A live intent without activity for this long expires."},
		{Name: "review_expire_days", Type: Integer, Min: 1, Max: 90, Default: 14,
			Doc: "An intent in review without activity for this long expires."},
		{Name: "pull_request_report", Type: Choice, Values: []string{ReportOff, ReportComment, ReportCheck}, Default: ReportComment,
			Doc: "How live conflicts are shown on a pull or merge request: one comment, " +
				"or a check run (a commit status where there is no app), kept up to date in place."},
		{Name: "claims_at_merge", Type: Choice, Values: []string{MergeFail, MergeWarn, MergeOff}, Default: MergeFail,
			Doc: "What the check on a pull or merge request (`pull_request_report` check) and `svc check --push` on a git server say of commits " +
				"that change what somebody else holds exclusively, or that carry an edit which no hook checked while a claim stood against it: " +
				"fail stops the merge or the push, warn only reports it. They pass as soon as the claim ends or a person overrides the conflict. " +
				"Where `enforcement` is not block, fail only warns."},
		{Name: "retention_days", Type: Integer, Min: 30, Max: 36500, Default: 730,
			Doc: "Events, ended sessions and conflicts that ended by themselves are forgotten after this long. " +
				"An org's rule alone counts; daily figures stay."},
		{Name: "merge_check", Type: Choice, Values: []string{MergeCheckOff, MergeCheckOwn, MergeCheckPushed}, Default: MergeCheckOwn,
			Doc: "Whose work an agent's machine merges with the agent's own, in a scratch folder and in the background, to have the languages' " +
				"checkers look at it: own is that of the same person's other working copies there, pushed also that of others' branches, " +
				"fetched into a folder of svc's own. Only work that the facts relate is checked. Off where the org shares metadata only."},
		{Name: "share_patches", Type: Choice, Values: []string{SharePatchesOff, SharePatchesTeam}, Default: SharePatchesOff,
			Doc: "Whether members' machines may hand each other work that is not pushed, for `merge_check` alone. With team, a machine whose work " +
				"the facts relate to that of another sends the difference of the files concerned; the server keeps it encrypted for as long as the " +
				"intent or session lives, gives it only to machines whose work is related to it, shows it to nobody, and deletes it with the work. " +
				"Off where the org shares metadata only, or where `merge_check` is off."},
		{Name: "stale_write", Type: Choice, Values: []string{StaleRefuse, StaleWarn, StaleOff}, Default: StaleRefuse,
			Doc: "What an edit does that would undo lines which another agent in the same working copy changed since the session last read " +
				"the file: refuse stops it once, and it passes after a fresh read."},
		{Name: "time_saved.minutes", Type: Integer, Min: 0, Max: 480, Default: 30,
			Doc: "How many minutes each conflict that was told and settled in time counts for, in the figure of time saved. 0 hides the " +
				"figure. An org's rule alone counts."},
		{Name: "time_saved.minute_worth", Type: Number, Min: 0, Max: 1000, Default: 0,
			Doc: "What a minute is worth, to show time saved as money too. 0 shows none. An org's rule alone counts."},
		{Name: "time_saved.currency", Type: Choice, Values: currencies(), Default: "USD",
			Doc: "The currency of time_saved.minute_worth. An org's rule alone counts."},
	}
}

func currencies() []string {
	return []string{"AUD", "BRL", "CAD", "CHF", "CNY", "EUR", "GBP", "INR", "JPY", "KRW", "PLN", "SEK", "USD"}
}

// Values of pull_request_report.
const (
	ReportOff     = "off"
	ReportComment = "comment"
	ReportCheck   = "check"
)

// Values of claims_at_merge.
const (
	MergeFail = "fail"
	MergeWarn = "warn"
	MergeOff  = "off"
)

// Values of stale_write.
const (
	StaleRefuse = "refuse"
	StaleWarn   = "warn"
	StaleOff    = "off"
)

// Values of merge_check.
const (
	MergeCheckOff    = "off"
	MergeCheckOwn    = "own"
	MergeCheckPushed = "pushed"
)

// Values of share_patches.
const (
	SharePatchesOff  = "off"
	SharePatchesTeam = "team"
)

// DefaultSeverities returns what a conflict of each kind does by default.
func DefaultSeverities() map[coord.ConflictKind]coord.Severity {
	return map[coord.ConflictKind]coord.Severity{
		coord.ExclusiveClaim:  coord.SeverityBlock,
		coord.EditOverlap:     coord.SeverityWarn,
		coord.SymbolOverlap:   coord.SeverityWarn,
		coord.ContractOverlap: coord.SeverityWarn,
		coord.ContractBreak:   coord.SeverityWarn,
		coord.DependencyOrder: coord.SeverityWarn,
		coord.PathOverlap:     coord.SeverityInfo,
		coord.DuplicateWork:   coord.SeverityInfo,
		coord.RebaseNeeded:    coord.SeverityInfo,
	}
}

// DefaultIgnorePaths returns what raises no conflicts unless a policy says
// otherwise: lock files, and generated and vendored folders. They conflict
// often and are made again rather than merged.
func DefaultIgnorePaths() []string {
	return []string{
		"**/package-lock.json", "**/npm-shrinkwrap.json", "**/yarn.lock", "**/pnpm-lock.yaml", "**/bun.lock", "**/bun.lockb",
		"**/go.sum", "**/go.work.sum", "**/Cargo.lock", "**/poetry.lock", "**/uv.lock", "**/pdm.lock", "**/Pipfile.lock",
		"**/Gemfile.lock", "**/composer.lock", "**/mix.lock", "**/pubspec.lock", "**/Podfile.lock", "**/Package.resolved",
		"**/packages.lock.json", "**/gradle.lockfile", "**/flake.lock", "**/deno.lock",
		"**/node_modules/**", "**/vendor/**", "**/third_party/**", "**/dist/**", "**/__pycache__/**", "**/.venv/**",
		"**/.next/**", "**/.terraform/**", "**/*.min.js", "**/*.min.css", "**/*.map", "**/*.snap",
		"**/*.pb.go", "**/*_pb2.py", "**/*_pb2_grpc.py", "**/*.pb.cc", "**/*.pb.h", "**/*.g.dart",
		"**/__generated__/**", "**/*.generated.*", "**/.svc/**",
	}
}

// defaults is made at first use: every start of svc would pay for it.
var defaults = lazy.Table[Effective]{Make: func() Effective {
	all := map[string]any{}
	for _, r := range Table() {
		all[r.Name] = r.Default
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // the table is ours: a test reads every default
	}
	var e Effective
	if err := json.Unmarshal(text, &e); err != nil {
		panic(err)
	}
	return e
}}

func list(values []string) string {
	text := ""
	for i, v := range values {
		switch {
		case i == 0:
		case i == len(values)-1:
			text += " or "
		default:
			text += ", "
		}
		text += v
	}
	return text
}
