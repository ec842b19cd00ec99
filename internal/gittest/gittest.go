// Package gittest runs the real git for tests, in repositories of their own
// and untouched by the settings of whoever runs them.
package gittest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// Init makes an empty repository in a temporary folder and returns its root,
// without links in its name.
func Init(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	empty, err := emptyRepository()
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, ".git"), empty)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// emptyRepository is what git init makes, asked for once: most tests begin with
// one, and starting a program costs more than all the rest of it.
var emptyRepository = sync.OnceValues(func() (fs.FS, error) {
	dir, err := os.MkdirTemp("", "gittest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if out, err := command(dir, "init", "-q", "-b", "main", "--template=").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w\n%s", err, out)
	}
	files := fstest.MapFS{"info": {Mode: fs.ModeDir | 0o755}, "hooks": {Mode: fs.ModeDir | 0o755}}
	git := os.DirFS(filepath.Join(dir, ".git"))
	return files, fs.WalkDir(git, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case e.IsDir():
			files[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			return nil
		}
		data, err := fs.ReadFile(git, name)
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
})

// Run runs git in dir and returns what it printed.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return Feed(t, dir, "", args...)
}

// Feed is Run with something on standard input.
func Feed(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := command(dir, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		// A commit would start two more programs to see whether there is much to tidy up.
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	return cmd
}

// Commits adds a commit for each set of files, by name, each on top of the one
// before it on the branch called main, and returns their ids. The working copy
// and the index are left as they are.
func Commits(t testing.TB, dir string, sets ...map[string]string) []string {
	t.Helper()
	var in strings.Builder
	for i, files := range sets {
		fmt.Fprintf(&in, "commit refs/heads/main\nmark :%d\ncommitter a <a@example.com> %d +0000\ndata 1\nx\ndeleteall\n", i+1, 1_700_000_000+i)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", strconv.Quote(name), len(files[name]), files[name])
		}
	}
	marks := filepath.Join(dir, ".git", "marks")
	Feed(t, dir, in.String(), "fast-import", "--quiet", "--export-marks="+marks)
	list, err := os.ReadFile(marks)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(sets))
	for line := range strings.Lines(string(list)) {
		var n int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &n, &id); err != nil {
			t.Fatalf("marks of git fast-import: %q: %v", line, err)
		}
		ids[n-1] = id
	}
	return ids
}

// Write writes a file below dir, with the folders it needs, and returns its
// path.
func Write(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Numbered is a text of n lines, some of them replaced.
func Numbered(n int, replaced map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if text, ok := replaced[i]; ok {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}
