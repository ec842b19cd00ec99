package patch

import (
	"slices"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want []string
	}{
		{"an envelope with every kind of section",
			"*** Begin Patch\n*** Environment ID: x\n*** Add File: new.txt\n+made\n*** Update File: a b.txt\n*** Move to: c.txt\n@@ func " +
				"f\n-x\n+y\n*** End of File\n*** Delete File: old.txt\n*** End Patch\n",
			[]string{"new.txt", "a b.txt", "c.txt", "old.txt"}},
		{"an envelope in a heredoc, with white space and carriage returns",
			"apply_patch <<'EOF'\n  *** Begin Patch\r\n  *** Add File: viash.txt \r\n+shell\r\n*** End Patch\r\nEOF", []string{"viash.txt"}},
		{"a file that is added does not add what its content names",
			"*** Begin Patch\n*** Add File: a.md\n+*** Update File: b.md\n*** End Patch", []string{"a.md"}},
		{"a context line that looks like a header is content",
			"*** Begin Patch\n*** Update File: a.md\n@@\n *** Update File: b.md\n-x\n*** End Patch", []string{"a.md"}},
		{"a hash-line edit", "[src/a.go#EDA7]\n12:ab|x\n[src/b.go#00ff]\n", []string{"src/a.go", "src/b.go"}},
		{"a git diff with a rename, a new and a deleted file",
			"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/n " +
				"b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\ndiff --git a/d b/d\ndeleted file mode 100644\n--- " +
				"a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n",
			[]string{"x", "y", "n", "d"}},
		{
			"a binary change is in the header alone",
			"diff --git a/logo.png b/logo.png\nindex 1..2 100644\nGIT binary patch\n",
			[]string{"logo.png"},
		},
		{
			"a plain diff with time stamps",
			"--- old.txt\t2026-01-01 00:00:00\n+++ new.txt\t2026-01-01 00:00:00\n@@ -1 +1 @@\n-a\n+b\n",
			[]string{"old.txt", "new.txt"},
		},
		{
			"removed lines that look like headers",
			"--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,1 @@\n--- a/comment\n-++ b/comment\n+x\n",
			[]string{"q.sql"},
		},
		{"a quoted name", "--- \"a/caf\\303\\251.txt\"\n+++ \"b/caf\\303\\251.txt\"\n@@ -1 +1 @@\n-a\n+b\n", []string{"café.txt"}},
		{"prose", "please change *** nothing\n[link](x) [note #1 here]", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Paths(tt.text); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDiffStripsFolders(t *testing.T) {
	text := "--- proj/src/a.c\n+++ proj/src/a.c\n@@ -1 +1 @@\n-a\n+b\n"
	for strip, want := range map[int]string{0: "proj/src/a.c", 1: "src/a.c", 2: "a.c", 9: "a.c", -1: "proj/src/a.c"} {
		if got := Diff(text, strip); !slices.Equal(got, []string{want}) {
			t.Errorf("strip %d: %q, want %q", strip, got, want)
		}
	}
}

// No text may crash the reader, name a file twice or make up a name that the
// text does not hold.
func FuzzPaths(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End Patch")
	f.Add("--- a/x\n+++ b/x\n@@ -1,9999999999 +1 @@\n")
	f.Add("[a#b]")
	f.Fuzz(func(t *testing.T, text string) {
		got := Paths(text)
		for i, p := range got {
			if p == "" || slices.Contains(got[:i], p) {
				t.Errorf("%q named twice or empty", p)
			}
			if !strings.Contains(text, p) && !strings.Contains(text, `"`) {
				t.Errorf("%q is not in the text", p)
			}
		}
	})
}
