package stories

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// Whatever two to five agents do: the stored conflicts are what the engine
// finds, each turning point is told once to each side, and nobody is told of
// what is not theirs.
func TestTurningPointsAreToldOnceToThoseConcerned(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		var n, told atomic.Int32
		rapid.Check(t, func(rt *rapid.T) {
			h := newHistory(rt, newStory(t, w, fmt.Sprintf("tale%d", n.Add(1))))
			for range rapid.IntRange(6, 30).Draw(rt, "steps") {
				h.step()
				if rapid.IntRange(0, 2).Draw(rt, "look") == 0 {
					agree(rt, []*daemontest.World{w}, h.s.org.ID)
				}
			}
			agree(rt, []*daemontest.World{w}, h.s.org.ID)
			for range 2 { // what one's prompt changes, another is told of
				for _, l := range h.all {
					h.prompt(l)
				}
			}
			for _, l := range h.all {
				if refs := h.prompt(l); len(refs) > 0 {
					rt.Fatalf("%s is told of %v though nothing has happened", l.name, refs)
				}
			}
			told.Add(int32(h.told))
		})
		if told.Load() == 0 {
			t.Error("nobody was told of anything: this proves nothing")
		}
	})
}

// A listener is an agent with what it knows.
type listener struct {
	*agent
	intent string            // what it works on, as the service says
	knows  map[string]record // what it last heard of conflicts, by ref
	vague  map[string]bool   // kinds of conflict it was warned of without a ref
	edited []string          // files in which it has changes
}

// A record is a conflict as it was when somebody heard of it.
type record struct {
	coord.Conflict
	gone bool   // it was told that the holder has gone
	at   string // what the listener worked on
}

type history struct {
	rt   *rapid.T
	s    *story
	all  []*listener
	told int
}

func newHistory(rt *rapid.T, s *story) *history {
	h := &history{rt: rt, s: s}
	s.tell("person root admin")
	names := []string{"ana", "bob", "cy", "dan", "eve"}
	for _, name := range names[:rapid.IntRange(2, 5).Draw(rt, "agents")] {
		l := &listener{agent: s.agent(name), knows: map[string]record{}, vague: map[string]bool{}}
		h.all = append(h.all, l)
		h.hook(l, wire.HookRequest{Event: wire.HookSessionStart})
	}
	return h
}

func (h *history) one(name string, of ...string) string {
	return rapid.SampledFrom(of).Draw(h.rt, name)
}

func (h *history) somebody(as string) *listener {
	return h.all[rapid.IntRange(0, len(h.all)-1).Draw(h.rt, as)]
}

// step has somebody do something.
func (h *history) step() {
	l := h.somebody("who")
	path := h.one("path", "a.go", "b.go", "dir/c.go")
	what := h.one("what", "edit", "edit", "edit", "stash", "try", "try", "declare", "declare", "narrow", "merge", "abandon", "handoff",
		"adopt",
		"end", "respond", "respond", "override", "prompt", "prompt", "look", "later")
	h.rt.Logf("%s: %s %s", l.name, what, path)
	h.s.do(fields("advance 1ms")) // no two things happen at once
	switch what {
	case "edit":
		h.edit(l, path)
	case "stash":
		if len(l.edited) > 0 {
			gone := l.edited[0]
			l.edited = l.edited[1:]
			h.facts(l, coord.FileFacts{Path: gone, Status: coord.FileUnchanged})
		}
	case "try":
		h.hook(l, wire.HookRequest{Event: wire.HookPreEdit, Paths: []string{path}})
	case "declare":
		h.tool(l, "intent_declare", map[string]any{"title": "Work of " + l.name, "mode": h.one("mode", "shared", "exclusive"),
			"scope": map[string]any{"paths": []string{h.one("claim", "a.go", "b.go", "dir/**")}}})
	case "narrow":
		h.tool(l, "intent_update", map[string]any{"intent": l.intent, "patch": map[string]any{"scope_remove": map[string]any{
			"paths": []string{h.one("claim", "a.go", "b.go", "dir/**")}}}})
	case "merge":
		h.tool(l, "intent_close", map[string]any{"intent": l.intent, "outcome": "merged"})
	case "abandon":
		h.tool(l, "intent_close", map[string]any{"intent": l.intent, "outcome": "abandoned"})
	case "handoff":
		to := h.somebody("to")
		h.tool(l, "intent_handoff", map[string]any{"ref": l.intent, "to": to.Email})
	case "adopt":
		h.tool(l, "intent_adopt", map[string]any{"ref": fmt.Sprint("INT-", rapid.IntRange(1, 5).Draw(h.rt, "intent"))})
	case "end":
		h.hook(l, wire.HookRequest{Event: wire.HookSessionEnd})
	case "respond":
		h.tool(l, "conflict_respond", map[string]any{"conflict": fmt.Sprint("CF-", rapid.IntRange(1, 6).Draw(h.rt, "conflict")),
			"action": h.one("action", "ack", "resolved", "false_positive", "propose_sequence", "will_rebase", "request_override")})
	case "override":
		h.s.do(fields(fmt.Sprintf(`override root CF-%d "go on"`, rapid.IntRange(1, 6).Draw(h.rt, "conflict"))))
	case "prompt":
		h.prompt(l)
	case "look":
		h.tool(l, "team_context", map[string]any{})
	case "later":
		h.s.do(fields("advance " + h.one("time", "5m", "1h", "3h")))
	}
}

// edit records a change, sometimes of what others rely on.
func (h *history) edit(l *listener, path string) {
	base := "b1"
	new := fmt.Sprint("n", rapid.IntRange(1, 1000).Draw(h.rt, "version"))
	f := coord.FileFacts{Path: path, Status: coord.FileModified, Language: "go", Parsed: true, BaseBlob: &base, NewBlob: &new,
		Hunks: h.s.hunks(h.one("hunks", "1+5:x", "4+4:y", "90+1:z"))}
	switch h.one("of", "lines", "symbol", "provides", "uses") {
	case "symbol":
		f.Symbols = []coord.SymbolFacts{{Key: "sym:go:" + path + "#F", Kind: "func", Exported: true, Change: coord.Signature,
			Compatibility: coord.Breaking, Detail: optional(h.one("detail", "a parameter more", "another result"))}}
	case "provides":
		f.Contracts = []coord.ContractFacts{{Key: "http:GET /u", Role: coord.Provides, Change: coord.Removed, Compatibility: coord.Breaking,
			Line: 7}}
	case "uses":
		f.Contracts = []coord.ContractFacts{{Key: "http:GET /u", Role: coord.Uses, Change: coord.Added, Compatibility: coord.Compatible,
			Line: 9}}
	}
	if !slices.Contains(l.edited, path) {
		l.edited = append(l.edited, path)
	}
	h.facts(l, f)
}

func (h *history) facts(l *listener, f coord.FileFacts) {
	h.hook(l, wire.HookRequest{Event: wire.HookPostEdit, Paths: []string{f.Path}, Analysis: &coord.Analysis{Files: []coord.FileFacts{f}}})
}

// prompt plays a prompt and returns what it told of.
func (h *history) prompt(l *listener) []string {
	return h.hook(l, wire.HookRequest{Event: wire.HookPrompt, PromptExcerpt: "Go on"})
}

func (h *history) hook(l *listener, e wire.HookRequest) []string {
	r, failed := h.s.hook(l.agent, e)
	if failed != "" {
		h.rt.Fatalf("%s of %s: %s", e.Event, l.name, failed)
	}
	l.intent = ""
	if r.Intent != nil {
		l.intent = r.Intent.Ref
	}
	text := r.InjectContext
	if r.Decision != wire.Allow {
		text = r.Reason
	}
	// What an event changes is told where it tells anything at all; a refusal and
	// a warning tell of their own cause first, and an end tells nothing.
	complete := e.Event == wire.HookPrompt || e.Event == wire.HookPostEdit || e.Event == wire.HookSessionStart ||
		e.Event == wire.HookPreEdit && r.Decision == wire.Allow
	return h.hears(l, string(e.Event), text, complete)
}

func (h *history) tool(l *listener, name string, args map[string]any) {
	if l.intent == "" && (args["intent"] == "" || args["ref"] == "") {
		return
	}
	if name != "team_context" {
		args["session_id"] = l.session
	}
	answer := h.s.toolAnswer(l.agent, name, args)
	text := ""
	for _, part := range answer.Content {
		text += part.Text + "\n"
	}
	if answer.IsError {
		return
	}
	l.intent = h.sessions()[l.session]
	h.hears(l, name, text, false)
}

// sessions returns what each session works on.
func (h *history) sessions() map[string]string {
	var page wire.Page[coord.Session]
	if failed := h.s.call(h.s.owner(), "GET", "/v1/sessions?limit=100", nil, &page, nil); failed != "" {
		h.rt.Fatal(failed)
	}
	out := map[string]string{}
	for _, x := range page.Items {
		if x.Intent != nil && x.Intent.Status.Live() {
			out[x.ID] = x.Intent.Ref
		}
	}
	return out
}

var (
	aTurn   = regexp.MustCompile(`(?m)^svc (CF-\d+) `)                                   // news of a conflict
	aMatter = regexp.MustCompile(`(?m)^- (CF-\d+) |Conflict: (CF-[^.]*)\.|(CF-\d+) is `) // an answer that is about one
	aVague  = regexp.MustCompile(`(?m)^svc (?:warn|block|info) \((\w+)\)`)
)

// hears checks what somebody is told against what is so and what they knew.
func (h *history) hears(l *listener, how, text string, complete bool) (told []string) {
	h.rt.Helper()
	now := h.conflicts()
	for _, m := range aVague.FindAllStringSubmatch(text, -1) {
		l.vague[m[1]] = true
	}
	for _, m := range aTurn.FindAllStringSubmatch(text, -1) {
		if slices.Contains(told, m[1]) {
			h.rt.Fatalf("%s %s: %s is told twice at once:\n%s", l.name, how, m[1], text)
		}
		told = append(told, m[1])
	}
	h.told += len(told)
	for _, ref := range told {
		h.justified(l, how, text, now, now[ref])
	}
	if complete && !strings.Contains(text, "more waits") {
		h.complete(l, how, text, told, now)
	}
	if strings.Contains(text, "its lines meet yours") { // tells of the rebase along with the end
		for ref, c := range now {
			if _, mine := concerns(l, c); mine && c.Kind == coord.RebaseNeeded && c.Status.Live() {
				l.knows[ref] = record{c, false, l.intent}
			}
		}
	}
	for _, ref := range told {
		l.learns(now, ref, strings.Contains(text, "has gone"))
	}
	if how == "team_context" { // lists what there is, and notes nothing as told
		return told
	}
	for _, m := range aMatter.FindAllStringSubmatch(text, -1) {
		for ref := range strings.SplitSeq(m[1]+m[2]+m[3], ", ") {
			l.learns(now, ref, false)
		}
	}
	return told
}

// learns notes what a listener has heard. Whoever hears of one that is back
// knows that it was over.
func (l *listener) learns(now map[string]coord.Conflict, ref string, gone bool) {
	c, ok := now[ref]
	for ; ok; c, ok = now[*c.Previous] {
		l.knows[c.Ref] = record{c, gone, l.intent}
		if c.Previous == nil {
			return
		}
	}
}

// concerns reports whether a conflict is between a listener's work and another's.
func concerns(l *listener, c coord.Conflict) (side coord.PartyRole, ok bool) {
	for _, p := range c.Parties {
		if p.Intent != nil && p.Intent.Ref == l.intent && l.intent != "" || p.Intent == nil && p.SessionID != nil && *p.SessionID == l.session {
			return p.Role, true
		}
	}
	return "", false
}

// justified checks that what is told concerns the listener and is new to it.
func (h *history) justified(l *listener, how, text string, now map[string]coord.Conflict, c coord.Conflict) {
	side, mine := concerns(l, c)
	if !mine {
		h.rt.Fatalf("%s (at %s) %s: is told of %s, which is not its own:\n%s\n%+v", l.name, l.intent, how, c.Ref, text, c.Parties)
	}
	old, known := l.knows[c.Ref]
	withdrawn := side == coord.Holder && c.Resolution != nil && *c.Resolution == coord.ResolvedWithdrawn
	switch {
	case !known && !c.Status.Live() && !withdrawn && !l.heardBefore(now, c):
		h.rt.Fatalf("%s %s: is told of the end of %s, of which it never heard:\n%s", l.name, how, c.Ref, text)
	case known && old.Status.Live() == c.Status.Live() && sameState(old.Conflict, c) && (old.gone || !strings.Contains(text, "has gone")):
		h.rt.Fatalf("%s %s: is told of %s again, of which nothing has become:\n%s\n%s\n%s", l.name, how, c.Ref, text, stateOf(old.Conflict),
			stateOf(c))
	}
}

// heardBefore reports whether a listener heard of what a conflict is the return
// of.
func (l *listener) heardBefore(now map[string]coord.Conflict, c coord.Conflict) bool {
	for before, old := range l.knows {
		if old.Status.Live() && follows(now, c.Ref, before) {
			return true
		}
	}
	return false
}

func stateOf(c coord.Conflict) string {
	return text([]any{c.Status, c.Severity, c.Evidence, owners(c)})
}

func sameState(a, b coord.Conflict) bool { return stateOf(withStatusOf(a, b)) == stateOf(b) }

// withStatusOf leaves apart open, acknowledged and resolving.
func withStatusOf(a, b coord.Conflict) coord.Conflict {
	if a.Status.Live() && b.Status.Live() {
		a.Status = b.Status
	}
	return a
}

func owners(c coord.Conflict) (out []string) {
	for _, p := range c.Parties {
		if p.User != nil {
			out = append(out, p.User.ID)
		}
	}
	return out
}

// complete checks that nothing is missing from what is told.
func (h *history) complete(l *listener, how, text string, told []string, now map[string]coord.Conflict) {
	met := strings.Contains(text, "its lines meet yours")
	for ref, c := range now {
		side, mine := concerns(l, c)
		if !mine || slices.Contains(told, ref) {
			continue
		}
		old, known := l.knows[ref]
		if known && old.at != l.intent {
			continue // it was about other work of theirs, which they have left
		}
		loud := isLoud(c)
		why := ""
		switch {
		case c.Status.Live() && !known && loud && !l.vague[string(c.Kind)] && !(c.Kind == coord.RebaseNeeded && met):
			why = "it is new"
		case known && old.Status.Live() && !c.Status.Live() && !isBack(told, now, ref):
			why = "it is over"
		case known && !old.Status.Live() || !known:
		case c.Status.Live() && loud && otherOwner(old.Conflict, side) != otherOwner(c, side):
			why = "it is another's now"
		case c.Status.Live() && loud && c.Severity.Rank() > old.Severity.Rank():
			why = "it is more severe"
		case c.Status.Live() && loud && !bySelector(old.Conflict) && slices.ContainsFunc(c.Evidence, func(e coord.Evidence) bool {
			return e.Path != nil && e.Contract == nil && e.Symbol == nil && !slices.ContainsFunc(old.Evidence,
				func(o coord.Evidence) bool { return o.Path != nil && *o.Path == *e.Path })
		}):
			why = "it has grown"
		}
		if why != "" {
			h.rt.Fatalf("%s (at %s) %s: is not told of %s (%s %s %s %v), and %s:\n%s\n%s\n%s", l.name, l.intent, how, ref, c.Kind, c.Severity,
				c.Status,
				c.Resolution, why, text, stateOf(old.Conflict), stateOf(c))
		}
	}
}

// bySelector reports whether a conflict is about more than single files, so that
// another file among them says nothing new.
func bySelector(c coord.Conflict) bool {
	return slices.ContainsFunc(c.Evidence, func(e coord.Evidence) bool { return e.Selector != nil })
}

// isLoud reports whether agents are told of a conflict unasked.
func isLoud(c coord.Conflict) bool {
	return c.Severity.Rank() >= coord.SeverityWarn.Rank() || c.Kind == coord.RebaseNeeded
}

// isBack reports whether a conflict that is over has come back, as the listener
// is told now, or as one of which nobody is told.
func isBack(told []string, now map[string]coord.Conflict, ref string) bool {
	for next, c := range now {
		if follows(now, next, ref) && (slices.Contains(told, next) || c.Status.Live() && !isLoud(c)) {
			return true
		}
	}
	return false
}

// follows reports whether a conflict is another come back.
func follows(now map[string]coord.Conflict, ref, before string) bool {
	for c := now[ref]; c.Previous != nil; c = now[*c.Previous] {
		if *c.Previous == before {
			return true
		}
	}
	return false
}

func otherOwner(c coord.Conflict, side coord.PartyRole) string {
	for _, p := range c.Parties {
		if p.Role != side && p.User != nil {
			return p.User.ID
		}
	}
	return ""
}

func (h *history) conflicts() map[string]coord.Conflict {
	var page wire.Page[coord.Conflict]
	if failed := h.s.call(h.s.owner(), "GET", "/v1/conflicts?limit=100", nil, &page, nil); failed != "" {
		h.rt.Fatal(failed)
	}
	out := map[string]coord.Conflict{}
	for _, c := range page.Items {
		out[c.Ref] = c
	}
	return out
}
