package gitrepo

import (
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// Where only git can read the index, git is asked.
func TestFilesOfASplitIndex(t *testing.T) {
	dir := gittest.Init(t)
	gittest.Write(t, dir, "a.txt", "x\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "update-index", "--split-index")
	gittest.Write(t, dir, "b.txt", "x\n")
	gittest.Run(t, dir, "add", "-A")
	if got, err := Files(t.Context(), dir); err != nil || !slices.Equal(got, []string{"a.txt", "b.txt"}) {
		t.Errorf("files %v, %v", got, err)
	}
}
