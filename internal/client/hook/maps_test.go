package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// What an answer asks for comes with the next report, if the machine has it:
// line numbers, no text. What it does not have, and what is no version of
// anything, is left out without a word.
func TestTheServiceIsToldHowVersionsGoTogether(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(t.TempDir(), "shop"))
	older := gittest.Feed(t, repo, "1\n2\n3\n4\n5\n", "hash-object", "-w", "--stdin")
	newer := gittest.Feed(t, repo, "0\n1\n2\nX\nY\n4\n", "hash-object", "-w", "--stdin")
	session := "session"
	w.answers(wire.HookReply{Decision: wire.Allow, SessionID: &session, Wants: []wire.WantedMap{
		{Path: "a.txt", Ours: newer, Theirs: older},
		{Path: "b.txt", Ours: newer, Theirs: strings.Repeat("e", 40)},
		{Path: "c.txt", Ours: newer, Theirs: "--output=" + filepath.Join(repo, "written")},
		{Path: "d.txt", Ours: newer, Theirs: "HEAD"},
	}})
	w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go"}))
	if got := w.one().LineMaps; got != nil {
		t.Errorf("told before it was asked: %v", got)
	}
	want := []coord.LineMap{{From: older, To: newer, Shifts: []coord.LineShift{
		{FromStart: 1, FromCount: 0, ToStart: 1, ToCount: 1, FromHash: linesHash(""), ToHash: linesHash("0\n")},
		{FromStart: 3, FromCount: 1, ToStart: 4, ToCount: 2, FromHash: linesHash("3\n"), ToHash: linesHash("X\nY\n")},
		{FromStart: 5, FromCount: 1, ToStart: 7, ToCount: 0, FromHash: linesHash("5\n"), ToHash: linesHash("")}}}}
	for range 2 { // it is asked again as long as nobody has answered
		w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go"}))
		got := w.one().LineMaps
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("wanted (-), told (+)\n%s", diff)
		}
		if len(got) == 1 && !got[0].Sound() {
			t.Error("the map is not sound")
		}
	}
	if log := w.log(); log != "" {
		t.Error(log)
	}
	if files, _ := filepath.Glob(filepath.Join(repo, "written*")); len(files) > 0 {
		t.Error("an answer made git write", files)
	}
	w.answers(wire.HookReply{Decision: wire.Allow, SessionID: &session})
	w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go"}))
	w.one()
	w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go"}))
	if got := w.one().LineMaps; got != nil {
		t.Errorf("told what nobody wants any more: %v", got)
	}
}

func linesHash(lines string) string {
	sum := sha256.Sum256([]byte(lines))
	return hex.EncodeToString(sum[:16])
}
