package gittest

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed testdata/jj.zip
var jujutsu []byte

// Jujutsu lays out what a real jj wrote (testdata/jj.sh): plain, a workspace
// without .git; added, a second one of the same repository; both, one beside
// .git. It returns the folder that holds them.
func Jujutsu(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(jujutsu), int64(len(jujutsu)))
	if err == nil {
		err = os.CopyFS(dir, archive)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "jj")
	Operate(t, dir, "fresh")
	return dir
}

// Operate brings all three to where they were after a step of the recording, as
// jj does by its operations: fresh, committed, named or elsewhere.
func Operate(t testing.TB, dir, step string) {
	t.Helper()
	for _, w := range []string{"plain", "added", "both"} {
		from := filepath.Join(dir, "steps", step, w)
		copied := map[string]string{"checkout": ".jj/working_copy/checkout"}
		if w == "both" {
			copied["HEAD"], copied["index"] = ".git/HEAD", ".git/index"
		}
		for name, to := range copied {
			data, err := os.ReadFile(filepath.Join(from, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, w, filepath.FromSlash(to)), data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Changes returns what jj said of a workspace at a step: the ids of the change
// that is worked on and of the one below it, and the id of that one's commit.
func Changes(t testing.TB, dir, step, workspace string) (top, below, commit string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "steps", step, workspace, "log"))
	f := strings.Fields(string(data))
	if err != nil || len(f) < 4 {
		t.Fatalf("the recording says %q of %s: %v", data, workspace, err)
	}
	return f[0], f[2], f[3]
}
