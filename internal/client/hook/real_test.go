package hook

import (
	"os"
	"path/filepath"
	"testing"
)

// A run that remembers folders resolves every path as one that looks each time.
func TestPathsAreRealWhoeverRemembers(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"a/b", "c"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"link": "a", "a/up": "../c", "a/b/whole": dir, "gone": "nowhere", "loop": "loop", "c/file": "../a/file", "chain": "link/up",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := &runner{reals: map[string]string{}}
	for range 2 { // from what was remembered, too
		for _, path := range []string{
			"", "a", "a/b", "a/b/new/er", "link", "link/b/x", "a/up/y", "a/b/whole/link/file", "gone", "gone/z", "loop", "loop/z",
			"c/file", "a/file/below", "chain", "chain/q", "link/../c", "a//b",
		} {
			path = dir + "/" + path
			if got, want := r.real(path), realPath(path); got != want {
				t.Errorf("%s is %s, not %s", path, got, want)
			}
		}
	}
	if got := r.real("a/b"); got != realPath("a/b") {
		t.Errorf("a path from here is %s", got)
	}
}
