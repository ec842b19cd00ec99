package setup_test

import (
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/svc-hq/svc/internal/client/setup"
)

var update = flag.Bool("update", false, "rewrite the expected files in testdata")

// plugin stands in for the plugin files, which package host has.
func plugin(host string) (string, []byte, bool) {
	name := "svc.js"
	if host == "omp" {
		name = "svc.ts"
	}
	return name, []byte("// " + host + " plugin\nspawn(\"svc\", [\"hook\", \"--tool\", \"" + host + "\"])\n"), true
}

// files is a folder's content by path. Folders end in a slash.
type files map[string]string

func write(t *testing.T, dir string, content files) {
	t.Helper()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) files {
	t.Helper()
	got := files{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if e.IsDir() {
			if e.Name() == ".git" {
				return fs.SkipDir
			}
			if under, _ := os.ReadDir(path); len(under) == 0 {
				got[name+"/"] = ""
			}
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			got[name] = "-> " + target
			return err
		}
		data, err := os.ReadFile(path)
		got[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func apply(t *testing.T, c *setup.Changes, err error) *setup.Changes {
	t.Helper()
	if err == nil {
		err = c.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func planned(t *testing.T, dir string, hosts ...string) *setup.Changes {
	t.Helper()
	c, err := setup.Plan(setup.Options{Root: dir, Hosts: hosts, Plugin: plugin})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cycle sets up, sets up again and removes, and returns what was there after
// the first step. The second must change nothing, the third must give back
// every byte.
func cycle(t *testing.T, before files, hosts ...string) files {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, before)
	apply(t, planned(t, dir, hosts...), nil)
	after := read(t, dir)
	if again := planned(t, dir, hosts...); !again.Empty() {
		t.Errorf("a second run would change:\n%s", again.Diff())
	}
	c, err := setup.Remove(setup.Options{Root: dir, Hosts: hosts})
	apply(t, c, err)
	if d := cmp.Diff(before, read(t, dir)); d != "" {
		t.Errorf("removing did not restore the repository (-before +after):\n%s", d)
	}
	return after
}

// Each host has one golden file: what init makes of an empty repository, and
// of one with settings of its own.
func TestEveryHostInAnEmptyAndAFullRepository(t *testing.T) {
	for _, id := range setup.IDs() {
		t.Run(id, func(t *testing.T) {
			path := filepath.Join("testdata", "hosts", id+".txtar")
			golden, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before := section(golden, "before/")
			if len(before) == 0 {
				t.Fatal("no files before: there is nothing to merge into")
			}
			empty, full := cycle(t, files{}, id), cycle(t, before, id)
			if *update {
				save(t, path, golden.Comment, files(before), empty, full)
				return
			}
			if d := cmp.Diff(section(golden, "empty/"), empty); d != "" {
				t.Errorf("in an empty repository (-want +got):\n%s", d)
			}
			if d := cmp.Diff(section(golden, "after/"), full); d != "" {
				t.Errorf("in a full repository (-want +got):\n%s", d)
			}
		})
	}
}

func section(a *txtar.Archive, prefix string) files {
	out := files{}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, prefix); ok {
			out[name] = string(f.Data)
		}
	}
	return out
}

func save(t *testing.T, path string, comment []byte, before, empty, full files) {
	t.Helper()
	a := &txtar.Archive{Comment: comment}
	for _, s := range []struct {
		prefix  string
		content files
	}{{"empty/", empty}, {"before/", before}, {"after/", full}} {
		for _, name := range sortedKeys(s.content) {
			a.Files = append(a.Files, txtar.File{Name: s.prefix + name, Data: []byte(s.content[name])})
		}
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func sortedKeys(m files) []string { return slices.Sorted(maps.Keys(m)) }
