// Claude-squad tells svc of the agents that Claude Squad runs
// (https://github.com/smtg-ai/claude-squad): it declares the work of each of its
// worktrees, follows what happens, and prints in which order to land them.
//
//	go run ./examples/claude-squad [-once] [state.json]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	svc "github.com/svc-hq/svc/clients/go"
)

// state is what Claude Squad keeps in ~/.claude-squad/state.json, as far as it
// matters here: config/state.go and session/storage.go at its commit 434ca256.
type state struct {
	Instances []instance `json:"instances"`
}

type instance struct {
	Title    string `json:"title"`
	Branch   string `json:"branch"`
	Status   int    `json:"status"`
	Worktree struct {
		Path string `json:"worktree_path"`
		Base string `json:"base_commit_sha"`
	} `json:"worktree"`
}

// paused is the status of an instance whose worktree was removed for now.
const paused = 3

func main() {
	once := flag.Bool("once", false, "print the landing order and stop")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Arg(0), *once, os.Stdout); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "claude-squad:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, once bool, out io.Writer) error {
	c, err := svc.Find()
	if err != nil {
		return err
	}
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		file = filepath.Join(home, ".claude-squad", "state.json")
	}
	repos, err := declare(ctx, c, file)
	if err != nil {
		return err
	}
	if err := printOrders(ctx, c, repos, out); err != nil || once {
		return err
	}
	changes := []string{"intent.declared", "intent.closed", "change.recorded", "conflict.detected", "conflict.resolved"}
	return c.Follow(ctx, "", changes, func(e svc.Event) error {
		fmt.Fprintf(out, "\n%s\n", e.Type)
		return printOrders(ctx, c, repos, out)
	})
}

// declare tells of the work in each worktree, and returns the repositories.
func declare(ctx context.Context, c *svc.Client, file string) (repos []string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	known := map[string]bool{}
	for _, in := range s.Instances {
		if in.Status == paused {
			continue
		}
		remote, err := git(ctx, in.Worktree.Path, "remote", "get-url", "origin")
		if err != nil {
			return nil, err
		}
		repo := fullName(remote)
		if !known[repo] {
			if err := c.Register(ctx, repo, remote); err != nil {
				return nil, err
			}
			known[repo], repos = true, append(repos, repo)
		}
		work, err := workOf(ctx, c, repo, in)
		if err != nil {
			return nil, err
		}
		if _, err := c.Declare(ctx, work); err != nil {
			return nil, err
		}
	}
	return repos, nil
}

// workOf describes what the agent of an instance does: its title, the files that
// it has changed, and its session, once its hooks have told of one.
func workOf(ctx context.Context, c *svc.Client, repo string, in instance) (work svc.Work, err error) {
	changed, err := git(ctx, in.Worktree.Path, "diff", "--name-only", in.Worktree.Base)
	if err != nil {
		return work, err
	}
	paths := strings.Fields(changed)
	work = svc.Work{Title: in.Title, Repo: &repo, Branch: &in.Branch, Scope: &svc.ScopeSetInput{Paths: &paths}}
	s, err := c.Session(ctx, repo, in.Branch)
	if s != nil {
		work.SessionId = &s.Id
	}
	return work, err
}

func printOrders(ctx context.Context, c *svc.Client, repos []string, out io.Writer) error {
	for _, repo := range repos {
		order, err := c.Landing(ctx, repo)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d lines to redo\n", repo, order.LinesRedone)
		for _, step := range order.Steps {
			what := "work without a title"
			if step.Intent != nil && step.Intent.Title != nil {
				what = step.Intent.Ref + " " + *step.Intent.Title
			}
			fmt.Fprintf(out, "%d. %s: %s\n", step.Place, what, step.Reason)
		}
	}
	return nil
}

// fullName is owner/name of a remote such as git@github.com:acme/api.git.
func fullName(remote string) string {
	parts := strings.FieldsFunc(strings.TrimSuffix(remote, ".git"), func(c rune) bool { return c == '/' || c == ':' })
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}
