package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Every word that the engine says about a finding is in this file. Sentences
// are templates over the two sides: {Holder} is "INT-12 (Ana, branch api-v2)"
// or "You", {h:edit} is "the edit of INT-12 (...)" or "your edit"; c is the
// challenger, e whoever did not delete the file. Only refs, names, places and
// times go into them, never free text of people, so that they can be put
// before any agent; verbs stand in the past, so that they fit "you".

// sentences says what is wrong, by kind and reason. The entry without a
// reason is for all others of the kind.
var sentences = map[coord.ConflictKind]map[reason]string{
	coord.ExclusiveClaim: {
		plainReason: "{Holder} claimed {held} exclusively{since}; {c:work} enters it ({entered}), which only a person can allow."},
	coord.EditOverlap: {
		linesTouch:   "{Holder} changed {what}{ago}; {c:edit} touches {where} of the same version of the file, and git will not merge the two.",
		modifyDelete: "{Deleter} deleted {path}; {e:edit} of it will make git stop at the merge.",
		renameDelete: "{Deleter} deleted {path}; {e:new name} for it will make git stop at the merge.",
		twoRenames:   "{Holder} and {challenger} renamed {path} to different names; git will stop at the merge.",
		addAdd:       "{Holder} added {path}{ago}; {challenger} added another file of that name, and git will not merge the two.",
		fileFolder:   "{path} is a file on one side and a folder on the other ({holder} and {challenger}); git cannot keep both.",
		binaryBoth:   "{Holder} changed the binary file {path}{ago}; {c:change} of it cannot be merged with that, only chosen over it.",
		sameCopy:     "{Holder} changed {path} in the same working copy{ago}, after {c:session} last wrote it; an edit from memory would undo that."},
	coord.SymbolOverlap: {
		plainReason:   "{Holder} {took} {symbols}{ago}; {c:work} is on the same definition.",
		mergesCleanly: "{Holder} changed {symbols}{ago}; {c:edit} changes other lines of the same definition, so git merges both and nobody reads the result as a whole.",
		otherBase:     "{Holder} changed {symbols}{ago}; {c:edit} changes the same definition in another version of the file."},
	coord.ContractOverlap: {
		plainReason: "{Holder} {took} {key}{ago}; {c:work} is on the same contract."},
	coord.ContractBreak: {
		plainReason: "{Challenger} {broke} {key}; {h:work} uses it at {use} and will fail once both are merged.",
		breaksCode:  "{Challenger} {broke} {key}; code in {repo} uses it at {use} and will fail once that is merged."},
	coord.DependencyOrder: {
		plainReason: "{Challenger} declared to depend on {h:work}, which is not merged yet; both work on {entered}."},
	coord.PathOverlap: {
		plainReason:   "{Holder} and {challenger} both work on {entered}; nothing collides so far.",
		mergesCleanly: "{Holder} and {challenger} both changed {entered}, in places that git can merge.",
		otherBase:     "{Holder} and {challenger} both changed {entered}, from different versions; whether git can merge them is not known yet."},
	coord.DuplicateWork: {
		plainReason: "{Holder} and {challenger} name the same ticket, so both may be doing the same work.",
		titleReason: "{Holder} and {challenger} have nearly the same title and scope, so both may be doing the same work."},
	coord.RebaseNeeded: {
		plainReason: "{Holder} merged a change of {path}{ago} that touches the same definitions as {c:edit}, which started from an older version.",
		linesTouch:  "{Holder} merged a change of {path}{ago} that touches the same lines as {c:edit}, which started from an older version."},
}

// steps says what to do next: the action, what the challenger does, and what
// the holder does.
var steps = map[coord.ConflictKind]struct{ action, challenger, holder string }{
	coord.ExclusiveClaim:  {"wait", "{Wait}, work on other files, or ask a person to override (`conflict_respond` with request_override).", "Finish or narrow the claim (`intent_update` with scope_remove) if {challenger} should go on, or message {name}."},
	coord.EditOverlap:     {"wait", "{Wait} or message {name}.", "Message {name} to agree whose change goes first."},
	coord.SymbolOverlap:   {"coordinate", "Message {name} to agree who changes it, or {wait}.", "Message {name} to agree who changes it."},
	coord.ContractOverlap: {"coordinate", "Message {name} to agree on its form, or {wait}.", "Message {name} to agree on its form."},
	coord.ContractBreak:   {"coordinate", "Keep the old form beside the new one, or message {name} before merging.", "Look the contract up (`contract_lookup`) and adapt, or message {name}."},
	coord.DependencyOrder: {"sequence", "{Wait} before editing what both work on.", "Nothing to do; {challenger} comes after."},
	coord.PathOverlap:     {"narrow_scope", "Go on; declare the files that are really meant (`intent_update`) to keep the two apart.", "Go on; declare the files that are really meant (`intent_update`) to keep the two apart."},
	coord.DuplicateWork:   {"coordinate", "Message {name} before going on.", "Message {name} before going on."},
	coord.RebaseNeeded:    {"rebase", "Rebase onto the default branch before going on.", "Nothing to do."},
}

const demotedNote = " Reports of this kind were often judged false in this repo, so it counts one step less."

// Explain puts a finding into words: one sentence that says who, where and
// why, and the next step. viewer is the id of the worker who reads it and is
// addressed as "you"; with "" it is for the record. now makes times relative;
// with 0 they are absolute, and the words stay the same on every retry.
func Explain(f Finding, viewer string, now coord.Time) (string, coord.Suggestion) {
	v := voice{f: &f, viewer: viewer, now: now}
	fill := v.replacer()
	text := sentences[f.Kind][f.reason]
	if text == "" {
		text = sentences[f.Kind][plainReason]
	}
	text = fill.Replace(text)
	if f.Demoted {
		text += demotedNote
	}
	step := steps[f.Kind]
	s := coord.Suggestion{Action: step.action, Text: step.challenger}
	switch {
	case viewer != "" && viewer == f.Holder.ID:
		s = coord.Suggestion{Action: "coordinate", Text: step.holder}
	case f.reason == sameCopy:
		s = coord.Suggestion{Action: "coordinate", Text: "Read {path} again, then edit."}
	case f.Holder.Live():
		s.WaitFor = v.waitFor()
	}
	if s.Action == "wait" && s.WaitFor == nil {
		s.Action = "coordinate"
	}
	s.Text = fill.Replace(s.Text)
	return text, s
}

// A voice speaks about one finding to one reader.
type voice struct {
	f      *Finding
	viewer string
	now    coord.Time
}

func (v *voice) replacer() *strings.Replacer {
	f := v.f
	holder, challenger := v.who(f.Holder), v.who(f.Challenger)
	deleter, editor := f.Holder, f.Challenger
	if d := v.evidence(coord.Challenger); d != nil && d.Detail != nil && strings.HasPrefix(*d.Detail, string(coord.FileDeleted)) {
		deleter, editor = editor, deleter
	}
	other := f.Holder
	if v.viewer != "" && v.viewer == f.Holder.ID {
		other = f.Challenger
	}
	return strings.NewReplacer(
		"{Holder}", upper(holder), "{holder}", holder, "{h:work}", v.of(f.Holder, "work"),
		"{Challenger}", upper(challenger), "{challenger}", challenger,
		"{c:work}", v.of(f.Challenger, "work"), "{c:edit}", v.of(f.Challenger, "edit"),
		"{c:change}", v.of(f.Challenger, "change"), "{c:session}", v.of(f.Challenger, "session"),
		"{Deleter}", upper(v.who(deleter)), "{e:edit}", v.of(editor, "edit"), "{e:new name}", v.of(editor, "new name"),
		"{name}", name(other), "{Wait}", upper(v.wait()), "{wait}", v.wait(),
		"{path}", f.Place, "{key}", "`"+f.Place+"`", "{repo}", f.Holder.Repo.FullName,
		"{what}", v.what(), "{where}", v.where(), "{symbols}", v.symbols(), "{use}", v.use(),
		"{held}", v.selectors(coord.Holder), "{entered}", v.selectors(coord.Challenger),
		"{took}", v.took(), "{broke}", v.broke(),
		"{ago}", v.when(f.At), "{since}", v.when(f.Holder.Since),
	)
}

// who names a worker as "INT-12 (Ana, branch api-v2)".
func (v *voice) who(w *Worker) string {
	if w.Live() && w.ID == v.viewer {
		return "you"
	}
	ref := w.Ref()
	about := []string{}
	switch {
	case ref != "":
		about = append(about, name(w))
	case w.User.ID == "" && w.User.Name == "":
		return "merged work"
	default:
		ref = "a session of " + name(w)
	}
	if w.Branch != "" {
		about = append(about, "branch "+clean(w.Branch))
	}
	if v.f.CrossRepo {
		about = append(about, w.Repo.FullName)
	}
	if len(about) == 0 {
		return ref
	}
	return ref + " (" + strings.Join(about, ", ") + ")"
}

// of names something of a worker's: "your edit", "the edit of INT-12 (Ana)".
func (v *voice) of(w *Worker, noun string) string {
	if w.Live() && w.ID == v.viewer {
		return "your " + noun
	}
	return "the " + noun + " of " + v.who(w)
}

// waitFor returns what the wait_for tool takes.
func (v *voice) waitFor() *coord.WaitFor {
	if ref := v.f.Holder.Ref(); ref != "" {
		return &coord.WaitFor{Intent: &ref}
	}
	if path := v.firstPath(); path != "" {
		return &coord.WaitFor{Path: &path}
	}
	return nil
}

func (v *voice) wait() string {
	switch w := v.waitFor(); {
	case !v.f.Holder.Live() || w == nil:
		return "wait until it is free"
	case w.Intent != nil:
		return fmt.Sprintf("wait for %s (`wait_for` intent %s)", *w.Intent, *w.Intent)
	default:
		return fmt.Sprintf("wait until it is free (`wait_for` path %s)", *w.Path)
	}
}

func (v *voice) evidence(role coord.PartyRole) *coord.Evidence {
	for i := range v.f.Evidence {
		if v.f.Evidence[i].Party == role {
			return &v.f.Evidence[i]
		}
	}
	return nil
}

func (v *voice) firstPath() string {
	for _, e := range v.f.Evidence {
		if e.Path != nil {
			return *e.Path
		}
	}
	return ""
}

// what is the holder's side of lines that meet.
func (v *voice) what() string {
	e := v.evidence(coord.Holder)
	if e == nil {
		return v.f.Place
	}
	text := v.f.Place + " " + rangeText(e.Lines)
	if e.Symbol != nil {
		text = "`" + shortName(*e.Symbol) + "` in " + text
	}
	return strings.TrimSpace(text)
}

func (v *voice) where() string {
	if e := v.evidence(coord.Challenger); e != nil && e.Lines != nil {
		return rangeText(e.Lines)
	}
	return "the same lines"
}

func (v *voice) symbols() string {
	var names []string
	for _, e := range v.f.Evidence {
		if e.Party == coord.Holder && e.Symbol != nil {
			names = append(names, "`"+shortName(*e.Symbol)+"`")
		}
	}
	return listing(names) + " in " + v.f.Place
}

func (v *voice) selectors(role coord.PartyRole) string {
	var all []string
	for _, e := range v.f.Evidence {
		if e.Party != role {
			continue
		}
		for _, s := range []*string{e.Selector, e.Symbol, e.Contract, e.Path} {
			if s != nil {
				all = append(all, *s)
				break
			}
		}
	}
	return listing(all)
}

func (v *voice) use() string {
	if e := v.evidence(coord.Holder); e != nil && e.Path != nil {
		return strings.TrimSpace(*e.Path + " " + rangeText(e.Lines))
	}
	return "some place"
}

func (v *voice) took() string {
	if e := v.evidence(coord.Holder); e != nil && e.Via != coord.ViaClaim {
		return "changed"
	}
	return "claimed"
}

func (v *voice) broke() string {
	if e := v.evidence(coord.Challenger); e != nil && e.Detail != nil && *e.Detail == "removed" {
		return "removed"
	}
	return "changed"
}

// when tells a time as "eleven minutes ago", or as it is.
func (v *voice) when(at coord.Time) string {
	switch {
	case at == 0:
		return ""
	case v.now == 0:
		return " at " + at.Std().Format("2006-01-02 15:04 UTC")
	}
	return " " + ago(v.now.Sub(at))
}

func ago(d time.Duration) string {
	unit, n := "minute", int(d.Minutes())
	switch {
	case n < 1:
		return "just now"
	case n >= 48*60:
		unit, n = "day", n/(24*60)
	case n >= 120:
		unit, n = "hour", n/60
	}
	if n == 1 {
		return "one " + unit + " ago"
	}
	if n > 12 {
		return "about " + count(n) + " " + unit + "s ago" // "lines 3-5 25 minutes ago" would not read
	}
	return count(n) + " " + unit + "s ago"
}

func count(n int) string {
	small := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n < len(small) {
		return small[n]
	}
	return fmt.Sprint(n)
}

func rangeText(l *coord.Lines) string {
	switch {
	case l == nil:
		return ""
	case l.Start == l.End:
		return fmt.Sprintf("line %d", l.Start)
	}
	return fmt.Sprintf("lines %d-%d", l.Start, l.End)
}

// listing names at most three things.
func listing(all []string) string {
	switch n := len(all); {
	case n == 0:
		return "the same place"
	case n == 1:
		return all[0]
	case n <= 3:
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	default:
		return strings.Join(all[:2], ", ") + " and " + count(n-2) + " more"
	}
}

// shortName returns the name of a symbol without its file.
func shortName(key string) string { return key[strings.LastIndexByte(key, '#')+1:] }

// name returns what to call the person behind a worker.
func name(w *Worker) string {
	if n := clean(w.User.Name); n != "" {
		return n
	}
	if n := clean(w.User.Email); n != "" {
		return n
	}
	return "whoever maintains " + w.Repo.FullName
}

// clean makes foreign text a short single line.
func clean(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '`' {
			return ' '
		}
		return r
	}, s)), " ")
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

const (
	undeclaredBlock = "This repo asks for a declared intent before edits. Declare one with its scope (`intent_declare`), then edit."
	undeclaredWarn  = "No intent is declared for this work. Declare one with its scope (`intent_declare`), so that others know."
)

// reason joins what a decision rests on, the worst first and at most three.
func (d *decider) reason(level coord.Severity, findings []Finding, undeclared coord.Severity) string {
	now := d.edit.Now
	if level == coord.SeverityBlock {
		now = 0
	}
	var parts []string
	if undeclared == coord.SeverityBlock {
		parts = append(parts, undeclaredBlock)
	}
	for i, f := range findings {
		if level == coord.SeverityBlock && f.Severity != coord.SeverityBlock {
			break
		}
		if i == 3 {
			parts = append(parts, fmt.Sprintf("And %s more.", count(len(findings)-i)))
			break
		}
		text, step := Explain(f, d.self.ID, now)
		parts = append(parts, text+" "+step.Text)
	}
	if undeclared == coord.SeverityWarn && level == coord.SeverityWarn {
		parts = append(parts, undeclaredWarn)
	}
	return strings.Join(parts, "\n")
}
