//go:build unix

package e2e

import "testing"

// Programs that others run, by git's settings, the environment or an argument,
// write claimed files too, and so do editors, archives of the repository and
// options that name a file: all are refused like an edit.
func TestProgramsThatOthersRunMeetClaims(t *testing.T) {
	l, _ := claimedLaptop(t)
	l.write("b.txt", "b\n")
	for _, command := range []string{
		"git archive HEAD | tar x",
		"git archive HEAD a.txt | tar -xf -",
		"git -c core.fsmonitor='echo x > a.txt; :' status",
		"git -c core.pager='sh -c \"echo x > a.txt\"' -p log",
		"git -c diff.external='cp b.txt a.txt #' diff",
		"git config alias.x '!echo x > a.txt' && git x",
		"git bundle create a.txt HEAD",
		"GIT_EDITOR='cp b.txt a.txt #' git commit --amend",
		"EDITOR='cp b.txt a.txt #' git commit --amend",
		"GIT_EXTERNAL_DIFF='cp b.txt a.txt #' git diff",
		"export GIT_SSH_COMMAND='sh -c \"echo x > a.txt\"'; git fetch",
		"awk '{system(\"cp b.txt a.txt\")}' b.txt",
		"script -qc 'echo x > a.txt' /dev/null",
		"flock . sh -c 'echo x > a.txt'",
		"parallel 'echo x > {}' ::: a.txt",
		". /dev/stdin <<< 'echo x > a.txt'",
		"tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='cp b.txt a.txt' .",
		"vim -es -c 'normal dd' -c wq a.txt",
		"vim b.txt -c 'w! a.txt' -c q",
		"emacs --batch a.txt -f save-buffer",
		"lua -e 'io.open(\"a.txt\",\"w\")'",
		"openssl enc -d -base64 -in x -out a.txt",
		"gpg -o a.txt -d x",
		"gcc -o a.txt -x c - <<< 'int main(){}'",
		"scp host:b.txt a.txt",
		"sd o x a.txt",
	} {
		if out := l.before(command); !denied(out) {
			t.Errorf("%s is not refused: %s", command, out)
		}
	}
	for _, command := range []string{
		"git archive HEAD b.txt | tar x", "git archive HEAD | tar x -C /tmp", "git -c core.pager=cat log",
		"GIT_EDITOR=true git rebase --continue",
		"git config core.editor vim", "awk '{print | \"sort\"}' a.txt", "flock . cat a.txt", "vim -R a.txt", "parallel cat ::: a.txt",
		"openssl dgst -sha256 a.txt", "scp a.txt host:", "gcc -o b.txt a.txt",
	} {
		if out := l.before(command); denied(out) {
			t.Errorf("%s is refused: %s", command, out)
		}
	}
}
