// Package attend is the program svc hook: it runs package hook with what this
// machine has, its logins, its local service, and what reads code. Agents wait
// for it at every edit, so it can begin while the program is still starting
// (Begin), before most packages of svc have been initialised, and ends there
// unless code has to be read. It may not link what reads code, nor the command
// tree.
package attend

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/version"
)

// A Reader finds the facts about files, of which it is known how their lines
// differ from base.
type Reader func(ctx context.Context, root, base string, paths, along []string, private bool, deltas []diff.Delta) (
	*coord.Analysis, error)

// A begun is a hook that was begun early.
type begun struct {
	wants  chan struct{} // closed when it cannot go on without a reader
	reader chan Reader
	code   chan int
}

var early *begun

// Begin runs a hook until it is over, or until it cannot go on without what
// reads code: then Finish ends it.
func Begin(args []string) (code int, over bool) {
	if asksOnly(args) { // nothing is read, and no second thread is needed
		return run(args, func() Reader { return noReader }), true
	}
	early = &begun{wants: make(chan struct{}), reader: make(chan Reader, 1), code: make(chan int, 1)}
	go func() {
		early.code <- run(args, func() Reader {
			select {
			case <-early.wants:
			default:
				close(early.wants)
			}
			r := <-early.reader
			early.reader <- r
			return r
		})
	}()
	select {
	case code = <-early.code:
		return code, true
	case <-early.wants:
		return 0, false
	}
}

// asksOnly reports whether a hook comes before a tool: such ones ask, and tell
// nothing of what files hold.
func asksOnly(args []string) bool {
	tool, event := hook.Named(args)
	h, ok := host.ByID(tool)
	return ok && h.Events[event].At == host.BeforeTool
}

func noReader(context.Context, string, string, []string, []string, bool, []diff.Delta) (*coord.Analysis, error) {
	return nil, errors.New("no code is read before a tool")
}

// Begun reports whether a hook waits for a reader.
func Begun() bool { return early != nil }

// Finish ends the hook that was begun, or runs one, and returns the exit code
// of the process.
func Finish(read Reader, args []string) int {
	if early == nil {
		return run(args, func() Reader { return read })
	}
	early.reader <- read
	return <-early.code
}

func run(args []string, reader func() Reader) int {
	makeRoom(args)
	env := world(args, reader)
	env.Exit = os.Exit
	return hook.Run(context.Background(), env)
}

// makeRoom has the stack grow at once to what a hook needs, while little is on
// it: in steps, all that it holds is moved with each, a twentieth of a hook's
// time.
//
//go:noinline
func makeRoom(args []string) byte {
	var room [24 << 10]byte
	return room[len(args)]
}

// World is what this machine has, for whoever tells of edits without a host.
func World(read Reader) hook.Env { return world(nil, func() Reader { return read }) }

func world(args []string, reader func() Reader) hook.Env {
	return hook.Env{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: version.Version,
		Login: func(of hook.Identity) (hook.Login, error) { return hookLogin(os.Getenv, of) },
		ConfigDir: func() (string, error) {
			s, err := login.Locate(os.Getenv)
			return s.Dir, err
		},
		Base:  gitrepo.Base,
		Roots: gitrepo.Roots,
		Analyze: func(ctx context.Context, root, base string, paths, along []string, private bool) (*coord.Analysis, error) {
			makeRoom(paths)
			if base == "" {
				var err error
				if base, err = gitrepo.Base(ctx, root, ""); err != nil {
					return nil, err
				}
			}
			deltas, err := gitrepo.WorkingTree(ctx, root, base, paths)
			if err != nil {
				return nil, err
			}
			a, ok := lines.Alone(deltas)
			if !ok {
				a, err = reader()(ctx, root, base, paths, along, private, deltas)
			}
			repo, found := gitrepo.At(root)
			if cache, no := os.UserCacheDir(); found && err == nil && no == nil {
				if late := lines.Former(ctx, repo, base, filepath.Join(cache, "svc", movedFolder), a); len(late) > 0 {
					background(root, nil, append([]string{"look-back", root, base, "--"}, late[:min(len(late), maxLate)]...)...)
				}
			}
			return a, err
		},
		Unindexed: startIndex, MergeCheck: startMergeCheck, WatchTree: startWatchTree,
	}
}

// movedFolder is where former names of files are kept, in svc's folder of the
// user's cache; maxLate is how many files git is asked about at a time.
const (
	movedFolder = "moved"
	maxLate     = 100
)

// LookBack asks git for the former names of files that took too long for a hook.
func LookBack(ctx context.Context, root, base string, paths []string) {
	repo, found := gitrepo.At(root)
	if cache, err := os.UserCacheDir(); found && err == nil {
		lines.LookBack(ctx, repo, base, filepath.Join(cache, "svc", movedFolder), paths)
	}
}

// startIndex begins a scan of a repository.
func startIndex(root string) { background(root, nil, "index", "--quiet") }

// startWatchTree begins to watch a working copy.
func startWatchTree(root string) { background(root, nil, "watch-tree", "run", root) }

// MachineVariable hands the key of this machine to the process that checks:
// by it working copies are known without naming them.
const MachineVariable = "SVC_MERGE_CHECK_KEY"

// startMergeCheck begins a check.
func startMergeCheck(root, machine, checks, result string) {
	background(root, append(os.Environ(), MachineVariable+"="+machine), "merge-check", root, checks, result)
}

// background starts svc in a process of its own, which outlives the hook and
// which nobody waits for.
func background(dir string, env []string, args ...string) {
	self, err := companion.Self()
	if err != nil {
		return
	}
	cmd := exec.Command(self, append(args, "--no-update-check")...)
	cmd.Dir, cmd.Env = dir, env
	local.Detach(cmd)
	if cmd.Start() == nil {
		cmd.Process.Release()
	}
}

// hookLogin is the login as hooks need it, for a repository.
func hookLogin(getenv func(string) string, of hook.Identity) (hook.Login, error) {
	store, err := login.Locate(getenv)
	if err != nil {
		return hook.Login{}, err
	}
	mended := ""
	store.Told = func(what string) { mended = what }
	store.Patience = 300 * time.Millisecond // nobody types a password into a hook
	c, err := store.LoadFile()
	if err != nil {
		return hook.Login{}, err
	}
	getenv = insist(getenv, store, c, of)
	if err := lost(getenv, c, of); err != nil {
		return hook.Login{Mended: mended}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(hookStart))
	defer cancel()
	s, here, err := LocalFor(ctx, getenv, store, c, of)
	if here {
		if err != nil {
			return hook.Login{Local: true, Mended: mended}, err
		}
		return hook.Login{Server: s.Server, Token: s.Token, MachineID: store.Machine(), Local: true, Mended: mended}, nil
	}
	if c.Keychain {
		if c, err = store.Load(); err != nil {
			return hook.Login{}, err
		}
	}
	l, err := login.Resolve(c, getenv, login.Overrides{})
	if err == nil {
		err = remote.CheckAddress(l.Server, l.Insecure)
	}
	if err != nil {
		return hook.Login{}, err
	}
	if l.MachineID == "" && l.LoggedIn() {
		l.MachineID = store.Machine()
	}
	leave, err := LeaveOf(l, store, of)
	if err != nil {
		return hook.Login{Mended: mended}, err
	}
	out := hook.Login{Server: l.Server, Token: l.Token, MachineID: l.MachineID, DataMode: l.DataMode, Leave: leave, Mended: mended}
	if edge, ok := EdgeOf(getenv, l); ok && out.Leave != hook.Never {
		out.Edge, out.EdgeKey = edge.Server, edge.Token
	}
	return out, nil
}
