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
	if _, err := os.Stat(old); err == nil || len(left) != 69 {
		t.Errorf("%d are left of 70 with one that is old", len(left))
	}
}
