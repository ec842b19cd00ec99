//go:build unix

package hosttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// everywhere are the programs of every system; git is the one that a developer
// adds.
const everywhere = "sh bash git uname tr mktemp cp cat awk sed mkdir chmod mv rm ls openssl grep dirname env"

// emptyMachine returns the words before a command with which it runs on a
// machine that has the programs of every system, git, what is named, and the
// given folders, writable or not; nothing else of this one but libraries.
func emptyMachine(t *testing.T, programs string, writable string, readable ...string) []string {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal("the empty machine is made by bubblewrap; on Debian or Ubuntu: apt-get install bubblewrap")
	}
	words := []string{bwrap, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--ro-bind", "/usr/lib", "/usr/lib", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"}
	for _, there := range []string{"/usr/lib64", "/etc/ssl", "/etc/ld.so.cache", "/etc/passwd", "/usr/share/git-core"} {
		words = append(words, "--ro-bind-try", there, there)
	}
	words = append(words, "--symlink", "usr/lib64", "/lib64")
	for name := range strings.FieldsSeq(everywhere + " " + programs) {
		path, err := exec.LookPath(name)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(path, "/usr/lib/") { // a script that looks for the rest of it beside itself
			words = append(words, "--symlink", path, "/usr/bin/"+name)
			continue
		}
		words = append(words, "--ro-bind", path, "/usr/bin/"+name)
	}
	for _, dir := range readable {
		words = append(words, "--ro-bind", dir, dir)
	}
	return append(words, "--bind", writable, writable)
}

// whole is the folder of an npm package's programs with all that they need.
func whole(folders []string) (roots []string) {
	for _, dir := range folders {
		roots = append(roots, filepath.Dir(filepath.Dir(dir)))
	}
	return roots
}

// An empty machine has what it is said to have, and nothing of this one.
func TestHostsEmptyMachine(t *testing.T) {
	if os.Getenv("SVC_TEST_HOSTS") == "" {
		return
	}
	words := emptyMachine(t, "", t.TempDir())
	const look = "git --version && ! command -v go node npm python3 curl && ls /"
	out, err := exec.Command(words[0], append(words[1:], "/bin/sh", "-c", look)...).CombinedOutput()
	if err != nil || strings.Contains(string(out), "home") {
		t.Errorf("%v\n%s", err, out)
	}
}
