package internal_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/svc-hq/svc/"

// The house. A package may import packages on lower floors of its own wing
// and of core; packages on one floor are strangers. A package below a listed
// one belongs to it (daemon/daemontest stands where daemon stands, and the two may
// import each other), unless packages below it are listed themselves: then each
// has a floor of its own.
var (
	core = [][]string{
		{"coord", "problem", "version", "lazy", "excerpt", "limit"},
		{"scope", "plan", "peertext", "shape", "textsearch", "scim"},
		{"policy"},
		{"engine", "wire"},
	}
	server = [][]string{
		{"store/db", "trail"},
		{"store"},
		{"store/storetest", "ship", "eventlog", "jobs", "auth", "vault", "outbound", "bulletin", "githost", "billing", "traces"},
		{"live", "memory"},
		{"leases", "ruling"},
		{"ops/ground"},
		{"ops/money"},
		{"ops/people"},
		{"ops/work"},
		{"ops/talk"},
		{"ops/moments", "ops/forge", "ops/outgoing"},
		{"ops"},
		{"api"},
		{"rest", "mcpserver", "dashboard", "notify", "edge", "treewatch"},
		{"daemon"},
		{"stories"},
	}
	client = [][]string{
		{"plain", "clientcert"},
		{"gitrepo/odb", "gitrepo/diff", "gitrepo/jj", "grammar", "patch", "remote", "login", "companion", "rules", "verdict", "grid", "patience"},
		{"gitrepo"},
		{"shellscan", "bridge", "pathlike", "outline", "contract", "local", "team", "presence", "extinct", "lines", "mergecheck",
			"ownrules", "hook/spool", "cli/term", "copies", "rebase"},
		{"host", "workspace", "formats", "symbols", "bodies", "kept", "receivers", "hook/post", "hook/record", "hook/view"},
		{"extract", "references/locate", "marks", "backtest/regime"},
		{"references"},
		{"analysis"},
		{"hook", "setup", "doctor", "selfupdate", "backtest", "top", "reader", "index", "share"},
		{"attend", "watchtree", "doctor/hosts", "lsp"},
		{"cli/app"},
		{"cli/records", "demo"},
		{"cli/merging"},
		{"cli"},
	}
)

// outside lists what stands beside the wings: what each may import.
var outside = map[string][]string{
	"cmd/svc":  {"internal/core", "internal/client"},
	"cmd/svcd": {"internal/core", "internal/server"},
	// for programs of others: what they import must stay small
	"clients/go": {"internal/client/local"},
	"examples":   {"clients/go"},
	// they run the service for other programs, make releases, and measure svc
	"internal/tools":     {"internal/server", "internal/core", "internal/client", "internal/badline", "internal/history"},
	"internal/chance":    {}, // for property tests
	"internal/await":     {}, // for tests, and for the packages that serve tests
	"internal/badline":   {}, // for tests and for the tools that break lines
	"internal/doctable":  {}, // for tests
	"internal/history":   {}, // for tests and for the tools that break things
	"internal/gittest":   {}, // for tests
	"internal/childtest": {}, // for tests
	"internal/e2e":       {"internal/core", "internal/server", "internal/client", "internal/tools"},
}

// forbidden names imports that the floors allow but we do not, and why. An
// import that ends in "/" stands for all below it.
var forbidden = []struct {
	imp    string
	except []string // packages that may
	why    string
}{
	{
		imp:    module + "internal/server/ops",
		except: []string{"internal/server/ops", "internal/server/api", "internal/server/daemon", "internal/server/notify"},
		why:    "operations are reached through api.Call, which checks the caller",
	},
	{
		imp:    module + "internal/server/ops/",
		except: []string{"internal/server/ops", "internal/server/api", "internal/server/daemon", "internal/server/notify"},
		why:    "operations are reached through api.Call, which checks the caller",
	},
	{"modernc.org/sqlite", []string{"internal/server/store"}, "all SQL is in store and store/db, for both databases"},
	{"github.com/jackc/pgx/", []string{"internal/server/store"}, "all SQL is in store and store/db, for both databases"},
	{"database/sql", []string{"internal/server/store"}, "all SQL is in store and store/db, for both databases"},
	{"github.com/modelcontextprotocol/", []string{"internal/server/mcpserver"}, "one package knows the tool protocol's library"},
	{"github.com/fsnotify/", []string{"internal/client/watchtree"}, "hooks must not carry it"},
	{"charm.land/", []string{"internal/client/top"}, "one package knows the terminal library, and the lean svc is without it"},
	{"C", []string{"internal/client/grammar"}, "everything else must build without a C compiler"},
	{"unsafe", []string{"internal/client/grammar"}, "nothing else needs it"},
}

// impure may not be imported by the core, which only computes.
var impure = []string{"context", "os", "net", "database/sql", "log", "io/ioutil", "syscall"}

type pkg struct {
	ImportPath   string
	Dir          string
	Name         string
	Doc          string
	GoFiles      []string
	CgoFiles     []string
	Imports      []string
	TestGoFiles  []string
	XTestGoFiles []string
	TestImports  []string
	XTestImports []string
}

// path is the import path within the module.
func (p pkg) path() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listed asks go for the module's packages, once.
var listed = sync.OnceValues(func() (all []pkg, err error) {
	out, err := exec.Command("go", "list", "-json", module+"...").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("go list: %w\n%s", err, exit.Stderr)
		}
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if len(p.GoFiles)+len(p.CgoFiles) > 0 { // more than tests
			all = append(all, p)
		}
	}
})

// A place is where a package stands.
type place struct {
	wing  string
	floor int
	name  string // the listed package it is or belongs to
}

func placeOf(path string) (place, bool) {
	for wing, floors := range map[string][][]string{"core": core, "server": server, "client": client} {
		rest, ok := strings.CutPrefix(path, "internal/"+wing+"/")
		if !ok {
			continue
		}
		at := place{floor: -1}
		for i, floor := range floors {
			for _, name := range floor {
				if covers(floors, name, rest) && len(name) > len(at.name) {
					at = place{wing, i, name}
				}
			}
		}
		if at.floor >= 0 && wing != "core" {
			at.floor += len(core)
		}
		return at, at.floor >= 0
	}
	return place{}, false
}

// covers reports whether a package is the listed one of that name or belongs
// to it. Where packages below a listed one have floors of their own, each of
// them must: they do not belong to the one above.
func covers(floors [][]string, name, path string) bool {
	if path == name {
		return true
	}
	split := slices.ContainsFunc(floors, func(floor []string) bool {
		return slices.ContainsFunc(floor, func(n string) bool { return strings.HasPrefix(n, name+"/") })
	})
	return !split && strings.HasPrefix(path, name+"/")
}

func TestPackagesImportOnlyWhatIsBelow(t *testing.T) {
	for _, p := range packages(t) {
		from, ok := placeOf(p.path())
		for _, imp := range p.Imports {
			imp, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			to, known := placeOf(imp)
			switch {
			case !ok:
				checkOutside(t, p.path(), imp)
			case imp == "internal/await" && strings.HasSuffix(p.Name, "test"):
			case !known:
				t.Errorf("%s imports %s, which is on no floor", p.path(), imp)
			case to.wing == from.wing && to.name == from.name: // its own parts
			case to.wing != from.wing && to.wing != "core":
				t.Errorf("%s imports %s: the wings are strangers", p.path(), imp)
			case to.floor >= from.floor:
				t.Errorf("%s (floor %d) imports %s (floor %d)", p.path(), from.floor, imp, to.floor)
			}
		}
		if !ok && !isOutside(p.path()) {
			t.Errorf("%s is on no floor; give it a place in internal/arch_test.go", p.path())
		}
	}
}

func isOutside(path string) bool { return outsideOf(path) != "" }

func outsideOf(path string) string {
	for place := range outside {
		if path == place || strings.HasPrefix(path, place+"/") {
			return place
		}
	}
	return ""
}

func checkOutside(t *testing.T, path, imp string) {
	t.Helper()
	place := outsideOf(path)
	if place == "" || strings.HasPrefix(imp, place) {
		return // reported as standing nowhere, or its own parts
	}
	if !slices.ContainsFunc(outside[place], func(may string) bool { return strings.HasPrefix(imp+"/", may+"/") }) {
		t.Errorf("%s must not import %s", path, imp)
	}
}

func TestForbiddenImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range forbidden {
			may := slices.ContainsFunc(f.except, func(e string) bool { return p.path() == e || strings.HasPrefix(p.path(), e+"/") })
			if may || outsideOf(p.path()) == "internal/tools" {
				continue
			}
			for _, imp := range p.Imports {
				if imp == f.imp || strings.HasSuffix(f.imp, "/") && strings.HasPrefix(imp, f.imp) {
					t.Errorf("%s must not import %s: %s", p.path(), imp, f.why)
				}
			}
		}
	}
}

var clock = regexp.MustCompile(`\btime\.(Now|Since|Until|Sleep|After|Tick|NewTimer|NewTicker|AfterFunc)\(`)

// The core decides; it must give the same answer to the same question.
// Property tests draw as package chance has them draw.
func TestPropertyTestsAreTheSameInCI(t *testing.T) {
	for _, p := range packages(t) {
		tests := append(slices.Clone(p.TestImports), p.XTestImports...)
		if slices.Contains(tests, "pgregory.net/rapid") && !slices.Contains(tests, module+"internal/chance") {
			t.Errorf("%s has property tests: import _ %q", p.path(), module+"internal/chance")
		}
	}
}

func TestTheCoreIsPure(t *testing.T) {
	for _, p := range packages(t) {
		if at, ok := placeOf(p.path()); !ok || at.wing != "core" {
			continue
		}
		for _, imp := range p.Imports {
			top, _, _ := strings.Cut(imp, "/")
			if slices.Contains(impure, imp) || slices.Contains(impure, top) && imp != "net/url" {
				t.Errorf("%s imports %s; the core does no I/O", p.path(), imp)
			}
		}
		for _, f := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			if m := clock.Find(text); m != nil {
				t.Errorf("%s/%s calls %s); the core is told the time", p.path(), f, m)
			}
		}
	}
}

func TestTheClientHasNoDatabaseAndTheServerNoParser(t *testing.T) {
	for program, never := range map[string][]string{
		"svc":  {"database/sql", "modernc.org/sqlite", "github.com/jackc/pgx", module + "internal/server"},
		"svcd": {"go-tree-sitter", module + "internal/client", "go/parser"},
	} {
		out, err := exec.Command("go", "list", "-deps", module+"cmd/"+program).Output()
		if err != nil {
			t.Fatal(err)
		}
		for dep := range strings.FieldsSeq(string(out)) {
			for _, no := range never {
				if dep == no || strings.Contains(dep, no) && no != "database/sql" { // its driver package is only interfaces
					t.Errorf("%s links %s", program, dep)
				}
			}
		}
	}
}

// alone are the packages that need nothing but the standard library and package
// plain, and the part of it that they may not have.
var alone = map[string][]string{
	"internal/client/plain":        {"os/exec", "net"},
	"internal/client/gitrepo/odb":  {"os/exec", "net"},
	"internal/client/gitrepo/diff": impure,
	"internal/client/gitrepo/jj":   {"os/exec", "net"},
}

func TestPackagesThatStandAlone(t *testing.T) {
	found := 0
	for _, p := range packages(t) {
		never, ok := alone[p.path()]
		if !ok {
			continue
		}
		found++
		for _, imp := range p.Imports {
			top, _, _ := strings.Cut(imp, "/")
			if imp == "github.com/svc-hq/svc/internal/client/plain" {
				continue // is one of them
			}
			if strings.Contains(top, ".") || slices.Contains(never, imp) || slices.Contains(never, top) {
				t.Errorf("%s must not import %s", p.path(), imp)
			}
		}
	}
	if found != len(alone) {
		t.Errorf("%d of %d packages are there", found, len(alone))
	}
}

// Names that say nothing attract everything.
func TestPackageNamesSaySomething(t *testing.T) {
	empty := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "types", "models", "base", "lib"}
	for _, p := range packages(t) {
		if slices.Contains(empty, p.Name) {
			t.Errorf("%s: the name %s says nothing", p.path(), p.Name)
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.path())
		}
	}
}

// Long files want a reason. Over the hard limit there is none, except that a
// table may be as long as what it lists.
func TestFilesAreShort(t *testing.T) {
	const report, limit = 400, 700
	for _, p := range packages(t) {
		for _, f := range slices.Concat(p.GoFiles, p.CgoFiles) {
			n := lines(t, filepath.Join(p.Dir, f))
			switch {
			case generated(f):
			case n > limit:
				t.Errorf("%s/%s has %d lines; split it", p.path(), f, n)
			case n > report:
				t.Logf("%s/%s has %d lines", p.path(), f, n)
			}
		}
	}
}

func lines(t *testing.T, path string) (n int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		n++
	}
	return n
}

// The project stands alone: it must build and be read on any machine.
func TestNothingNamesThisMachine(t *testing.T) {
	out, err := exec.Command("git", "-C", "..", "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	private := regexp.MustCompile(`(?:^|[\s"'(=])(/work/|/root/)|\.\./shared\b`)
	for name := range strings.FieldsSeq(string(out)) {
		if name == "internal/arch_test.go" || strings.Contains(name, "/testdata/") || strings.HasPrefix(name, "web/node_modules/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			continue // deleted in the working copy, or binary
		}
		if m := private.Find(text); m != nil {
			t.Errorf("%s names %q", name, bytes.TrimSpace(m))
		}
	}
}
