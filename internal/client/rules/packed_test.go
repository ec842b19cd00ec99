package rules

import (
	"io/fs"
	"reflect"
	"testing"
)

// What the installed svc has of the rules is what their text says, to the last
// option.
func TestWhatIsPackedIsWhatTheTextSays(t *testing.T) {
	data, err := Pack()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range Folders() {
		want, err := read(folder)
		if err != nil {
			t.Fatal(err)
		}
		u, ok := unpack(string(data), folder)
		if !ok || len(want.Rules) == 0 {
			t.Fatalf("%s: packed: %v, %d rules", folder, ok, len(want.Rules))
		}
		if got := u.matcher(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other rules than the text says", folder)
		}
		if u.left != "" || len(u.texts) != cap(u.texts) || len(u.options) != cap(u.options) {
			t.Errorf("%s: %d bytes left, room for %d texts and %d options, of which %d and %d are there", folder, len(u.left), cap(u.texts),
				cap(u.options), len(u.texts), len(u.options))
		}
	}
	seen := 0
	for _, pattern := range []string{"*.txt", "*/syntax.rules"} {
		files, err := fs.Glob(rulesFS, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := rulesFS.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			u, ok := unpack(string(data), file)
			if !ok {
				t.Fatalf("%s is not packed", file)
			}
			got, want := u.lines(), linesOf(text)
			if len(want) == 0 || len(got) != len(want) {
				t.Fatalf("%s: %d lines, want %d", file, len(got), len(want))
			}
			for i := range got {
				if got[i].Number != want[i].Number || !equal(got[i].Words, want[i].Words) || !equal(got[i].Options, want[i].Options) {
					t.Errorf("%s: %v, want %v", file, got[i], want[i])
				}
			}
			seen++
		}
	}
	if _, ok := unpack(string(data), "cobol"); ok || seen < 10 {
		t.Errorf("a folder that is not there: %v; %d files", ok, seen)
	}
}

// equal compares lists, of which an empty one may be nil.
func equal[T any](a, b []T) bool { return len(a)+len(b) == 0 || reflect.DeepEqual(a, b) }
