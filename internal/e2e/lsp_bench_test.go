package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// BenchmarkEditor measures what svc lsp takes of a person's machine: at rest with
// 200 open files, for a keystroke in a file of 5,000 lines in which somebody else
// is at work, and while others make 1,000 edits elsewhere in the repository.
func BenchmarkEditor(b *testing.B) {
	const files, rest, keys, edits = 200, 20 * time.Second, 100, 1000
	program := filepath.Join(b.TempDir(), "svc") // as it is installed
	if out, err := exec.Command("../../.ci/build-svc", program).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	x := newScenes(b)
	name := func(i int) string { return fmt.Sprintf("part%d/file%d.txt", i%10, i) }
	for i := range files {
		gittest.Write(b, x.clone.dir, name(i), numbered(200, i))
	}
	gittest.Write(b, x.clone.dir, "large.txt", numbered(5000, 0))
	gittest.Run(b, x.clone.dir, "add", "-A")
	gittest.Run(b, x.clone.dir, "commit", "-qm", "many files")
	for _, dir := range []string{x.bob.dir, x.clone.dir} {
		gittest.Run(b, dir, "fetch", "-q", x.clone.dir, "main")
		gittest.Run(b, dir, "reset", "-q", "--hard", "FETCH_HEAD")
		gittest.Run(b, dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	}
	e := startEditor(b, program, x.clone, nil)
	for i := range files - 1 {
		e.open(name(i))
	}
	e.open("large.txt")
	told := func() int {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.told["textDocument/publishDiagnostics"] + e.told["svc/live"]
	}
	token := x.s.token("bob@example.com")
	for b.Loop() {
		time.Sleep(2 * time.Second) // it has asked about all of them
		x.edit(x.bob, "large.txt", "line 2500 of", "bob 2500 of")
		edited := time.Now()
		e.awaitMarks("large.txt", "2501-2501")
		figure(b, float64(time.Since(edited))/float64(time.Millisecond), 1000, "ms-until-marked")
		time.Sleep(2 * time.Second) // and about all of them again, for the intent is new
		before := usage(b, e.cmd.Process.Pid)
		time.Sleep(rest)
		after := usage(b, e.cmd.Process.Pid)
		figure(b, float64(after.memory)/(1<<20), 40, "MB-at-rest")
		figure(b, 100*float64(after.cpu-before.cpu)/float64(rest), 0.1, "%cpu-at-rest")
		for range keys {
			e.put("large.txt", 10, 10, "typed\n")
			time.Sleep(100 * time.Millisecond) // as a person types: marks are placed after each
		}
		e.awaitMarks("large.txt", fmt.Sprintf("%d-%d", 2501+keys, 2501+keys))
		typed := usage(b, e.cmd.Process.Pid)
		figure(b, float64(typed.cpu-after.cpu)/float64(time.Millisecond)/keys, 2, "ms/keystroke")
		e.put("large.txt", 10, 10+keys, "")
		x.edit(x.bob, "large.txt", "bob 2500 of", "line 2500 of")
		e.awaitMarks("large.txt") // a mark would be told anew as it grows older
		marks := told()
		for i := range edits {
			x.s.as(token, "POST", "/v1/hooks/evaluate", editElsewhere(i))
		}
		var live wire.LiveFile
		x.s.request(http.DefaultClient, "GET", "/v1/live?repo=acme/shop&path=elsewhere/999.txt", "", &live, "Authorization", "Bearer "+token)
		if len(live.Work) == 0 {
			b.Fatal("the edits elsewhere are not live")
		}
		x.edit(x.bob, name(0), "line 5 of", "bob 5 of")
		e.awaitMarks(name(0), "6-6")
		figure(b, float64(told()-marks-2), 0, "told-of-edits-elsewhere")
		b.ReportMetric(float64(usage(b, e.cmd.Process.Pid).cpu-typed.cpu)/float64(time.Millisecond)/edits, "ms/edit-elsewhere")
		x.edit(x.bob, name(0), "bob 5 of", "line 5 of")
		e.awaitMarks(name(0))
	}
}

// editElsewhere is an edit of a file that nobody has open.
func editElsewhere(i int) string {
	return editOf(i, fmt.Sprintf("elsewhere/%d.txt", i), strings.Repeat("b", 40),
		`{"start":4,"count":1,"lines_hash":"966d93e2867070f4a4262aff737925a8"}`)
}

// editOf is what a hook tells of an edit of one file; without hunks, that it was
// undone.
func editOf(i int, file, blob, hunks string) string {
	event, status, now := fmt.Sprint("edit-", i, "-", os.Getpid()), "modified", fmt.Sprintf("%040x", i+1)
	if hunks == "" {
		status, now = "unchanged", blob
	}
	return strings.NewReplacer("EVENT", event, "FILE", file, "BLOB", blob, "NOW", now, "STATUS", status, "HUNKS", hunks).Replace(
		`{"event":"post_edit","dedupe_key":"EVENT","session":{"external_id":"crowd","tool":"codex","surface":"cli"},
		"repo":{"remote_fingerprints":["github.com/acme/shop"],"branch":"work","default_branch":"main","worktree_hash":"crowd",
		"head_sha":"` + rootCommit + `",
		"base_sha":"` + rootCommit + `"},"paths":["FILE"],
		"analysis":{"truncated":false,"files":[{"path":"FILE","old_path":null,"status":"STATUS","language":"text",
		"parsed":false,"binary":false,"generated":false,"base_blob":"BLOB","new_blob":"NOW",
		"hunks":[HUNKS],"symbols":[],"contracts":[],"references":[]}]}}`)
}
