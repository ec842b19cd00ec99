package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/reader"
	"github.com/svc-hq/svc/internal/client/watchtree"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// watchTreeCommand lets a person's own edits be told.
func watchTreeCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch-tree [on|off]",
		Short: "Report your own edits in this clone, too",
		Long: "Agents' hooks tell what agents change; your own edits are told at an agent's\n" +
			"next turn. With svc watch-tree on, the hooks of this clone start a watcher that\n" +
			"reports them within two seconds, as the work of your editor. It leaves out what\n" +
			"git ignores, ends after half an hour without a change, and is off until you\n" +
			"switch it on. Without an argument it says whether it is on, and runs.",
		Example:   "  svc watch-tree on\n  svc watch-tree\n  svc watch-tree off",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"on", "off"},
		RunE: func(_ *cobra.Command, args []string) error {
			repo, dir, err := watchedHere(a)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return printWatching(a, repo, dir)
			}
			mark := hook.WatchFile(dir, repo)
			if args[0] == "off" {
				if err := os.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return printWatching(a, repo, dir)
			}
			if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(mark, []byte(repo.CommonDir+"\n"), 0o600); err != nil {
				return err
			}
			if err := os.Remove(hook.WatchFailure(dir, repo)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return printWatching(a, repo, dir)
		},
	}
	cmd.AddCommand(watchTreeRunCommand(a))
	return cmd
}

// watchTreeRunCommand is what hooks start in the background.
func watchTreeRunCommand(a *app.Run) *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use:    "run ROOT",
		Short:  "Watch a working copy, as hooks start it",
		Hidden: true,
		Args:   term.Exactly(1, "the working copy"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return watchTree(cmd.Context(), a, args[0], idle)
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", 30*time.Minute, "end after this long without a change")
	return cmd
}

func watchedHere(a *app.Run) (*gitrepo.Repo, string, error) {
	repo, ok := gitrepo.Find(a.Dir)
	if !ok {
		return nil, "", fmt.Errorf("%s is in no git repository", a.Dir)
	}
	store, err := login.Locate(a.Getenv)
	return repo, store.Dir, err
}

func printWatching(a *app.Run, repo *gitrepo.Repo, dir string) error {
	_, err := os.Lstat(hook.WatchFile(dir, repo))
	on, runs := err == nil, plain.Locked(hook.WatchLock(dir, repo))
	failed, _ := plain.Read(hook.WatchFailure(dir, repo), 4096)
	why := strings.TrimSpace(string(failed))
	switch {
	case a.JSON:
		return a.PrintJSON(map[string]any{"clone": repo.Root, "on": on, "running": runs, "failed": why})
	case !on:
		fmt.Fprintf(a.Stdout, "Your own edits in %s are told at an agent's next turn (svc watch-tree on tells them at once)\n", repo.Root)
	case runs:
		fmt.Fprintf(a.Stdout, "Your own edits in %s are told as you make them (svc watch-tree off ends that)\n", repo.Root)
	case why != "":
		fmt.Fprintf(a.Stdout, "Your own edits in %s are told at an agent's next turn: watching it failed (%s). "+
			"svc watch-tree on tries it again\n", repo.Root, peertext.Line(why, 500))
	default:
		fmt.Fprintf(a.Stdout, "Your own edits in %s are told as you make them, from the next prompt of an agent on "+
			"(svc watch-tree off ends that)\n", repo.Root)
	}
	return nil
}

// watchTree watches a working copy, unless another process does.
func watchTree(ctx context.Context, a *app.Run, root string, idle time.Duration) error {
	repo, ok := gitrepo.At(root)
	if !ok {
		return fmt.Errorf("%s is no git repository", root)
	}
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return err
	}
	mark := hook.WatchFile(store.Dir, repo)
	if _, err := os.Lstat(mark); err != nil {
		return fmt.Errorf("%s is not to be watched: run svc watch-tree on in it", root)
	}
	lock, ok := plain.Lock(hook.WatchLock(store.Dir, repo))
	if !ok {
		return nil
	}
	defer lock.Close()
	observer, err := hook.Observe(attend.World(reader.Facts), repo.Root)
	if err != nil {
		return err
	}
	w := watchtree.Watch{Root: repo.Root, Mark: mark, Idle: idle, Every: watchtree.Every(), Look: observer.Look, Log: observer.Note}
	failure := hook.WatchFailure(store.Dir, repo)
	if err := os.Remove(failure); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = w.Run(ctx)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	observer.End(end)
	if err != nil {
		observer.Note(err)
		err = errors.Join(err, plain.Write(failure, []byte(err.Error()+"\n")))
	}
	return err
}
