package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// What make release made, from the outside. make test-release builds two
// versions, the first one twice, and names them; without them there is nothing
// to test, and what they are made of has tests of its own.
type released struct{ first, again, next, key string }

func releasedFiles(t *testing.T) (released, bool) {
	t.Helper()
	r := released{
		first: os.Getenv("SVC_TEST_RELEASE"),
		again: os.Getenv("SVC_TEST_RELEASE_AGAIN"),
		next:  os.Getenv("SVC_TEST_RELEASE_NEXT"),
		key:   os.Getenv("SVC_TEST_RELEASE_KEY"),
	}
	return r, r.first != ""
}

// bare is the PATH of a machine with git and the tools of every system.
func bare(t *testing.T, first string, tools ...string) string {
	t.Helper()
	dir := t.TempDir()
	always := strings.Fields("sh git uname tr mktemp cp cat awk sed mkdir chmod mv rm openssl grep dirname")
	for _, tool := range append(tools, always...) {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	return first + ":" + dir
}

// emptyLaptop has a clone, an agent host and git, and no svc.
func emptyLaptop(t *testing.T, path func(home string) string) *laptop {
	t.Helper()
	l := newLaptop(t)
	for _, name := range []string{"svc", "svcd"} {
		if err := os.Remove(filepath.Join(l.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	l.env = append(l.env, "PATH="+path(l.home))
	return l
}

// collide plays two sessions of Claude Code in the clone: the second must be
// told before it overwrites what the first wrote.
func (l *laptop) collide(svc string) {
	l.t.Helper()
	if err := os.Symlink(svc, filepath.Join(l.bin, "svc")); err != nil {
		l.t.Fatal(err)
	}
	l.hook("A", "SessionStart", "")
	l.hook("B", "SessionStart", "")
	l.hook("A", "PreToolUse", "t1")
	l.write("a.txt", "two\n")
	l.hook("A", "PostToolUse", "t2")
	if out := l.hook("B", "PreToolUse", "t3"); !strings.Contains(out, "a.txt") {
		l.t.Errorf("the second session is told %q", out)
	}
}

func TestReleaseFromNothingToAWarnedEdit(t *testing.T) {
	r, ok := releasedFiles(t)
	if !ok {
		return
	}
	t.Run("install.sh", func(t *testing.T) {
		l := emptyLaptop(t, func(home string) string { return bare(t, filepath.Join(home, ".local", "bin")) })
		begun := time.Now()
		l.run("", "/usr/bin/env", "SVC_FROM="+r.first, "sh", filepath.Join(r.first, "install.sh"))
		svc := filepath.Join(l.home, ".local", "bin", "svc")
		l.run("", svc, "up", "--yes")
		l.collide(svc)
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("npm", func(t *testing.T) {
		l := emptyLaptop(t, func(home string) string {
			return bare(t, filepath.Join(home, ".local", "bin"), "node", "npm", "npx", "env")
		})
		packages, err := filepath.Glob(filepath.Join(r.first, "npm-svc-*.tgz"))
		if err != nil || len(packages) < 2 {
			t.Fatalf("packages %v, %v", packages, err)
		}
		app := filepath.Join(l.home, "app")
		install := strings.Fields("install --offline --no-audit --no-fund --omit=optional --force --prefix")
		l.run("", "npm", append(append(install, app), packages...)...)
		l.run("", "npx", "--offline", "--prefix", app, "svc", "up", "--yes")
		l.collide(filepath.Join(l.home, ".local", "bin", "svc"))
	})
	t.Run("deb", func(t *testing.T) {
		debs, err := filepath.Glob(filepath.Join(r.first, "svc_*_"+runtime.GOARCH+".deb"))
		if err != nil || len(debs) != 1 {
			t.Fatalf("debs %v, %v", debs, err)
		}
		root := t.TempDir()
		if out, err := exec.Command("dpkg-deb", "-x", debs[0], root).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		l := emptyLaptop(t, func(string) string { return bare(t, filepath.Join(root, "usr", "bin")) })
		svc := filepath.Join(root, "usr", "bin", "svc")
		l.run("", svc, "up", "--yes")
		l.collide(svc)
	})
}

func TestReleaseIsReproducible(t *testing.T) {
	r, ok := releasedFiles(t)
	if !ok {
		return
	}
	a, errA := os.ReadFile(filepath.Join(r.first, "SHA256SUMS"))
	b, errB := os.ReadFile(filepath.Join(r.again, "SHA256SUMS"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("two builds of one commit differ (%v, %v):\n%s\n%s", errA, errB, a, b)
	}
}

func copied(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestReleaseThatWasTamperedWithIsNotInstalled(t *testing.T) {
	r, ok := releasedFiles(t)
	if !ok {
		return
	}
	program := fmt.Sprintf("svc-%s-%s", runtime.GOOS, runtime.GOARCH)
	for name, spoil := range map[string]func(dir string) error{
		"the program":   func(dir string) error { return grow(filepath.Join(dir, program)) },
		"the checksums": func(dir string) error { return grow(filepath.Join(dir, "SHA256SUMS")) },
		"the signature": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "SHA256SUMS.sig"), make([]byte, 64), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, r.first)
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			l := emptyLaptop(t, func(home string) string { return bare(t, filepath.Join(home, ".local", "bin")) })
			out, err := l.try("", "/usr/bin/env", "SVC_FROM="+dir, "sh", filepath.Join(r.first, "install.sh"))
			if _, there := os.Stat(filepath.Join(l.home, ".local", "bin", "svc")); err == nil || there == nil {
				t.Errorf("it was installed: %v\n%s", err, out)
			}
		})
	}
}

func grow(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, "x\n")
	f.Close()
	return err
}

// svc update goes from one release to the next, refuses what was changed on
// the way, and keeps the old program when the new one does not start: for a team
// from its server, for somebody alone from the project's release address.
func TestReleaseUpdatesToTheNext(t *testing.T) {
	r, ok := releasedFiles(t)
	if !ok {
		return
	}
	t.Run("of a team", func(t *testing.T) {
		offered, team := copied(t, r.next), newServer(t, t.TempDir())
		mux := http.NewServeMux()
		mux.Handle("/cli/", http.StripPrefix("/cli/", http.FileServer(http.Dir(offered))))
		mux.Handle("/", team.d.Handler())
		front := httptest.NewServer(mux)
		defer front.Close()
		r.update(t, offered, func(l *laptop, svc string) {
			l.run(team.token("olga@example.com"), svc, "login", "--server", front.URL, "--token", "-")
		})
	})
	t.Run("of somebody alone", func(t *testing.T) {
		offered := copied(t, r.next)
		var mu sync.Mutex
		var who []string // what the release page hears of who asks
		page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			who = append(who, q.Header.Get("Authorization")+q.Header.Get("Cookie")+q.URL.RawQuery)
			http.FileServer(http.Dir(offered)).ServeHTTP(w, q)
		}))
		defer page.Close()
		r.update(t, offered, func(l *laptop, svc string) {
			l.env = append(l.env, "SVC_RELEASES="+page.URL)
			l.run("", svc, "up", "--yes")
		})
		mu.Lock()
		defer mu.Unlock()
		if told := strings.Join(who, ""); len(who) == 0 || told != "" {
			t.Errorf("the release page was asked %d times and told %q", len(who), told)
		}
	})
}

// update installs the first version, connects it, and updates it to what is
// offered in a folder.
func (r released) update(t *testing.T, offered string, connect func(l *laptop, svc string)) {
	t.Helper()
	program := fmt.Sprintf("svc-%s-%s", runtime.GOOS, runtime.GOARCH)
	l := emptyLaptop(t, func(home string) string { return bare(t, filepath.Join(home, ".local", "bin")) })
	l.run("", "/usr/bin/env", "SVC_FROM="+r.first, "sh", filepath.Join(r.first, "install.sh"))
	svc := filepath.Join(l.home, ".local", "bin", "svc")
	connect(l, svc)
	version := func() string { return l.run("", svc, "--version") }
	was := version()

	refused := func(why string) {
		t.Helper()
		if out, err := l.try("", svc, "update"); err == nil || version() != was {
			t.Errorf("%s: installed, %v\n%s", why, err, out)
		}
	}
	if err := grow(filepath.Join(offered, program)); err != nil {
		t.Fatal(err)
	}
	refused("a program that was changed")

	// Signed, and broken all the same.
	if err := os.WriteFile(filepath.Join(offered, program), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	sign := exec.Command("go", "run", "../tools/release", "sign", "-key", r.key, "-version", "99.0.0", filepath.Join(offered, program))
	if out, err := sign.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	refused("a program that does not start")

	for _, f := range []string{program, "latest.json"} {
		data, err := os.ReadFile(filepath.Join(r.next, f))
		if err == nil {
			err = os.WriteFile(filepath.Join(offered, f), data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if out := l.run("", svc, "update"); version() == was {
		t.Errorf("still %s\n%s", was, out)
	}
}
