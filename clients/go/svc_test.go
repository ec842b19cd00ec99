package svc_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	svc "github.com/svc-hq/svc/clients/go"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

func service(t *testing.T) *svc.Client {
	t.Helper()
	team := daemontest.StartTeam(t, filepath.Join(t.TempDir(), "svc.db"))
	t.Setenv("SVC_SERVER", team.URL)
	t.Setenv("SVC_TOKEN", team.Owner.Token)
	c, err := svc.Find()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A board has two agents: it declares their work, hears of what happens, asks
// who lands first, and ends both.
func TestABoardOfAgents(t *testing.T) {
	c, ctx := service(t), t.Context()
	repo := "acme/api"
	for range 2 { // known already is no error
		if err := c.Register(ctx, repo, "https://github.com/acme/api.git"); err != nil {
			t.Fatal(err)
		}
	}
	var refs []string
	for _, w := range []struct{ title, branch, path string }{{"Rework token refresh", "a", "auth/**"}, {"Log failed logins", "b", "log/**"}} {
		made, err := c.Declare(ctx, svc.Work{Title: w.title, Repo: &repo, Branch: &w.branch, Scope: &svc.ScopeSetInput{Paths: &[]string{w.path}}})
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, made.Intent.Ref)
	}
	if s, err := c.Session(ctx, repo, "a"); s != nil || err != nil {
		t.Errorf("a session that nobody began: %v, %v", s, err)
	}
	order, err := c.Landing(ctx, repo)
	if err != nil || len(order.Steps) != 2 || order.Steps[0].Reason == "" {
		t.Errorf("landing: %+v, %v", order, err)
	}
	for _, ref := range refs {
		if err := c.End(ctx, ref, svc.PostIntentsByRefCloseJSONBodyOutcomeMerged); err != nil {
			t.Fatal(err)
		}
	}
	heard := map[string]int{}
	enough := errors.New("enough")
	err = c.Follow(ctx, "0", []string{"intent.declared", "intent.closed"}, func(e svc.Event) error {
		if heard[e.Type]++; heard["intent.closed"] == 2 {
			return enough
		}
		return nil
	})
	if err != enough || heard["intent.declared"] != 2 || len(heard) != 2 {
		t.Errorf("heard %v, %v", heard, err)
	}
}

// Work is declared for the agent whose session is named. For one that has not
// begun yet, the latest session of the person is not taken in its place.
func TestWorkOnBehalfOfAnAgent(t *testing.T) {
	team := daemontest.StartTeam(t, filepath.Join(t.TempDir(), "svc.db"))
	c, ctx := &svc.Client{Server: team.URL, Token: team.Owner.Token}, t.Context()
	repo, here, there := "acme/api", "ann/here", "ann/there"
	begun := team.Owner.Call("POST /v1/hooks/evaluate", wire.HookRequest{Event: wire.HookSessionStart,
		Session: wire.HookSession{ExternalID: "s1", Tool: "claude_code"},
		Repo:    wire.HookRepo{RemoteFingerprints: []string{"github.com/acme/api"}, Branch: here}})
	if begun.Status != 200 {
		t.Fatalf("%d: %s", begun.Status, begun.Body)
	}
	agent, err := c.Session(ctx, repo, here)
	if err != nil || agent == nil {
		t.Fatalf("the agent's session: %v, %v", agent, err)
	}
	other, err := c.Declare(ctx, svc.Work{Title: "Not begun", Repo: &repo, Branch: &there})
	if err != nil || other.Intent.SessionId != nil {
		t.Errorf("declared for %v: %v", other.Intent.SessionId, err)
	}
	own, err := c.Declare(ctx, svc.Work{Title: "Under way", Repo: &repo, Branch: &here, SessionId: &agent.Id})
	if err != nil || own.Intent.SessionId == nil || *own.Intent.SessionId != agent.Id || own.Intent.Ref == other.Intent.Ref {
		t.Errorf("declared %+v: %v", own.Intent, err)
	}
}

func TestWhatTheServiceRefuses(t *testing.T) {
	c, ctx := service(t), t.Context()
	var p *svc.Problem
	if _, err := c.Landing(ctx, "acme/nowhere"); !errors.As(err, &p) || p.Kind() != "not-found" || p.Status != 404 {
		t.Errorf("an unknown repository: %v", err)
	}
	if _, err := c.Declare(ctx, svc.Work{}); !errors.As(err, &p) || p.Kind() != "validation" || !strings.Contains(err.Error(), "title") {
		t.Errorf("no title: %v", err)
	}
	stranger := &svc.Client{Server: c.Server, Token: "svc_wrong"}
	err := stranger.Follow(ctx, "0", nil, func(svc.Event) error { return nil })
	if !errors.As(err, &p) || p.Kind() != "unauthorized" {
		t.Errorf("a wrong token: %v", err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := c.Follow(stopped, "0", nil, func(svc.Event) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

func TestNoServiceIsSaidPlainly(t *testing.T) {
	t.Setenv("SVC_SERVER", "")
	t.Setenv("SVC_LOCAL_DIR", t.TempDir())
	if _, err := svc.Find(); !errors.Is(err, svc.ErrNoService) {
		t.Errorf("found %v", err)
	}
}

// The commands on the page run as they stand there, one after the other.
func TestTheCommandsOfThePage(t *testing.T) {
	service(t)
	page, err := os.ReadFile("../../docs/orchestrators.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 5 {
		t.Fatalf("%d blocks of commands", len(blocks))
	}
	script := "set -eu\n"
	for _, b := range blocks {
		command := b[1]
		if strings.Contains(command, "/v1/stream") { // it goes on until somebody ends it
			command = strings.TrimSpace(command) + ` > stream 2>&1 & pid=$!
				until grep -q ^data: stream; do kill -0 $pid; sleep 0.1; done; kill $pid; cat stream` + "\n"
		}
		script += command
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"Rework token refresh", `"steps"`, "event: intent.declared", `"outcome":"merged"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}
