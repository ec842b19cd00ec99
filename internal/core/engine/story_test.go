package engine_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/engine/alike"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/scope"
)

var update = flag.Bool("update", false, "rewrite the expected answers in testdata")

// TestStories plays the stories in testdata. A line is a command, named words
// after it are its facts (key=value, "quoted" where there are spaces); the
// lines between ---- and the next empty line or command are the answer.
//
//	intent INT-1 ana at=0 branch=api mode=exclusive paths=src/**,b.go symbols=a.go#F contracts="http:GET /x"
//	       depends=INT-2 ticket=ABC-1 title="..." plan="..." status=draft lineage=l1 copy=w1 repo=web
//	       has=res:env:staging (a resource)
//	       wants=a.go (refused before, or a resource that somebody else has) gone=10 (its last session ended) from=dan (who handed it over)
//	session s1 bob ...            work without an intent
//	change INT-1 src/a.go at=5 base=b1 new=n1 hunks=40+19:h1,70+0:h2 status=deleted old=src/b.go binary
//	       symbols=F:signature:breaking:10+20:function:a/b:texthash contracts="http:GET /x;provides;removed;breaking"
//	       refs=src/a.go#F:12+G/H@src/index.go,name:go:F:12 sole=F session=s2
//	undo INT-1 src/a.go           the change was taken back
//	close INT-1                   the work has ended
//	policy {"severity":{...}}     of the repo
//	demote edit_overlap           by feedback
//	link web api                  two repos share a project
//	use web src/c.ts:12 "http:GET /x"
//	merged INT-9 ana src/a.go at=5 base=b1 new=b2 hunks=...
//	override INT-1 edit_overlap, false_positive INT-1 edit_overlap
//	now 30                        minutes since the story began
//
// and the questions: landing shop first=INT-2,INT-1 (in which order),
// detect INT-2 (record INT-2: as it is stored), check bob paths=..., edit INT-2 path...,
// holders INT-2 path=..., git INT-2 stash src/a.go@3 (committed at minute 3) effect=sweeps|moves, honour INT-3 max=2 files=a,b.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func play(t *testing.T, script string) string {
	s := story{t: t, ix: engine.New(), changes: map[string]*engine.Change{}, copies: map[string]string{}}
	var out strings.Builder
	skipping := false
	for line := range strings.Lines(script) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word == "" || commands[word] {
			skipping = false
		}
		if skipping {
			continue
		}
		out.WriteString(line)
		if f := fields(line); len(f) > 0 && !strings.HasPrefix(f[0], "#") {
			if answer, asked := s.do(f); asked {
				out.WriteString("----\n" + answer)
				skipping = true
			}
		}
	}
	return out.String()
}

// commands are the words that end an answer.
var commands = func() map[string]bool {
	all := map[string]bool{}
	for _, c := range strings.Fields(`now intent session close change undo policy demote link use prefix merged override false_positive
		detect check edit holders honour record watched`) {
		all[c] = true
	}
	return all
}()

type story struct {
	t       *testing.T
	ix      *engine.Index
	now     coord.Time
	changes map[string]*engine.Change
	copies  map[string]string // working copies by worker
}

const minute = coord.Time(60_000)

// start is when every story begins.
var start = func() coord.Time {
	var at coord.Time
	if err := at.UnmarshalText([]byte("2026-11-15T09:00:00Z")); err != nil {
		panic(err)
	}
	return at
}()

func (s *story) do(f []string) (answer string, asked bool) {
	args, kv := split(f[1:])
	switch f[0] {
	case "now":
		s.now = start + minutes(args[0])
	case "intent", "session":
		s.ix.PutWorker(s.worker(args, kv))
	case "close":
		s.ix.RemoveWorker(args[0])
	case "change":
		s.change(args[0], args[1], kv)
	case "undo":
		w := s.ix.Worker(args[0])
		s.ix.RemoveChange(w.Repo.ID, s.copies[w.ID], args[1])
	case "policy":
		rules, bad := policy.Parse([]byte(strings.Join(f[1:], " ")))
		if len(bad) > 0 {
			s.t.Fatal(bad)
		}
		s.ix.SetPolicy("shop", policy.Merge(rules))
	case "demote":
		s.ix.SetDemoted("shop", []coord.ConflictKind{coord.ConflictKind(args[0])})
	case "link":
		s.ix.SetLinks(args[0], args[1:])
		s.ix.SetLinks(args[1], args[:1])
	case "use":
		path, line, _ := strings.Cut(args[1], ":")
		n, _ := strconv.Atoi(line)
		use := engine.Use{Key: contract(s.t, args[2]), Line: n}
		if kv["by"] != "" {
			use.By = user(kv["by"])
		}
		s.ix.SetUses(repoName(args[0]), path, []engine.Use{use})
	case "text": // text web src/c.ts:12 POST accounts/*/mute; ANY where no method is written
		path, line, _ := strings.Cut(args[1], ":")
		p := s.ix.PathsOf(args[0], path)
		method := strings.TrimPrefix(args[2], "ANY")
		elems := strings.Split(strings.ReplaceAll(args[3], "*", ""), "/")
		p.Texts = append(p.Texts, engine.TextsOf(path, []coord.Candidate{
			{Line: atoi(s.t, line), Form: scope.PathForm(elems).String(), Method: method, Guess: kv["guess"]}})...)
		s.ix.SetPaths(repoName(args[0]), path, p)
	case "routes": // routes shop src/api.go "http:GET /x" ...
		s.ix.SetPaths(repoName(args[0]), args[1], engine.Paths{Routes: args[2:]})
	case "prefix": // prefix shop web /api/v1
		s.ix.SetPrefixes(args[0], map[string][]string{args[1]: args[2:]})
		s.ix.SetPrefixes(args[1], map[string][]string{args[0]: args[2:]})
	case "merged":
		by := s.worker(args[:2], map[string]string{"repo": kv["repo"], "at": kv["at"]})
		s.ix.PutMerged(&engine.Merged{ID: args[0], RepoID: by.Repo.ID, By: by, At: start + minutes(kv["at"]), Facts: facts(s.t, args[2], kv)})
	case "map": // map b1 b2 3+1:3+4,9+0:12+2
		m := coord.LineMap{From: args[0], To: args[1]}
		for _, shift := range list(args[2]) {
			from, to, _ := strings.Cut(shift, ":")
			a, n, _ := strings.Cut(from, "+")
			b, k, _ := strings.Cut(to, "+")
			m.Shifts = append(m.Shifts, coord.LineShift{
				FromStart: atoi(s.t, a), FromCount: atoi(s.t, n), ToStart: atoi(s.t, b), ToCount: atoi(s.t, k),
			})
		}
		s.ix.PutLineMap("shop", m)
	case "override", "false_positive":
		found := 0
		for _, fd := range engine.Detect(s.ix, args[0]) {
			if fd.Kind == coord.ConflictKind(args[1]) {
				s.ix.Suppress(engine.Suppression{Fingerprint: fd.Fingerprint, Forever: f[0] == "false_positive", Keys: fd.Keys})
				found++
			}
		}
		if found == 0 {
			s.t.Fatalf("%v: there is no such conflict", f)
		}
	default:
		return s.ask(f[0], args, kv)
	}
	return "", false
}

func (s *story) ask(verb string, args []string, kv map[string]string) (string, bool) {
	switch verb {
	case "record":
		return s.tell(engine.Detect(s.ix, args[0]), ""), true
	case "detect":
		return s.tell(engine.Detect(s.ix, args[0]), args[0]), true
	case "check":
		set, bad := scope.Canonical("", coord.ScopeSet{Paths: list(kv["paths"]), Symbols: list(kv["symbols"]), Contracts: list(kv["contracts"])})
		if len(bad) > 0 {
			s.t.Fatal(bad)
		}
		w := &engine.Worker{ID: args[0], Repo: repoName(or(kv["repo"], "shop")), User: user(args[0]), Since: s.now}
		found := engine.Check(s.ix, w, set)
		return string(engine.Judge(s.ix, w, found, s.now).Action) + "\n" + s.tell(found, w.ID), true
	case "edit":
		w := s.ix.Worker(args[0])
		if w == nil {
			w = s.worker([]string{args[0], "someone"}, kv)
		}
		d := engine.Decide(s.ix, engine.Edit{
			Worker:  w,
			Session: or(kv["session"], w.Session),
			Copy:    s.copies[w.ID],
			Since:   w.Since,
			Paths:   args[1:],
			Now:     s.now,
		})
		out := string(d.Action) + "\n"
		if d.Reason != "" {
			out += "  " + strings.ReplaceAll(d.Reason, "\n", "\n  ") + "\n"
		}
		return out, true
	case "git": // git INT-2 stash src/a.go@3 effect=sweeps all
		w := s.ix.Worker(args[0])
		sweep := engine.Sweep{Verb: args[1], Effect: map[string]engine.SweepEffect{"sweeps": engine.Sweeps, "moves": engine.Moves}[kv["effect"]]}
		for _, file := range args[2:] {
			path, minute, _ := strings.Cut(file, "@")
			if path == "all" {
				sweep.All = true
				continue
			}
			swept := engine.SweptFile{Path: path}
			if minute != "" {
				swept.Committed = start + minutes(minute)
			}
			sweep.Files = append(sweep.Files, swept)
		}
		g := engine.Guard(s.ix, engine.Edit{Worker: w, Session: w.Session, Copy: s.copies[w.ID], Now: s.now}, []engine.Sweep{sweep})
		return strings.TrimSpace(string(g.Action)+"\n  "+strings.ReplaceAll(g.Reason, "\n", "\n  ")) + "\n", true
	case "landing":
		return landing(engine.LandingOrder(s.ix, args[0], list(kv["first"]))), true
	case "holders":
		var out strings.Builder
		for _, h := range engine.Holders(s.ix, s.ix.Worker(args[0]), engine.Target{
			Path:     kv["path"],
			Symbol:   kv["symbol"],
			Contract: kv["contract"],
		}) {
			fmt.Fprintf(&out, "%s", h.Worker.ID)
			for _, e := range h.Evidence {
				fmt.Fprintf(&out, " %s:%s", e.Via, e.Selector)
			}
			out.WriteByte('\n')
		}
		return or(out.String(), "free\n"), true
	case "wanted":
		var out strings.Builder
		for _, w := range engine.WantedMaps(s.ix, args[0]) {
			fmt.Fprintf(&out, "%s %s %s\n", w.Path, w.Ours, w.Theirs)
		}
		return or(out.String(), "nothing\n"), true
	case "watched":
		var out strings.Builder
		for _, w := range engine.WatchedNames(s.ix, args[0]) {
			fmt.Fprintf(&out, "%s %s %s\n", w.Key(), w.Form, strings.Join(w.Files, " "))
		}
		return or(out.String(), "nothing\n"), true
	case "honour":
		most, _ := strconv.Atoi(kv["max"])
		mode, note := engine.HonourExclusive(s.ix, s.worker(args, kv), list(kv["files"]), most)
		return strings.TrimSpace(string(mode)+" "+note) + "\n", true
	}
	s.t.Fatalf("unknown command %s", verb)
	return "", false
}

// tell shows findings as an agent would read them.
// landing puts an order into lines.
func landing(l engine.Landing) string {
	var out strings.Builder
	for _, s := range l.Steps {
		fmt.Fprintf(&out, "%s %s\n", s.Worker.ID, s.Reason)
	}
	fmt.Fprintf(&out, "%d breaks, %d lines; at best %d and %d\n", l.Price.Breaks, l.Price.Lines, l.Best.Breaks, l.Best.Lines)
	return out.String()
}

func (s *story) tell(fs []engine.Finding, viewer string) string {
	var out strings.Builder
	for _, f := range fs {
		now := s.now
		if viewer == "" {
			now = 0
		}
		text, step := engine.Explain(f, viewer, now)
		holder := or(f.Holder.ID, "-")
		fmt.Fprintf(&out, "%s %s: %s < %s %s\n  %s\n  %s: %s\n", f.Kind, f.Severity, holder, f.Challenger.ID, f.Place, text, step.Action,
			step.Text)
	}
	return strings.ReplaceAll(or(out.String(), "nothing\n"), " \n", "\n")
}

func (s *story) worker(args []string, kv map[string]string) *engine.Worker {
	id := args[0]
	w := &engine.Worker{ID: id, Repo: repoName(or(kv["repo"], "shop")), User: user(args[1]), Branch: kv["branch"], Tool: "claude_code",
		Session: or(kv["session"], "session-of-"+id), Since: start + minutes(kv["at"]),
		Lineages: []string{or(kv["lineage"], "lineage-of-"+id)}}
	s.copies[id] = or(kv["copy"], "copy-of-"+id)
	set, bad := scope.Canonical("", coord.ScopeSet{Paths: list(kv["paths"]), Symbols: list(kv["symbols"]), Contracts: list(kv["contracts"])})
	if len(bad) > 0 {
		s.t.Fatal(bad)
	}
	w.Claims = engine.ClaimsOf(set, coord.Mode(or(kv["mode"], "shared")))
	for _, path := range list(kv["wants"]) {
		c := coord.Claim{Kind: coord.ClaimPath, Selector: path, Mode: coord.Wanted, Source: coord.Observed}
		if _, ok := scope.ParseResource(path); ok {
			c.Kind, c.Source = coord.ClaimContract, coord.Declared
		}
		w.Claims = append(w.Claims, c)
	}
	w.Claims = append(w.Claims, engine.ClaimsOf(coord.ScopeSet{Contracts: list(kv["has"])}, coord.Exclusive)...)
	if kv["gone"] != "" {
		w.Gone = start + minutes(kv["gone"])
	}
	if kv["from"] != "" {
		w.From = user(kv["from"])
	}
	if n, ok := coord.ParseIntentRef(id); ok {
		w.Intent = &engine.Intent{
			Number:    n,
			Status:    coord.IntentStatus(or(kv["status"], "active")),
			Title:     kv["title"],
			Task:      alike.Of(kv["title"], kv["plan"]),
			DependsOn: list(kv["depends"]),
		}
		if ticket := kv["ticket"]; ticket != "" {
			w.Intent.ExternalRef = &coord.ExternalRef{Kind: "jira", URL: "https://tickets.example/" + ticket, ID: &ticket}
		}
	}
	return w
}

func (s *story) change(id, path string, kv map[string]string) {
	w := s.ix.Worker(id)
	if w == nil {
		s.t.Fatalf("no worker %s", id)
	}
	touch := engine.Touch{Worker: id, Session: or(kv["session"], w.Session), At: start + minutes(kv["at"])}
	key := s.copies[w.ID] + " " + path
	by := []engine.Touch{touch}
	if before := s.changes[key]; before != nil {
		for _, t := range before.By {
			if t.Session != touch.Session {
				by = append(by, t)
			}
		}
	}
	c := &engine.Change{RepoID: w.Repo.ID, Copy: s.copies[w.ID], Facts: facts(s.t, path, kv), By: by}
	s.changes[key] = c
	s.ix.PutChange(c)
}

func facts(t *testing.T, path string, kv map[string]string) coord.FileFacts {
	f := coord.FileFacts{
		Path:     path,
		Status:   coord.FileStatus(or(kv["status"], "modified")),
		BaseBlob: opt(kv["base"]),
		NewBlob:  opt(kv["new"]),
		OldPath:  opt(kv["old"]),
	}
	_, f.Binary = kv["binary"]
	if kv["sole"] != "" || strings.Contains(kv["refs"], "name:") {
		f.Language = "go"
	}
	_, f.Parsed = kv["symbols"]
	for _, h := range list(kv["hunks"]) {
		rng, hash, _ := strings.Cut(h, ":")
		a, n, _ := strings.Cut(rng, "+")
		f.Hunks = append(f.Hunks, coord.Hunk{Start: atoi(t, a), Count: atoi(t, n), LinesHash: hash})
	}
	for _, sym := range list(kv["symbols"]) {
		p := strings.Split(sym, ":")
		p = append(p, []string{"", "modified", "unknown", "", "", "", ""}[len(p):]...)
		f.Symbols = append(f.Symbols, coord.SymbolFacts{
			Key:           symbolAt(path, p[0]),
			Kind:          p[4],
			TextHash:      opt(p[6]),
			Exported:      true,
			Change:        coord.Change(p[1]),
			Compatibility: coord.Compatibility(p[2]),
			Sole:          slices.Contains(list(kv["sole"]), p[0]),
		})
		if p[5] != "" {
			f.Symbols[len(f.Symbols)-1].Takes = [][]coord.Param{params(p[5])}
		}
		if a, n, ok := strings.Cut(p[3], "+"); ok {
			f.Symbols[len(f.Symbols)-1].Lines = &coord.LineCount{Start: atoi(t, a), Count: atoi(t, n)}
		}
	}
	for _, k := range list(kv["contracts"]) {
		p := strings.Split(k, ";")
		f.Contracts = append(f.Contracts, coord.ContractFacts{
			Key:           contract(t, p[0]),
			Role:          coord.ContractRole(p[1]),
			Change:        coord.Change(p[2]),
			Compatibility: coord.Compatibility(p[3]),
			Line:          7,
		})
		if len(p) > 4 {
			f.Contracts[len(f.Contracts)-1].Fields = contractFields(t, p[4])
		}
	}
	for _, text := range list(kv["texts"]) { // orders/*/parcels:GET:12
		parts := strings.Split(text, ":")
		elems := strings.Split(strings.ReplaceAll(parts[0], "*", ""), "/")
		f.Candidates = append(f.Candidates, coord.Candidate{Form: scope.PathForm(elems).String(), Method: parts[1], Line: atoi(t, parts[2])})
	}
	for _, ref := range list(kv["refs"]) {
		at := strings.LastIndexByte(ref, ':')
		key, form, called := strings.Cut(strings.TrimSuffix(ref[:at], ")"), "(")
		line, in, added := strings.Cut(ref[at+1:], "+")
		r := coord.Reference{Key: key, Line: atoi(t, line)}
		if added {
			in, r.Via, _ = strings.Cut(in, "@")
			r.In = strings.Split(in, "/")
		}
		if called {
			r.Call = call(form)
		}
		f.References = append(f.References, r)
	}
	return f
}

// symbolAt names a definition of a file, or of another one it came from.
func symbolAt(path, name string) string {
	if strings.Contains(name, "#") {
		return name
	}
	return path + "#" + name
}

// contractFields reads "a@3/b".
func contractFields(t *testing.T, s string) (out []coord.ContractField) {
	for name := range strings.SplitSeq(s, "/") {
		name, line, ok := strings.Cut(name, "@")
		f := coord.ContractField{Name: name}
		if ok {
			f.Line = atoi(t, line)
		}
		out = append(out, f)
	}
	return out
}

// params reads "a/b", of which a caller may name both.
func params(s string) []coord.Param {
	var out []coord.Param
	for name := range strings.SplitSeq(s, "/") {
		out = append(out, coord.Param{Name: name})
	}
	return out
}

// call reads "2" or "x/name=".
func call(s string) *coord.Call {
	c := &coord.Call{}
	if n, err := strconv.Atoi(s); err == nil {
		c.Args = n
		return c
	}
	for arg := range strings.SplitSeq(s, "/") {
		if name, ok := strings.CutSuffix(arg, "="); ok {
			c.Named = append(c.Named, name)
		} else {
			c.Args++
		}
	}
	return c
}

// fields splits a line at spaces that are not quoted; from a brace on the
// rest is one field.
func fields(line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '{' {
			return append(out, line)
		}
		end, quoted := 0, false
		for end < len(line) && (quoted || line[end] != ' ') {
			if line[end] == '"' {
				quoted = !quoted
			}
			end++
		}
		out = append(out, strings.ReplaceAll(line[:end], `"`, ""))
		line = line[end:]
	}
	return out
}

func split(fs []string) (args []string, kv map[string]string) {
	kv = map[string]string{}
	for _, f := range fs {
		if k, v, ok := strings.Cut(f, "="); ok && !strings.HasPrefix(f, "{") {
			kv[k] = v
		} else if f == "binary" {
			kv[f] = ""
		} else {
			args = append(args, f)
		}
	}
	return args, kv
}

func contract(t *testing.T, s string) string {
	key, err := scope.ParseContract(s)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func opt(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func atoi(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func minutes(s string) coord.Time {
	n, _ := strconv.Atoi(s)
	return coord.Time(n) * minute
}

func user(name string) coord.User {
	return coord.User{ID: "user-" + name, Email: name + "@example.com", Name: strings.ToUpper(name[:1]) + name[1:]}
}

func repoName(id string) coord.RepoName { return coord.RepoName{ID: id, FullName: "acme/" + id} }
