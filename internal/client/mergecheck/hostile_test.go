package mergecheck_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/gittest"
)

// script writes a program.
func script(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// A repository that is hostile in every way a checker could be led to run
// something of it. Each way would leave a mark.
func TestNothingOfAnUntrustedRepositoryRuns(t *testing.T) {
	if testing.Short() {
		return // make test starts every checker
	}
	marks := t.TempDir()
	mark := func(name string) string { return filepath.Join(marks, name) }
	evil := filepath.Join(t.TempDir(), "evil")
	script(t, evil, "touch '"+mark("toolexec")+"'; exec \"$@\"")
	touch := func(name string) string { return "touch '" + mark(name) + "'" }
	t.Setenv("GOFLAGS", "-toolexec="+evil)
	t.Setenv("CC", evil)
	t.Setenv("RUSTC_WRAPPER", evil)
	t.Setenv("JAVA_TOOL_OPTIONS", "-javaagent:"+evil)
	t.Setenv("NODE_OPTIONS", "--require "+evil)

	both := func(text string) files {
		out := files{}
		for _, ending := range []string{".ts", ".py", ".rs", ".java", ".c", ".cpp"} {
			out[text+ending] = "\n"
		}
		return out
	}
	base := files{
		"go.mod":     "module example.org/shop\n\ngo 1.21\n\ntoolchain go1.999.9\n",
		"two/go.mod": "module example.org/two\n\ngo 1.21\n\nrequire example.org/x v0.0.0\nreplace example.org/x => ../../../x\n",
		"two/a.go":   "package two\n",
		"go.work":    "go 1.21\n\nuse .\n\ntoolchain go1.999.9\n",
		"shop/a.go":  "package shop\n\n//go:generate " + evil + "\n",
		"shop/c.go": "package shop\n\n// #cgo CFLAGS: -fplugin=./evil.so -wrapper " + evil +
			"\n// #cgo pkg-config: evil\nimport \"C\"\n",
		"package.json": `{"scripts": {"prepare": "` + evil + `"}}`,
		"tsconfig.json": `{"extends": "./node_modules/evil/tsconfig.json", ` +
			`"compilerOptions": {"plugins": [{"name": "evil", "transform": "evil"}]}}`,
		"mypy.ini":           "[mypy]\nplugins = evil.py\n",
		"pyrightconfig.json": `{"venvPath": ".", "venv": "evil"}`,
		"evil.py":            "import os\nos.system('" + touch("mypy") + "')\n",
		"conftest.py":        "import os\nos.system('" + touch("conftest") + "')\n",
		"Cargo.toml":         "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nbuild = \"build.rs\"\n",
		"build.rs":           "fn main() { std::fs::write(\"" + mark("build.rs") + "\", \"\").unwrap(); }\n",
		".cargo/config.toml": "[build]\nrustc-wrapper = \"" + evil + "\"\n",
		"META-INF/services/javax.annotation.processing.Processor": "Evil\n",
		"@evil.java": "class A {}\n",
	}
	p := newPair(t, base, with(both("one"), files{"shop/a.go": "package shop\n\nvar A = 1\n", "two/a.go": "package two\n\nvar A = 1\n",
		"-J-javaagent.java": "class B {}\n"}),
		with(both("two"), files{"shop/b.go": "package shop\n\nvar B = 1\n", "two/b.go": "package two\n\nimport _ \"example.org/x\"\n"}))
	gittest.Write(t, p.root, "compile_commands.json", `[{"directory": "`+p.root+`", "file": "one.cpp", "command": "`+evil+` -wrapper `+evil+
		` -fplugin=./evil.so -specs=evil.specs -B. @evil.rsp -Xclang -load -Xclang ./evil.so one.cpp"}]`)
	for _, name := range []string{"go", "node", "gcc", "g++", "clang", "clang++", "cc", "c++", "javac", "cargo", "mypy", "pyright", "git"} {
		script(t, filepath.Join(p.root, "bin", name), touch("bin-"+name))
	}
	gittest.Write(t, p.root, "node_modules/typescript/lib/typescript.js", "require('fs').writeFileSync('"+mark("tsc")+"', '')\n")
	for _, name := range []string{"python", "mypy", "pyright"} {
		script(t, filepath.Join(p.root, ".venv", "bin", name), touch("venv-"+name))
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", strings.Join([]string{".", "bin", path}, string(os.PathListSeparator)))
	p.check()
	t.Setenv("PATH", filepath.Join(p.root, "bin")+string(os.PathListSeparator)+path)
	if err := os.RemoveAll(filepath.Join(p.dir, "answers")); err != nil {
		t.Fatal(err)
	}
	r := p.checkIn(t, path)
	ran := strings.Join(r.Checkers, " ")
	if ran != "go cc c++ javac" && ran != "go cc c++" || len(r.New) > 0 ||
		!strings.Contains(strings.Join(r.Skipped, "\n"), "tsc: it runs code of the repository") {
		t.Errorf("ran %q, skipped %q", r.Checkers, r.Skipped)
	}
	if left, _ := os.ReadDir(marks); len(left) > 0 {
		t.Fatalf("the repository ran something: %v", left)
	}
	// What is looked for would be found: in a trusted clone its code runs.
	if runtime.GOOS != "windows" {
		p.trusted = true
		p.checkIn(t, path)
		if left, _ := os.ReadDir(marks); len(left) == 0 {
			t.Error("nothing of a trusted repository ran")
		}
	}
}

// checkIn is check where git itself must not be the repository's.
func (p *pair) checkIn(t *testing.T, gits string) *mergecheck.Report {
	t.Helper()
	script(t, filepath.Join(p.root, "bin", "git"), "PATH='"+gits+"' exec git \"$@\"")
	return p.check()
}

// What a branch points at on this machine is not read: neither a secret beside
// the folder nor what is anywhere else.
func TestLinksOutOfTheTreeAreCut(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.go")
	if err := os.WriteFile(secret, []byte("package shop\n\nvar Password int = \"hunter2\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a.go": "package shop\n\nfunc F() {}\n",
		"inner/real.go": "package inner\n"}
	p := newPair(t, base, files{"a.go": "package shop\n\nfunc G() {}\n", "link.go": "-> " + secret, "up": "-> ../..", "loop": "-> loop",
		"kept.txt": "-> inner/real.go", "chain": "-> up/.."}, files{"b.go": "package shop\n\nvar X = F\n"})
	tells(t, p.check(), "b.go:3: undefined: F")
	for name, want := range map[string]bool{"link.go": false, "up": false, "loop": false, "chain": false, "kept.txt": true} {
		if _, err := os.Lstat(filepath.Join(p.dir, "merged", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A checker that takes too much memory or time is ended with all that it
// started, and what it said until then is not told.
func TestCheckersKeepToTheirLimits(t *testing.T) {
	if testing.Short() {
		return // make test waits for the limits
	}
	base := files{"go.mod": "module example.org/shop\n\ngo 1.21\n", "a.go": "package shop\n\nfunc F() {}\n"}
	p := newPair(t, base, files{"a.go": "package shop\n\nfunc G() {}\n"}, files{"b.go": "package shop\n\nvar X = F\n"})
	tools := t.TempDir()
	t.Setenv("PATH", tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	run := func(c mergecheck.Check) (*mergecheck.Report, error) {
		repo, _ := gitrepo.At(p.root)
		c.Repo, c.Objects, c.Heads, c.Changed, c.Dir = repo, t.TempDir(), p.heads, p.changed, p.dir
		return mergecheck.Run(gitrepo.WithObjects(context.Background(), c.Objects), c)
	}
	if runtime.GOOS == "linux" {
		script(t, filepath.Join(tools, "go"), "echo b.go:3:1: something; sleep 0.2; tail /dev/zero; exit 1")
		r, err := run(mergecheck.Check{Memory: 64 << 20})
		if err != nil || len(r.New) > 0 ||
			!strings.Contains(strings.Join(r.Skipped, " "), "more memory") {
			t.Errorf("memory: %v, %+v", err, r)
		}
	}
	pid := filepath.Join(tools, "pid")
	script(t, filepath.Join(tools, "go"), "sh -c 'echo $$ >"+pid+"; exec sleep 600' & wait")
	start := time.Now()
	r, err := run(mergecheck.Check{Idle: 10 * time.Second})
	if err != nil || len(r.New) > 0 || !strings.Contains(strings.Join(r.Skipped, " "), "did nothing for too long") ||
		time.Since(start) > 5*time.Minute {
		t.Errorf("idle: %v, %+v after %s", err, r, time.Since(start))
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	await.True(t, "the end of what the checker started", func() bool { return !alive(n) })
}

// What Go cannot compile for want of others' code was not looked at, however
// alike the two sides are in that.
func TestModulesThatAreNotHere(t *testing.T) {
	p := newPair(t, files{"go.mod": "module example.org/shop\n\ngo 1.21\n\nrequire example.org/far v1.0.0\n",
		"a.go": "package shop\n\nimport _ \"example.org/far\"\n\nfunc Total() int { return 1 }\n", "b.go": "package shop\n"},
		files{"a.go": "package shop\n\nimport _ \"example.org/far\"\n\nfunc Sum() int { return 1 }\n"},
		files{"b.go": "package shop\n\nvar x = Total()\n"})
	if r := p.check(); !strings.Contains(strings.Join(r.Skipped, "\n"), "modules that it needs are not on this machine") {
		t.Errorf("told %v, ran %q, skipped %q", r.New, r.Checkers, r.Skipped)
	}
}
