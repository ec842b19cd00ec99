package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for go, as the program itself does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == standIn || os.Getenv("SVC_TIMES_AS_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
}

// What go compiles, links and tests is found again in the report, and go test
// says what it always says.
func TestACommandIsTakenApart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	small := t.TempDir() // another folder each time: nothing of it is in a cache
	if err := os.CopyFS(small, os.DirFS("testdata/small")); err != nil {
		t.Fatal(err)
	}
	mod := "module example.com/small" + strings.ToLower(filepath.Base(filepath.Dir(small))) + "\n\ngo 1.26\n"
	if err := os.WriteFile(filepath.Join(small, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-all", "--", "go", "test", "-count=1", ".")
	// -trimpath is what the standard library is compiled with already.
	cmd.Dir, cmd.Env = small, append(os.Environ(), "SVC_TIMES_AS_PROGRAM=1", "GOWORK=off", "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`(?m)^ok  \texample\.com/small`,
		`processor time +0:\d`,
		`Go compiled, by package\n(?: +\d+\.\d s  .*\n)*? +\d+\.\d s  example\.com/small`,
		`Linked, by program\n +\d+\.\d s  example\.com/small.*\.test`,
		`Tests, by package\n +\d+\.\d s  ` + regexp.QuoteMeta(small),
		`The dearest tests, by the clock\n +\d+\.\d s  example\.com/small.* TestDouble`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// A command that fails fails here, too, and says why.
func TestAFailureIsPassedOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "--", "go", "build", "./nowhere")
	cmd.Env = append(os.Environ(), "SVC_TIMES_AS_PROGRAM=1")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "nowhere") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSourcesOfCompilers(t *testing.T) {
	for args, want := range map[string]string{
		"--target=wasm32-wasi -O2 -c -o x.o /mod/go-tree-sitter/scala/parser.c": "scala wasm32-wasi",
		"-fsanitize=address -c grammars/swift/src/scanner.c":                    "swift sanitizer",
		"-o prog a.o b.o": "(linking) this machine",
	} {
		if what, target := sourceOf(strings.Fields(args)); what+" "+target != want {
			t.Errorf("%s is %s for %s, want %s", args, what, target, want)
		}
	}
}

// A test whose parts run side by side is as dear as they are, and one whose parts
// run one after the other is not counted twice.
func TestPartsOfTests(t *testing.T) {
	s := &seen{tests: sums{}, parts: map[string]time.Duration{}}
	for _, n := range []Note{
		{Package: "p", Test: "TestA/x/deep", Took: 3 * time.Second}, {Package: "p", Test: "TestA/x", Took: 4 * time.Second},
		{Package: "p", Test: "TestA/y", Took: 5 * time.Second}, {Package: "p", Test: "TestA", Took: time.Second},
		{Package: "p", Test: "TestB/x", Took: 2 * time.Second}, {Package: "p", Test: "TestB", Took: 6 * time.Second},
	} {
		s.addTest(n)
	}
	if a, b := *s.tests["p TestA"], *s.tests["p TestB"]; a != (sum{1, 9 * time.Second}) || b != (sum{1, 6 * time.Second}) {
		t.Errorf("A = %v, B = %v", a, b)
	}
}

func TestTables(t *testing.T) {
	s := sums{}
	for i := range 25 {
		s.add(strings.Repeat("x", i+1), time.Duration(i)*time.Second)
	}
	s.add("x", 40*time.Second)
	var out strings.Builder
	table(&out, "Things", s, mostLines)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2+mostLines || !strings.HasSuffix(lines[1], "40.0 s  x (2 times)") || !strings.HasSuffix(lines[21], "15.0 s  5 more") {
		t.Errorf("got\n%s", out.String())
	}
}
