//go:build unix

package e2e

import (
	"testing"
)

// What git has below its everyday commands, and what it runs for others, writes
// claimed files too, and is refused like an edit.
func TestGitsPlumbingMeetsClaims(t *testing.T) {
	l, _ := claimedLaptop(t)
	l.write("list", "a.txt\n")
	l.write("b.txt", "b\n")
	l.write("fix.patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n")
	for _, command := range []string{
		"git checkout-index -f a.txt",
		"git update-index --cacheinfo 100644,4b825dc642cb6eb9a060e54bf8d69288fbee4904,a.txt && git checkout-index -f -- a.txt",
		"git restore --source=HEAD --pathspec-from-file=list",
		"git checkout HEAD --pathspec-from-file list",
		"git merge-file a.txt b.txt b.txt",
		"git apply fix.patch",
		"git apply --directory=. fix.patch",
		"git rebase -x 'echo x > a.txt' HEAD",
		"git bisect run sh -c 'echo x > a.txt'",
		"git -c alias.x='!echo x > a.txt' x",
		"git -c alias.x='checkout-index -f' x a.txt",
		"git filter-branch --tree-filter 'cp b.txt a.txt' HEAD",
		"git difftool -y -x 'cp b.txt a.txt #' HEAD",
		"cd sub && git checkout HEAD -- :/a.txt",
		"cd sub && git restore --source=HEAD ':(top)a.txt'",
		"git restore --source=HEAD ':(icase)A.TXT'",
		"git restore --source=HEAD ':(glob)**/a.txt'",
		"git show HEAD:b.txt | git cat-file -p HEAD:a.txt > a.txt",
		"git worktree add -q ../other && echo x > ../other/a.txt",
		"git stash create && git checkout HEAD -- a.txt",
	} {
		if out := l.before(command); !denied(out) {
			t.Errorf("%s is not refused: %s", command, out)
		}
	}
	for _, command := range []string{
		"git checkout-index -f b.txt", "git merge-file -p a.txt b.txt b.txt", "git stash create", "git read-tree HEAD",
		"git hash-object -w a.txt",
		"git -c alias.x='status -s' x", "git rebase -x 'cat a.txt' HEAD", "git worktree add -q ../other && echo x > ../other/b.txt",
		"git update-index --refresh", "git show HEAD:a.txt",
	} {
		if out := l.before(command); denied(out) {
			t.Errorf("%s is refused: %s", command, out)
		}
	}
}
