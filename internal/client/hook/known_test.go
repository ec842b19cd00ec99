package hook

import (
	"path/filepath"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

const callsUs = `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"svc hook --tool claude_code --event PreToolUse"}]}]}}`

// Who runs svc hook without any configuration that does so means it.
func TestAHookByHandIsAskedFor(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	w.answers(wire.HookReply{Decision: wire.Allow})
	w.run("claude_code", "SessionStart", claude(repo, "SessionStart", nil))
	if got := w.one(); got.Repo.KnownOnly {
		t.Error("a repository is left in peace that no hook of the user's is about")
	}
}

// Hooks that a user has for all folders run in private repositories too. What
// happens there is nobody's business.
func TestAPrivateRepositoryIsLeftInPeace(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "diary"))
	gittest.Write(t, w.home, ".claude/settings.json", callsUs)
	w.answers(wire.HookReply{Decision: wire.Allow}) // no session: it is not known
	w.run("claude_code", "SessionStart", claude(repo, "SessionStart", nil))
	if got := w.one(); !got.Repo.KnownOnly {
		t.Error("the service is not told that nobody in the repository asked for it")
	}
	w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "dear diary"}))
	w.run("claude_code", "PreToolUse", write(repo, filepath.Join(repo, "a.txt"), "t1"))
	if got := w.requests(); len(got) != 0 {
		t.Errorf("the service was told of a repository it does not know: %+v", got)
	}
	// Once the repository itself asks for svc, it is told.
	gittest.Write(t, repo, ".claude/settings.json", callsUs)
	w.run("claude_code", "PreToolUse", write(repo, filepath.Join(repo, "a.txt"), "t2"))
	if got := w.one(); got.Repo.KnownOnly {
		t.Error("the repository asks for svc, which the service is not told")
	}
}

func TestAFolderOfARepositoryIsCoveredByTheUsersHooks(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	file := gittest.Write(t, repo, "packages/a/x.txt", "x\n")
	id := "s"
	w.answers(wire.HookReply{Decision: wire.Block, Reason: "claimed", SessionID: &id})
	p := write(repo, file, "t1")
	p["cwd"] = filepath.Dir(file)
	if r := w.run("claude_code", "PreToolUse", p); r.stdout == "" {
		t.Errorf("not blocked: %+v", r)
	}
	if got := w.one(); got.Repo.CwdPath != "packages/a" || got.Paths[0] != "packages/a/x.txt" {
		t.Errorf("%+v", got)
	}
}
