package hook

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// goFacts are the line facts of Go files.
func goFacts(ctx context.Context, root, base string, paths, _ []string, _ bool) (*coord.Analysis, error) {
	deltas, err := gitrepo.WorkingTree(ctx, root, base, paths)
	if err != nil {
		return nil, err
	}
	out := &coord.Analysis{Files: []coord.FileFacts{}}
	for _, d := range deltas {
		f := coord.FileFacts{Path: d.Path, Status: coord.FileModified, Language: "go"}
		if d.OldBlob != "" {
			f.BaseBlob = &d.OldBlob
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// A name that others took away is looked for in what is edited from then on,
// and once in all that was changed before.
func TestNamesThatAreGoneAreLookedFor(t *testing.T) {
	w := newWorld(t)
	w.base, w.facts = gitrepo.Base, goFacts
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
	edit := func(name, text string) (mentioned map[string][]string) {
		t.Helper()
		file := gittest.Write(t, repo, name, text)
		w.run("claude_code", "PostToolUse",
			claude(repo, "PostToolUse", m{"tool_name": "Write", "tool_input": m{"file_path": file}, "tool_use_id": name}))
		mentioned = map[string][]string{}
		for _, req := range w.requests() {
			if req.Analysis == nil {
				continue
			}
			for _, f := range req.Analysis.Files {
				mentioned[f.Path] = []string{}
				for _, ref := range f.References {
					mentioned[f.Path] = append(mentioned[f.Path], ref.Key)
				}
			}
		}
		return mentioned
	}
	session := "session"
	watch := []coord.WatchedName{{Family: "go", Name: "Revoke", Form: coord.FormMethod, Files: []string{"store.go"}}}
	w.answers(wire.HookReply{Decision: wire.Allow, SessionID: &session, Watch: watch})
	if got := edit("before.go", "package a\n\nfunc f(s *S) { s.Revoke() }\n"); len(got["before.go"]) != 0 {
		t.Errorf("told before anybody knew of it: %v", got)
	}
	if got := edit("plain.go", "package a\n"); !slices.Equal(got["before.go"], []string{"name:go:Revoke"}) || len(got["plain.go"]) != 0 {
		t.Errorf("what was changed before is not looked at: %v", got)
	}
	if got := edit("plain.go", "package a\n\nvar x = 1\n"); got["before.go"] != nil {
		t.Errorf("told twice: %v", got)
	}
	got := edit("after.go", "package a\n\n// Revoke\nfunc g(s *S) {\n\ts.Revoke()\n}\n")
	if !slices.Equal(got["after.go"], []string{"name:go:Revoke"}) {
		t.Errorf("%v", got)
	}
	w.answers(wire.HookReply{Decision: wire.Allow, SessionID: &session})
	edit("plain.go", "package a\n\nvar x = 2\n")
	if got := edit("later.go", "package a\n\nfunc h(s *S) { s.Revoke() }\n"); len(got["later.go"]) != 0 {
		t.Errorf("told of a name that is back: %v", got)
	}
	if log := w.log(); log != "" {
		t.Error(log)
	}
}
