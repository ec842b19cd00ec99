package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// A walk through drawn histories reads every sentence that an agent or a person
// gets by hooks, tools and commands, and holds each to the record. Two people
// have two agents each, one clone for both; every line that an agent writes is
// there once and names its writer, so that files say by themselves who wrote what.
func TestSentencesAreTrueAtEveryDoor(t *testing.T) {
	w := newTruthWalk(t, 7)
	for n := 0; n < 140 || len(w.caught) < len(untruths) && n < 600; n++ { // a short walk, too, meets every kind
		w.step()
	}
	w.everyDoor()
}

// A teller is an agent, with what it has seen.
type teller struct {
	*agent
	id     string // of its session
	person *person
	memory map[string][]string // of each file, as it last saw it
}

// A person is somebody with a clone.
type person struct {
	name, email, token string
	clone              *clone
	over               map[string]bool // conflicts of which hooks told that they are
}

// A truthWalk is the team, and who is where in it.
type truthWalk struct {
	t      *testing.T
	s      *server
	r      *rand.Rand
	people []*person
	agents []*teller
	calls  int
	heard  map[string]int // texts by door
	caught map[string]int // planted untruths by kind

	message, question, handed string // the latest
}

var briefedID = regexp.MustCompile(`Your session_id is ([0-9a-f-]{36})`)

var truthFiles = []string{"ledger.py", "notes.py", "shared.py"}

func newTruthWalk(t *testing.T, seed uint64) *truthWalk {
	w := &truthWalk{t: t, s: newServer(t, t.TempDir()), r: rand.New(rand.NewPCG(seed, 31)), heard: map[string]int{}, caught: map[string]int{}}
	for i, p := range []*person{{name: "Olga Oak", email: "olga@example.com"}, {name: "Bob Birch", email: "bob@example.com"}} {
		p.token, p.over = w.s.token(p.email), map[string]bool{}
		p.clone = newClone(t, w.s, p.token)
		if i == 0 {
			for _, name := range truthFiles {
				gittest.Write(t, p.clone.dir, name, truthText(name))
			}
			gittest.Run(t, p.clone.dir, "add", "-A")
			gittest.Run(t, p.clone.dir, "commit", "-qm", "files")
		} else {
			gittest.Run(t, p.clone.dir, "fetch", "-q", w.people[0].clone.dir, "main")
			gittest.Run(t, p.clone.dir, "reset", "-q", "--hard", "FETCH_HEAD")
		}
		gittest.Run(t, p.clone.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
		w.people = append(w.people, p)
		for n := range 2 {
			a := &teller{agent: p.clone.agent(t, fmt.Sprintf("%s%d", strings.ToLower(p.name[:3]), n+1)), person: p, memory: map[string][]string{}}
			w.agents = append(w.agents, a)
			briefing := a.hook("SessionStart", nil)
			if m := briefedID.FindStringSubmatch(briefing); m != nil {
				a.id = m[1]
			}
			w.hears(a, "SessionStart", briefing)
			w.hears(a, "UserPromptSubmit", a.hook("UserPromptSubmit", map[string]any{"prompt": "work of " + a.session}))
		}
	}
	return w
}

func truthText(name string) string {
	var b strings.Builder
	for f := range 3 {
		fmt.Fprintf(&b, "def %s_%d():\n", strings.TrimSuffix(name, ".py"), f)
		for i := range 4 {
			fmt.Fprintf(&b, "    x%d%d = \"start of %s\"\n", f, i, name)
		}
	}
	return b.String()
}

func pickOne[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// step has somebody do something.
func (w *truthWalk) step() {
	a, file := pickOne(w.r, w.agents), pickOne(w.r, truthFiles)
	switch n := w.r.IntN(20); {
	case n < 3:
		w.see(a, file)
	case n < 8:
		w.edits(a, file, w.r.IntN(3) == 0)
	case n < 9:
		line := pickOne(w.r, []string{"git stash", "git reset --hard", "git checkout -- " + file, "git add -A && git commit -m all",
			"git clean -fd",
			"sed -i s/start/begin/ " + file, "rm " + file, "git pull", "git stash pop", "git switch -c other"})
		w.calls++
		w.hears(a, "PreToolUse", a.hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprint("c", w.calls),
			"tool_input": map[string]any{"command": line}}))
	case n < 10:
		w.hears(a, "UserPromptSubmit", a.hook("UserPromptSubmit", map[string]any{"prompt": "go on"}))
	case n < 11:
		w.hears(a, "Stop", a.hook("Stop", map[string]any{"last_assistant_message": "done"}))
	case n < 17:
		w.tools(a, file)
	default:
		w.commands(pickOne(w.r, w.people), file)
	}
}

// see has an agent read a file.
func (w *truthWalk) see(a *teller, file string) {
	w.calls++
	event := map[string]any{"tool_name": "Read", "tool_use_id": fmt.Sprint("c", w.calls),
		"tool_input": map[string]any{"file_path": filepath.Join(a.dir, file)}}
	w.hears(a, "PreToolUse", a.hook("PreToolUse", event))
	a.memory[file] = w.lines(a.person, file)
}

func (w *truthWalk) lines(p *person, file string) []string {
	data, err := os.ReadFile(filepath.Join(p.clone.dir, file))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// edits has an agent change a line as it remembers the file: that line, or by
// writing the whole file.
func (w *truthWalk) edits(a *teller, file string, whole bool) {
	if a.memory[file] == nil {
		w.see(a, file)
	}
	w.calls++
	memory := slices.Clone(a.memory[file])
	at := 1 + w.r.IntN(len(memory)-1)
	for strings.HasPrefix(memory[at], "def ") {
		at--
	}
	old := memory[at]
	memory[at] = fmt.Sprintf("    x = \"%s wrote %d\"", a.session, w.calls)
	now := strings.Join(w.lines(a.person, file), "\n") + "\n"
	next, tool := strings.Replace(now, old, memory[at], 1), "Edit"
	input := map[string]any{"file_path": filepath.Join(a.dir, file), "old_string": old, "new_string": memory[at]}
	if whole {
		next, tool = strings.Join(memory, "\n")+"\n", "Write"
		input = map[string]any{"file_path": filepath.Join(a.dir, file), "content": next}
	}
	event := map[string]any{"tool_name": tool, "tool_use_id": fmt.Sprint("c", w.calls), "tool_input": input}
	said := a.hook("PreToolUse", event)
	w.hears(a, "PreToolUse", said)
	if strings.Contains(said, `"deny"`) || next == now { // or a host that does not find the old text
		return
	}
	gittest.Write(w.t, a.dir, file, next)
	a.memory[file] = memory // of the other lines it has seen nothing
	w.hears(a, "PostToolUse", a.hook("PostToolUse", event))
}

// tools has an agent call one.
func (w *truthWalk) tools(a *teller, file string) {
	often := strings.Fields("intent_declare intent_declare intent_declare intent_update scope_check team_context message_send conflicts inbox")
	w.uses(a, pickOne(w.r, slices.Concat(truthTools[:12], often)), file)
}

// truthTools are all tools. The last ones are called in this order at the end:
// some need what one before left.
var truthTools = strings.Fields("team_context scope_check who_is_online wait_for intent_declare intent_update conflicts " +
	"history_search inbox channels channel_read message_send contract_lookup message_ack ask answer " +
	"conflict_respond intent_handoff intent_adopt intent_close")

func (w *truthWalk) uses(a *teller, name, file string) {
	w.t.Helper()
	w.calls++
	text, failed := a.tool(name, w.arguments(a, name, file))
	if failed && name != "intent_close" { // which the claims of others may stand against
		w.t.Errorf("%s calls %s: %s", a.session, name, text)
	}
	for _, m := range sentMessage.FindAllStringSubmatch(text, -1) {
		w.message = m[1]
	}
	for _, m := range askedQuestion.FindAllStringSubmatch(text, -1) {
		w.question = m[1]
	}
	w.hears(a, name, text)
}

var (
	sentMessage   = regexp.MustCompile(`Sent to user:\S+ as message ([0-9a-f-]{36})`)
	askedQuestion = regexp.MustCompile(`Question ([0-9a-f-]{36}) went`)
)

// arguments are such as a tool takes.
func (w *truthWalk) arguments(a *teller, name, file string) map[string]any {
	rec := w.record(a.person)
	own, conflict := "INT-1", "CF-1"
	for _, i := range rec.intents {
		if i.SessionID != nil && *i.SessionID == a.id {
			own = i.Ref
		}
	}
	for _, c := range rec.conflicts {
		if c.Status.Live() && slices.ContainsFunc(c.Parties, func(p coord.Party) bool { return p.Intent != nil && p.Intent.Ref == own }) {
			conflict = c.Ref
		}
	}
	other := w.people[0]
	if other == a.person {
		other = w.people[1]
	}
	switch name {
	case "intent_declare":
		return map[string]any{"title": fmt.Sprintf("Rework %s no. %d", file, w.calls), "mode": pickOne(w.r, []string{"shared", "exclusive"}),
			"scope": map[string]any{"paths": []string{file}}}
	case "intent_update":
		return map[string]any{"intent": own, "patch": map[string]any{"title": fmt.Sprintf("Rework %s no. %d", file, w.calls)}}
	case "intent_close":
		return map[string]any{"intent": own, "outcome": pickOne(w.r, []string{"merged", "abandoned"})}
	case "intent_handoff":
		w.handed = own
		return map[string]any{"ref": own, "to": other.email}
	case "intent_adopt":
		return map[string]any{"ref": w.handed}
	case "scope_check":
		return map[string]any{"paths": []string{file}}
	case "conflict_respond":
		return map[string]any{"conflict": conflict, "action": pickOne(w.r, []string{"ack", "will_rebase", "request_override"})}
	case "history_search":
		return map[string]any{"q": "Rework " + file}
	case "message_send":
		to := pickOne(w.r, []string{"user:" + other.email, "channel:team"})
		return map[string]any{"to": to, "body": fmt.Sprint("Note no. ", w.calls)}
	case "message_ack":
		return map[string]any{"message": w.message}
	case "channel_read":
		return map[string]any{"channel": "team"}
	case "ask":
		return map[string]any{"to": "user:" + other.email, "question": "When is " + file + " ready?"}
	case "answer":
		return map[string]any{"question": w.question, "answer": "soon"}
	case "contract_lookup":
		return map[string]any{"symbol": "sym:python:" + file + "#" + strings.TrimSuffix(file, ".py") + "_0"}
	case "wait_for":
		return map[string]any{"path": file, "timeout_seconds": 1}
	}
	return nil
}

// commands has a person look.
func (w *truthWalk) commands(p *person, file string) { w.looks(p, pickOne(w.r, truthCommands), file) }

var truthCommands = []string{"status", "intents", "intents show INT", "conflicts", "conflicts show CF", "who", "attention", "feed",
	"messages", "messages threads", "search Rework", "check FILE", "blame FILE", "prompt", "members"}

func (w *truthWalk) looks(p *person, command, file string) {
	rec := w.record(p)
	line := strings.ReplaceAll(command, "FILE", file)
	line = strings.Replace(line, "show INT", "show "+pickOne(w.r, rec.intents).Ref, 1)
	if len(rec.conflicts) > 0 {
		line = strings.Replace(line, "show CF", "show "+pickOne(w.r, rec.conflicts).Ref, 1)
	}
	w.reads(reader{person: p}, "svc "+command, p.clone.svc(w.t, strings.Fields(line)...))
}

// everyDoor goes through those that the walk missed, and fails for an untruth
// that could not be planted anywhere.
func (w *truthWalk) everyDoor() {
	for w.message = ""; w.message == ""; {
		w.uses(w.agents[0], "message_send", truthFiles[0])
	}
	for i, name := range truthTools[12:] { // who is asked answers, who is handed work adopts it
		w.uses(w.agents[map[string]int{"answer": 2, "message_ack": 2, "intent_adopt": 3}[name]], name, truthFiles[i%3])
	}
	for _, name := range truthTools {
		if w.heard[name] == 0 {
			w.uses(w.agents[1], name, truthFiles[0])
		}
	}
	for _, command := range truthCommands {
		if w.heard["svc "+command] == 0 {
			w.looks(w.people[1], command, truthFiles[0])
		}
	}
	for kind := range untruths {
		if w.caught[kind] == 0 {
			w.t.Errorf("no text had a %s that could be made untrue", kind)
		}
	}
	w.t.Logf("texts by door: %v; untruths planted and found: %v", w.heard, w.caught)
}

// record is what the service holds, as somebody may see it.
func (w *truthWalk) record(p *person) *truthRecord {
	return &truthRecord{
		intents:   get[wire.Page[coord.Intent]](w.t, w.s, p.token, "/v1/intents?limit=200").Items,
		conflicts: get[wire.Page[coord.Conflict]](w.t, w.s, p.token, "/v1/conflicts?limit=200").Items,
	}
}

// hears reads a text of hooks or tools, reads one that a person gets.
func (w *truthWalk) hears(a *teller, door, text string) { w.reads(reader{a.person, a}, door, text) }

func (w *truthWalk) reads(who reader, door, text string) {
	w.t.Helper()
	w.heard[door]++
	if text == "" {
		return
	}
	said := text
	var host struct {
		HookSpecificOutput struct{ AdditionalContext, PermissionDecisionReason string }
	}
	if json.Unmarshal([]byte(text), &host) == nil {
		said = host.HookSpecificOutput.PermissionDecisionReason + "\n" + host.HookSpecificOutput.AdditionalContext
	}
	h := &truthCheck{w: w, who: who, door: door, rec: w.record(who.person)}
	if who.agent != nil && strings.HasPrefix(text, "{") { // a hook's; tools tell the model alone
		for _, ref := range conflictRef.FindAllString(said, -1) {
			who.person.over[ref] = false
		}
		for _, m := range isOver.FindAllStringSubmatch(said, -1) {
			who.person.over[m[1]] = true
		}
	}
	for _, lie := range h.hold(said) {
		name := who.person.name
		if who.agent != nil {
			name = who.agent.session
		}
		w.t.Errorf("%s, to %s: %s", door, name, lie)
	}
	w.plants(h, said)
}

// plants puts one untrue fact of each kind into a text, and has it found.
func (w *truthWalk) plants(h *truthCheck, text string) {
	for kind, plant := range untruths {
		if lie := plant(text); lie != text {
			if w.caught[kind]++; len(h.hold(lie)) == 0 {
				w.t.Errorf("an untrue %s passes in %s: %s", kind, h.door, lie)
			}
		}
	}
}

// untruths are facts that a text can get wrong. Each is put in where the text
// has such a fact.
var untruths = map[string]func(string) string{
	"intent":   func(s string) string { return firstOf(s, intentRef, "INT-999") },
	"conflict": func(s string) string { return firstOf(s, conflictRef, "CF-999") },
	"file": func(s string) string {
		return firstOf(s, regexp.MustCompile(`\b(ledger|notes|shared)\.py`), "nowhere.py")
	},
	"moment": func(s string) string {
		return firstOf(s, regexp.MustCompile(`exclusively just now`), "exclusively at 2026-11-17 18:26 UTC")
	},
	"owner": func(s string) string {
		lie := firstOf(s, regexp.MustCompile(`(INT-\d+) \(Olga Oak,`), "$1 (Bob Birch,")
		if lie == s {
			lie = firstOf(s, regexp.MustCompile(`(INT-\d+) \(Bob Birch,`), "$1 (Olga Oak,")
		}
		return lie
	},
	"number of a title": func(s string) string { return firstOf(s, regexp.MustCompile(`(Rework \w+\.py no\. )\d+`), "${1}777") },
	"severity": func(s string) string {
		return firstOf(s, regexp.MustCompile(`(svc CF-\d+) (warn|block) \(`), "$1 fatal (")
	},
	"kind":   func(s string) string { return firstOf(s, regexp.MustCompile(`(CF-\d+) \w+( \(\w+, )`), "$1 other$2") },
	"status": func(s string) string { return firstOf(s, regexp.MustCompile(`(CF-\d+ \w+ \(\w+), \w+\)`), "$1, lost)") },
	"end": func(s string) string {
		return firstOf(s, regexp.MustCompile(`(CF-\d+) \w+ is over|(CF-\d+) \(\w+\) is over`), "$1$2 (other) is over")
	},
	"claim": func(s string) string {
		return firstOf(s, regexp.MustCompile(`claimed (ledger|notes|shared)\.py exclusively`), "claimed shared.pyc exclusively")
	},
	"line": func(s string) string {
		return firstOf(s, regexp.MustCompile(`changed lines? \d+ of`), "changed line 6 of")
	},
	"quotation": func(s string) string {
		return firstOf(s, regexp.MustCompile(`(?m)^(\d+:     x = "\w+ wrote) `), "$1 not ")
	},
	"absence": func(s string) string { return firstOf(s, regexp.MustCompile(`\d+ conflicts?:`), "No conflicts.") },
	"own work": func(s string) string {
		return firstOf(s, regexp.MustCompile(`(Your intent: INT-\d+ .*)\((\w+)\)`), "$1(lost)")
	},
}

// firstOf replaces the first match.
func firstOf(s string, pattern *regexp.Regexp, with string) string {
	at := pattern.FindStringSubmatchIndex(s)
	if at == nil {
		return s
	}
	return s[:at[0]] + string(pattern.ExpandString(nil, with, s, at)) + s[at[1]:]
}
