package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Every word that the engine says about a finding is in this file. Sentences
// are templates over the two sides: {Holder} is "INT-12 (Ana, branch api-v2)"
// or "You", {h:edit} is "the edit of INT-12 (...)" or "your edit"; c is the
// challenger, e whoever did not delete the file. Only refs, names, places,
// times and signatures without their literals go into them, never free text of
// people, so that they can be put before any agent; verbs stand in the past,
// so that they fit "you".

// sentences says what is wrong, by kind and reason. The entry without a
// reason is for all others of the kind.
var sentences = sync.OnceValue(func() map[coord.ConflictKind]map[reason]string {
	return map[coord.ConflictKind]map[reason]string{
		coord.ExclusiveClaim: {
			plainReason:  "{Holder} claimed {held} exclusively{since}{gone}; {c:work} enters it ({entered}), which only a person can allow.",
			resourceHeld: "{Holder} leased {held}{gone}; {challenger} asked for it later. It goes to the next in line as soon as it is released.",
			numberHeld:   "{held} was handed to {holder}; {c:work} adds {enteredFile}, which takes that number."},
		coord.EditOverlap: {
			linesTouch: "{Holder} changed {what}{ago}; {c:edit} touches {where} of the same version of the file, and git will not merge the two.",
			linesMeet: "{Holder} changed {what}{ago}; {c:edit} touches the same place in another version of the file ({where} there), and git " +
				"will not merge the two.",
			modifyDelete: "{Deleter} deleted {path}; {e:edit} of it will make git stop at the merge.",
			renameDelete: "{Deleter} deleted {path}; {e:new name} for it will make git stop at the merge.",
			twoRenames:   "{Holder} and {challenger} renamed {path} to different names; git will stop at the merge.",
			addAdd:       "{Holder} added {path}{ago}; {challenger} added another file of that name, and git will not merge the two.",
			addChange: "{path} is new in the work of one side and older than that of the other ({holder} and {challenger}), in different words; " +
				"git will not merge the two.",
			fileFolder: "{path} is a file on one side and a folder on the other ({holder} and {challenger}); git cannot keep both.",
			binaryBoth: "{Holder} changed the binary file {path}{ago}; {c:change} of it cannot be merged with that, only chosen over it.",
			sameCopy:   "{Holder} changed {path} in the same working copy{ago}; an edit from memory would undo that."},
		coord.SymbolOverlap: {
			plainReason: "{Holder} {took} {symbols}{ago}; {c:work} is on the same definition.",
			mergesCleanly: "{Holder} changed {symbols}{ago}; {c:edit} changes other lines of the same definition, so git merges both and " +
				"nobody reads the result as a whole.",
			otherBase: "{Holder} changed {symbols}{ago}; {c:edit} changes the same definition in another version of the file.",
			linesUnknown: "{Holder} changed {symbols}{ago}; {c:edit} changes the same definition; the file changed in too many places to " +
				"tell whether git can merge the two."},
		coord.ContractOverlap: {
			plainReason: "{Holder} {took} {key}{ago}; {c:work} is on the same contract.",
			numberTaken: "{Holder} added {heldFile}{ago}; {c:work} adds {enteredFile}, which has the same number. Git merges both, and " +
				"whatever runs the migrations runs one of them or stops."},
		coord.ContractBreak: {
			plainReason: "{Challenger} {broke} {key}{forms}; {h:work} uses it at {use} and will fail once both are merged.",
			meantWork:   "The meaning of {key} may have changed by {challenger}{forms}; {h:work} newly uses it at {use}.",
			namedWork: "{Challenger} {broke} {key}{forms}, and nothing else in the repository goes by that name; {h:work} newly mentions it at " +
				"{use} and will fail once both are merged.",
			breaksCode: "{Challenger} {broke} {key}{forms}; code in {repo} uses it at {use}{owner} and will fail once that is merged.",
			maybeWork:  "{Challenger} {broke} {key}{forms}; {h:work} uses it at {use} and may fail once both are merged.",
			maybeCode:  "{Challenger} {broke} {key}{forms}; code in {repo} uses it at {use}{owner} and may fail once that is merged.",
			likelyWork: "{Challenger} {broke} {key}{forms}; {h:work} probably uses it at {use} (as {used}, which differs only by its " +
				"prefix) and would fail once both are merged.",
			likelyCode: "{Challenger} {broke} {key}{forms}; code in {repo} probably uses it at {use} (as {used}, which differs only by its " +
				"prefix){owner} and would fail once that is merged.",
			commonWork: "{Challenger} {broke} {key}{forms}; {h:work} probably uses it at {use} (others have such a route, too, and nothing " +
				"else ties the two) and would fail once both are merged.",
			commonCode: "{Challenger} {broke} {key}{forms}; code in {repo} probably uses it at {use} (others have such a route, too, and nothing " +
				"else ties the two){owner} and would fail once that is merged.",
			textWork: "{Challenger} {broke} {key}{forms}; {h:work} probably uses it at {use} (a path of its shape is put together there) and " +
				"would fail once both are merged.",
			textCode: "{Challenger} {broke} {key}{forms}; code in {repo} probably uses it at {use} (a path of its shape is put together " +
				"there){owner} and would fail once that is merged.",
			lostWork: "{Challenger} {lost} {path}{instead}; {h:work} has {named} at {use} and probably needs it as it was.",
			lostCode: "{Challenger} {lost} {path}{instead}; code in {repo} has {named} at {use}{owner} and probably needs it as it was.",
			breaksScope: "{Challenger} {broke} {key}{forms}, which {holder} declared as scope; what is built on the old form there will fail once " +
				"both are merged.",
			maybeScope: "{Challenger} {broke} {key}{forms}, which {holder} declared as scope; what is built on the old form there may fail once " +
				"both are merged.",
			likelyScope: "{Challenger} {broke} {key}{forms}; it is probably what {holder} declared as {held}, which differs only by its prefix, " +
				"and what is built on the old form there would fail once both are merged.",
			commonScope: "{Challenger} {broke} {key}{forms}; it is probably what {holder} declared as scope (others have such a route, too, and " +
				"nothing else ties the two), and what is built on the old form there would fail once both are merged."},
		coord.DependencyOrder: {
			plainReason: "{Challenger} declared to depend on {h:work}, which is not merged yet; both work on {entered}."},
		coord.PathOverlap: {
			plainReason:   "{Holder} and {challenger} both work on {entered}; nothing collides so far.",
			mergesCleanly: "{Holder} and {challenger} both changed {entered}, in places that git can merge.",
			otherBase:     "{Holder} and {challenger} both changed {entered}, from different versions; whether git can merge them is not known yet.",
			linesUnknown:  "{Holder} and {challenger} both changed {entered}, in too many places to tell whether git can merge them."},
		coord.DuplicateWork: {
			plainReason: "{Holder} and {challenger} name the same ticket, so both may be doing the same work.",
			titleReason: "{Holder} and {challenger} have nearly the same task by title, plan and scope, so both may be doing the same work."},
		coord.RebaseNeeded: {
			plainReason: "{Holder} merged a change of {path}{ago} that touches the same definitions as {c:edit}, which started from an " +
				"older version.",
			linesTouch: "{Holder} merged a change of {path}{ago} that touches the same lines as {c:edit}, which started from an older version."},
	}
})

// steps says what to do next: the action, what the challenger does, and what
// the holder does.
var steps = sync.OnceValue(func() map[coord.ConflictKind]struct{ action, challenger, holder string } {
	return map[coord.ConflictKind]struct{ action, challenger, holder string }{
		coord.ExclusiveClaim: {
			"wait",
			"{Wait}, work on other files, or ask a person to override (`conflict_respond` with request_override).",
			"Finish or narrow the claim (`intent_update` with scope_remove) if {challenger} should go on, or message {name}.",
		},
		coord.EditOverlap: {
			"sequence", // figures say that to wait costs more: docs/lab/regimes.md
			"Do the rest first and this file last; if the two still meet then, {wait} or message {name}.",
			"Message {name} to agree whose change goes first.",
		},
		coord.SymbolOverlap:   {"coordinate", "Message {name} to agree who changes it, or {wait}.", "Message {name} to agree who changes it."},
		coord.ContractOverlap: {"coordinate", "Message {name} to agree on its form, or {wait}.", "Message {name} to agree on its form."},
		coord.ContractBreak: {
			"coordinate",
			"Keep the old form beside the new one, or message {name} before merging.",
			"Look the contract up (`contract_lookup`) and adapt, or message {name}.",
		},
		coord.DependencyOrder: {"sequence", "{Wait} before editing what both work on.", "Nothing to do; {challenger} comes after."},
		coord.PathOverlap: {
			"narrow_scope",
			"Go on; declare the files or definitions that are really meant (`intent_update`) to keep the two apart.",
			"Go on; declare the files or definitions that are really meant (`intent_update`) to keep the two apart.",
		},
		coord.DuplicateWork: {"coordinate", "Message {name} before going on.", "Message {name} before going on."},
		coord.RebaseNeeded:  {"rebase", "Rebase onto the default branch before going on.", "Nothing to do."},
	}
})

// ownSteps are the steps where one person stands behind both sides: nobody
// messages themselves.
var ownSteps = sync.OnceValue(func() map[coord.ConflictKind]struct{ challenger, holder string } {
	return map[coord.ConflictKind]struct{ challenger, holder string }{
		coord.ExclusiveClaim: {"{Wait}, work on other files, or let that session narrow or end its claim.",
			"Finish or narrow the claim (`intent_update` with scope_remove) if your other session should go on."},
		coord.EditOverlap: {"Do the rest first and this file last, then bring both changes together in one of the two, or {wait}.",
			"Finish here first, or bring both changes together in one of the two."},
		coord.SymbolOverlap:   {"Let one of the two change it, or {wait}.", "Let one of the two change it."},
		coord.ContractOverlap: {"Let one of the two change it, or {wait}.", "Let one of the two change it."},
		coord.ContractBreak: {"Keep the old form beside the new one, or change both in one go.",
			"Look the contract up (`contract_lookup`) and adapt."},
		coord.DuplicateWork: {"End one of the two (`intent_close`) if they are the same work.",
			"End one of the two (`intent_close`) if they are the same work."},
	}
})

// kinStep is the step of two of one lineage, whose worktrees somebody merges:
// they never wait for each other.
const kinStep = "Leave these lines to one of the two, or report that both changed them: git stops when the worktrees are merged."

// The steps where the other side does not use svc: nobody there can be messaged
// or waited for here.
const (
	outsideStep    = "Go on; its author does not use svc and hears nothing of this."
	outsideOverlap = "Do the rest first and this file last. Its author does not use svc: settle on the git host who lands first; the second " +
		"rebases."
)

// goneStep is what happens by itself where a claim's holder has gone.
const goneStep = " svc has asked %s; without a sign of life within %s the claim is shared."

// bystander is the step of a reader who is no side of it.
const bystander = "Nothing for you to do: {holder} and {challenger} settle it."

const demotedNote = " Reports of this kind were often judged false in this repo, so it counts one step less."

// Explain puts a finding into words: one sentence that says who, where and
// why, and the next step. viewer is the id of the worker who reads it and is
// addressed as "you"; with "" it is for the record. now makes times relative;
// with 0 they are absolute, and the words stay the same on every retry.
func Explain(f Finding, viewer string, now coord.Time) (string, coord.Suggestion) {
	v := voice{f: &f, viewer: viewer, now: now}
	text := sentences()[f.Kind][f.reason]
	if text == "" {
		text = sentences()[f.Kind][plainReason]
	}
	text = v.fill(text)
	if f.Demoted {
		text += demotedNote
	}
	step := steps()[f.Kind]
	if own, ok := ownSteps()[f.Kind]; ok && v.own() {
		step.challenger, step.holder = own.challenger, own.holder
	}
	s := coord.Suggestion{Action: step.action, Text: step.challenger}
	switch {
	case f.outside():
		s = coord.Suggestion{Action: "coordinate", Text: outsideStep}
		if f.Kind == coord.EditOverlap {
			s = coord.Suggestion{Action: "sequence", Text: outsideOverlap}
		}
	case viewer != "" && viewer == f.Holder.ID && (f.reason == numberTaken || f.reason == numberHeld):
		s = coord.Suggestion{Action: "coordinate", Text: "Nothing to do; {challenger} takes another number."}
	case viewer != "" && viewer == f.Holder.ID:
		s = coord.Suggestion{Action: "coordinate", Text: step.holder}
	case f.reason == resourceHeld:
		s.Text, s.WaitFor = "{Wait}, and work on what does not need it until then.", v.waitFor()
	case f.reason == numberTaken, f.reason == numberHeld:
		s.Text = "Take another number for yours: add " + v.numberFolder() + " to the contracts of your scope (`intent_update` with " +
			"scope_add), and the answer has the next free one under leases."
	case f.Kind == coord.EditOverlap && kin(f.Holder, f.Challenger):
		s = coord.Suggestion{Action: "coordinate", Text: kinStep}
	case f.reason == sameCopy:
		s = coord.Suggestion{Action: "coordinate", Text: "Read {path} again, then edit."}
	case viewer != "" && v.reader() == nil:
		s = coord.Suggestion{Action: "coordinate", Text: bystander}
	case f.Holder.Live():
		s.WaitFor = v.waitFor()
		if f.Holder.Gone > 0 && f.Kind == coord.ExclusiveClaim {
			s.Text += fmt.Sprintf(goneStep, name(f.Holder), minutesText(f.grace))
		}
	}
	if s.Action == "wait" && s.WaitFor == nil {
		s.Action = "coordinate"
	}
	s.Text = v.fill(s.Text)
	return text, s
}

// WithoutForms returns a finding whose words tell no signatures.
func WithoutForms(f Finding) Finding {
	f.Evidence = slices.Clone(f.Evidence)
	for i := range f.Evidence {
		f.Evidence[i].Before, f.Evidence[i].After = nil, nil
	}
	return f
}

const (
	undeclaredBlock = "This repo asks for a declared intent before edits. Declare one with its scope (`intent_declare`), then edit."
	// WantsIntent is what an agent is told where the policy wants an intent.
	WantsIntent = "No intent is declared for this work. Declare one with its scope (`intent_declare`), so that others know."
)

// reason joins what a decision rests on, the worst first and at most three.
func (d *decider) reason(level coord.Severity, findings []Finding, undeclared coord.Severity) string {
	var parts []string
	if undeclared == coord.SeverityBlock {
		parts = append(parts, undeclaredBlock)
	}
	for i, f := range findings {
		if f.Severity.Rank() < level.Rank() {
			break
		}
		if i == 3 {
			parts = append(parts, fmt.Sprintf("And %s more.", coord.InWords(len(findings)-i)))
			break
		}
		f.seen = d.edit.Now
		text, step := Explain(f, d.self.ID, d.edit.Now)
		parts = append(parts, text+" "+step.Text)
	}
	if undeclared == coord.SeverityWarn && level == coord.SeverityWarn {
		parts = append(parts, WantsIntent)
	}
	return strings.Join(parts, "\n")
}

func minutesText(n int) string {
	if n%60 == 0 && n > 60 {
		return coord.InWords(n/60) + " hours"
	}
	return fmt.Sprintf("%d minutes", n)
}
