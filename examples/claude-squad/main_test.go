package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// Two agents of Claude Squad are at work in worktrees of one clone, a third is
// paused: svc hears of the two, and says which lands first.
func TestAgentsOfClaudeSquad(t *testing.T) {
	team := daemontest.StartTeam(t, filepath.Join(t.TempDir(), "svc.db"))
	t.Setenv("SVC_SERVER", team.URL)
	t.Setenv("SVC_TOKEN", team.Owner.Token)
	repo := gittest.Init(t)
	gittest.Run(t, repo, "remote", "add", "origin", "git@github.com:acme/api.git")
	gittest.Write(t, repo, "login.go", "package login\n")
	gittest.Run(t, repo, "add", ".")
	gittest.Run(t, repo, "commit", "-q", "-m", "first")
	text, err := os.ReadFile("testdata/state.json")
	if err != nil {
		t.Fatal(err)
	}
	fill := []string{"REPO", repo, "BASE", gittest.Run(t, repo, "rev-parse", "HEAD")}
	for name, branch := range map[string]string{"FIRST": "ann/rework-token-refresh", "SECOND": "ann/log-failed-logins"} {
		dir := filepath.Join(t.TempDir(), "worktree")
		gittest.Run(t, repo, "worktree", "add", "-q", "-b", branch, dir)
		gittest.Write(t, dir, "login.go", "package login // "+name+"\n")
		fill = append(fill, name, dir)
	}
	for i := range fill {
		fill[i] = strings.TrimSpace(fill[i])
	}
	state := gittest.Write(t, t.TempDir(), "state.json", strings.NewReplacer(fill...).Replace(string(text)))
	var out bytes.Buffer
	for range 2 { // told again, it is the same work
		out.Reset()
		if err := run(t.Context(), state, true, &out); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"acme/api", "1. INT-", "2. INT-", "Rework token refresh", "Log failed logins"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without %q:\n%s", want, out.String())
		}
	}
	list := daemontest.Do[wire.Page[coord.Intent]](team.Owner, 200, "GET /v1/intents?repo=acme%2Fapi", nil)
	if len(list.Items) != 2 || strings.Contains(out.String(), "Set aside") {
		t.Errorf("%d intents:\n%s", len(list.Items), out.String())
	}
	for _, in := range list.Items {
		if in.Branch == nil || !strings.HasPrefix(*in.Branch, "ann/") || len(in.Scope.Paths) != 1 || in.Scope.Paths[0] != "login.go" {
			t.Errorf("%s: %+v", in.Ref, in.Scope)
		}
	}
}
