package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A shelter that another process is about to furnish has no HEAD yet. It must
// not be taken for one that nobody uses.
func TestYoungSheltersAreLeftAlone(t *testing.T) {
	base := t.TempDir()
	long := time.Now().Add(-2 * shelterAge)
	for i := range 70 {
		if err := os.Mkdir(filepath.Join(base, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old, used := filepath.Join(base, "1"), filepath.Join(base, "2")
	if err := os.WriteFile(filepath.Join(used, "HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{old, used} {
		if err := os.Chtimes(dir, long, long); err != nil {
			t.Fatal(err)
		}
	}
	pruneShelters(base)
	left, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil || len(left) != 69+1 { // and the stamp
		t.Errorf("%d are left of 70 with one that is old", len(left)-1)
	}
}

// Every hook passes by: a folder with thousands of shelters is looked through
// once a day.
func TestSheltersAreLookedThroughOnceADay(t *testing.T) {
	base := t.TempDir()
	long := time.Now().Add(-2 * shelterAge)
	old := filepath.Join(base, "old")
	add := func() {
		if err := os.Mkdir(old, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(old, long, long); err != nil {
			t.Fatal(err)
		}
	}
	gone := func() bool { _, err := os.Stat(old); return err != nil }
	add()
	if pruneShelters(base); !gone() {
		t.Error("the first look leaves an old one")
	}
	add()
	if pruneShelters(base); gone() {
		t.Error("a second look follows at once")
	}
	yesterday := time.Now().Add(-pruneEvery - time.Minute)
	if err := os.Chtimes(filepath.Join(base, "pruned"), yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if pruneShelters(base); !gone() {
		t.Error("nobody looks a day later")
	}
}
