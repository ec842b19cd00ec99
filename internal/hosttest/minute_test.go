//go:build unix

package hosttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// minute is what a newcomer may need from the download to the first edit that
// svc speaks about.
const minute = time.Minute

// TestHostsFromNothing takes what make release made to a machine with git and
// Claude Code: one command installs svc, one starts it, and two sessions in one
// clone then hear of each other before the second overwrites the first. README's
// own commands are run as they stand there.
func TestHostsFromNothing(t *testing.T) {
	hosts := wanted(t)
	if len(hosts) == 0 || hosts[0].id != "claude_code" {
		return
	}
	claude := install(t, hosts[0])
	files := release(t)
	t.Run("README", func(t *testing.T) { readmeWalk(t, hosts[0], claude, files) })
	for name, way := range map[string]func(w *world) (svc string){
		"npx": func(w *world) string {
			packages, err := filepath.Glob(filepath.Join(files, "npm-svc-*.tgz"))
			if err != nil || len(packages) < 2 {
				w.t.Fatalf("packages %v, %v", packages, err)
			}
			app := filepath.Join(w.home, "app")
			args := strings.Fields("install --offline --no-audit --no-fund --omit=optional --force --prefix")
			w.must("npm", append(append(args, app), packages...)...) // what npx would fetch
			w.must("npx", "--offline", "--prefix", app, "svc", "up", "--yes")
			return filepath.Join(w.home, ".local", "bin", "svc")
		},
		"deb": func(w *world) string {
			debs, err := filepath.Glob(filepath.Join(files, "svc_*_"+runtime.GOARCH+".deb"))
			if err != nil || len(debs) != 1 {
				w.t.Fatalf("debs %v, %v", debs, err)
			}
			w.must("dpkg-deb", "-x", debs[0], filepath.Join(w.home, ".root"))
			return filepath.Join(w.home, ".root", "usr", "bin", "svc")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newcomer(t, "ann", claude, files, map[string]string{"npx": "node npm npx", "deb": "dpkg-deb tar"}[name])
			begun := time.Now()
			svc := way(w)
			if name != "npx" {
				w.t.Log(w.must(svc, "up", "--yes"))
			}
			t.Cleanup(func() { w.runs(context.Background(), w.repo, w.env, svc, "down") })
			told := w.meet(hosts[0])
			took := told.Sub(begun)
			if told.IsZero() || took > minute {
				t.Errorf("from nothing to a warned edit took %v (zero: never warned)", took)
			}
			t.Logf("from nothing to a warned edit: %v", took.Round(100*time.Millisecond))
		})
	}
}

// release returns the folder of a release for this machine: the one that
// SVC_TEST_RELEASE names, or one made here.
func release(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("SVC_TEST_RELEASE"); dir != "" {
		return dir
	}
	dir := t.TempDir()
	key, out := filepath.Join(dir, "key"), filepath.Join(dir, "release")
	if text, err := exec.Command("go", "run", "../tools/release", "keygen", "-id", "test", "-out", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	cmd := exec.Command("../../.ci/release", out)
	cmd.Env = append(os.Environ(), "RELEASE_KEY="+key, "VERSION=0.0.1", "PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// newcomer is somebody with a clone who has never heard of svc, on a machine
// with git, the host, what else is named, and a release.
func newcomer(t *testing.T, name string, host []string, release, programs string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(root, "home"), repo: filepath.Join(root, "home", "proj")}
	path := append([]string{filepath.Join(w.home, ".local", "bin"), filepath.Join(w.home, ".root", "usr", "bin")}, host...)
	tmp := filepath.Join(root, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	mail := name + "@example.com"
	w.env = []string{"PATH=" + strings.Join(append(path, "/usr/bin"), string(filepath.ListSeparator)), "HOME=" + w.home, "TMPDIR=" + tmp,
		"TERM=dumb", "LANG=C.UTF-8", "SVC_NO_UPDATE_CHECK=1", "SVC_NO_BROWSER=1",
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + mail, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + mail}
	w.inside = emptyMachine(t, programs, root, append(whole(host), release)...)
	w.write(filepath.Join(w.repo, free), "first\n")
	for _, args := range []string{"init -q -b main", "add -A", "commit -qm start"} {
		w.must("git", strings.Fields(args)...)
	}
	return w
}

// meet runs two sessions of the host in the clone: while one has read a file,
// the other changes it. It returns when the first was told so as it set out to
// change the file, too. Claude Code itself refuses its edit tool a file that
// changed since it was read, and asks no hook; models then take the shell.
func (w *world) meet(h row) (told time.Time) {
	open := filepath.Join(w.repo, free)
	look := func(fresh string) {
		if told.IsZero() && strings.Contains(fresh, "since you last saw it") {
			told = time.Now()
		}
	}
	var first script
	first.then(h.read(open), func(string) {
		var second script
		second.then(h.read(open), nil)
		second.then(h.edit(open, "first", "second"), nil)
		w.drive(h, second.ends("Done."), "")
	})
	first.then(h.edit(open, "first", "third"), look)
	first.then(h.shell("echo third > "+free), look)
	w.drive(h, first.ends("Done."), "")
	return told
}
