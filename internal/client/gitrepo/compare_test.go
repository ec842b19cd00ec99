package gitrepo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
)

// What we find in this process is what git's merge finds: on versions with
// lines that repeat, blocks that moved, and ends without a newline.
func TestComparisonsAreThoseOfGit(t *testing.T) {
	ours, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var pairs [][2][]byte
		for i := range 25 { // a process of git for all of them
			before, after := versions(t, i)
			pairs = append(pairs, [2][]byte{before, after})
		}
		want, err := askGit(t.Context(), pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pairs {
			all++
			got, ok := diff.Compare(p[0], p[1])
			if !ok {
				continue
			}
			ours++
			if d := cmp.Diff(want[i].Hunks, got); d != "" {
				t.Fatalf("%q\n%q\n-git +ours\n%s", p[0], p[1], d)
			}
		}
	})
	if ours < all*9/10 {
		t.Errorf("of %d comparisons %d were left to git", all, all-ours)
	}
}

// versions draws two versions of a file.
func versions(t *rapid.T, i int) (before, after []byte) {
	line := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 2).Draw(t, "common") == 0 {
			return rapid.SampledFrom([]string{"", "{", "}", "\treturn nil", "\t}"}).Draw(t, "line")
		}
		return fmt.Sprint("line ", rapid.IntRange(0, 60).Draw(t, "number"))
	})
	base := rapid.SliceOfN(line, 0, 60).Draw(t, fmt.Sprint("base", i))
	side := append([]string(nil), base...)
	for range rapid.IntRange(1, 5).Draw(t, "edits") {
		from := rapid.IntRange(0, len(side)).Draw(t, "from")
		to := min(len(side), from+rapid.IntRange(0, 6).Draw(t, "size"))
		var put []string
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // a block again, as when a function is copied
			at := rapid.IntRange(0, len(side)).Draw(t, "copied")
			put = append(put, side[at:min(len(side), at+8)]...)
			to = from
		case 1:
		default:
			put = rapid.SliceOfN(line, 0, 6).Draw(t, "put")
		}
		side = append(side[:from:from], append(put, side[to:]...)...)
	}
	end := rapid.SampledFrom([]string{"\n", ""})
	return []byte(strings.Join(base, "\n") + end.Draw(t, "old end")), []byte(strings.Join(side, "\n") + end.Draw(t, "new end"))
}

// Versions in which every common line is there too often are left to git, and
// so are large ones.
func TestWhatIsLeftToGit(t *testing.T) {
	often := strings.Repeat("same\n", 66)
	if _, ok := diff.Compare([]byte(often+"a\n"), []byte("b\n"+often)); ok {
		t.Error("a line that repeats too often was compared here")
	}
	if _, ok := diff.Compare([]byte(strings.Repeat("\n", 40_000)), []byte("\n")); ok {
		t.Error("a large file was compared here")
	}
	found, err := diffContents(t.Context(), [][2][]byte{
		{[]byte(often + "a\n"), []byte("b\n" + often)}, {[]byte("a\n"), []byte("b\n")},
		{[]byte("\x00"), []byte("b\n")}, {[]byte("a"), []byte("a")},
	})
	if err != nil || len(found[0].Hunks) != 2 || len(found[1].Hunks) != 1 || !found[2].Binary || found[3].Hunks != nil || found[3].Binary {
		t.Errorf("found %+v, %v", found, err)
	}
}
