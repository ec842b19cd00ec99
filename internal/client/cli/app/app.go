// Package app is one run of svc: its flags, its login, its client of the server
// and the repository that it runs in. It knows no command: those stand above it.
package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/client/setup"
	"github.com/svc-hq/svc/internal/core/problem"
)

// An Env is the world a command runs in, as a value, so that tests make their
// own.
type Env struct {
	term.Screen
	Dir      string // the working folder
	Hostname string
	// ReleaseKeys are who may sign a newer svc.
	ReleaseKeys selfupdate.Keys
	// OpenBrowser shows an address to the user.
	OpenBrowser func(address string) error
	// Started is the command line that started this process, if it did nothing else.
	Started []string
}

// CodeOf is the exit code that goes with an error.
func CodeOf(err error) int {
	var (
		e    *term.Exit
		p    *problem.Error
		down *remote.Unreachable
	)
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.As(err, &p) && p.Kind == problem.Unauthorized:
		return term.ExitNotLoggedIn
	case errors.As(err, &p) && (p.Kind == problem.Validation || p.Kind == problem.BadRequest):
		return term.ExitUsage // what was typed reached the server, which knows better
	case errors.As(err, &down):
		return term.ExitUnreachable
	}
	return term.ExitError
}

// A Run is one run of the client.
type Run struct {
	*Env
	Root          *cobra.Command // the tree of commands
	Args          []string       // after the program's name
	JSON          bool           // --json, as the flags below
	TemplateText  string
	Insecure      bool
	NoUpdateCheck bool
}

// Login returns the login that this run works with.
func (a *Run) Login(flags login.Overrides) (login.Login, login.Store, error) {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return login.Login{}, store, err
	}
	if flags == (login.Overrides{}) {
		if l, here, err := a.localLogin(store); here {
			return l, store, err
		}
	}
	c, err := store.Load()
	if err != nil {
		return login.Login{}, store, err
	}
	l, err := login.Resolve(c, a.Getenv, flags)
	return l, store, err
}

// CommandStart is how long a command waits for the local service to start,
// which happens when nobody has worked for a while.
const CommandStart = 20 * time.Second

// localLogin returns the login of the local service, if the work in this
// folder is its own.
func (a *Run) localLogin(store login.Store) (login.Login, bool, error) {
	c, err := store.LoadFile()
	if err != nil {
		return login.Login{}, false, nil // which the login then says
	}
	var of hook.Identity
	if repo, ok := gitrepo.Find(a.Dir); ok {
		of = attend.IdentityOf(store, repo)
	} else if c.Token != "" || c.Keychain { // outside of repositories people mean their team
		return login.Login{}, false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), CommandStart)
	defer cancel()
	store.Told = func(what string) { fmt.Fprintln(a.Stderr, "svc: "+what) }
	s, here, err := attend.LocalFor(ctx, a.Getenv, store, c, of)
	if !here || err != nil {
		return login.Login{}, here, err
	}
	own := login.Config{Server: s.Server, Token: s.Token, MachineID: store.Machine(), WebURL: s.Server}
	return login.Login{Config: own, ServerSource: login.FromLocal, TokenSource: login.FromLocal}, true, nil
}

// Client returns a client of the server that the user is logged in to.
func (a *Run) Client() (*remote.Client, login.Login, error) {
	l, _, err := a.Login(login.Overrides{})
	if err != nil {
		return nil, l, err
	}
	if !l.LoggedIn() {
		return nil, l, NotLoggedIn(l)
	}
	c, err := a.Connect(l)
	return c, l, err
}

func (a *Run) Connect(l login.Login) (*remote.Client, error) {
	return remote.New(l.Server, l.Token, remote.Options{
		Insecure:  a.Insecure || l.Insecure,
		Transport: a.ThroughEdge(l),
		Renew:     l.Renew(),
	})
}

// ErrAgent refuses what only a person may start.
var ErrAgent = errors.New("an agent's host runs this command, and only a person may use a login with an administrator's rights: " +
	"run it in a terminal of your own")

// ByAgent reports whether an agent's host started this run.
func (a *Run) ByAgent(store login.Store) bool {
	return presence.Open(store.Dir).Above(setup.Programs())
}

// Admin returns a client with an administrator's rights, if the person has such
// a login for the server and no agent's host started this run.
func (a *Run) Admin() (*remote.Client, bool) {
	l, store, err := a.Login(login.Overrides{})
	if err != nil {
		return nil, false
	}
	admin, ok := store.LoadAdmin(l.Server, a.Now())
	if !ok || a.ByAgent(store) {
		return nil, false
	}
	l.Token = admin.Token
	c, err := a.Connect(l)
	return c, err == nil
}

func NotLoggedIn(l login.Login) error {
	if l.Elsewhere != "" {
		err := fmt.Errorf("not logged in to %s (the stored login is for %s); run svc login --server %s", l.Server, l.Elsewhere, l.Server)
		return &term.Exit{Code: term.ExitNotLoggedIn, Err: err}
	}
	return &term.Exit{Code: term.ExitNotLoggedIn, Err: errors.New("not logged in; run svc login")}
}

// EnvSet reports whether a switch such as SVC_NO_BROWSER is set.
func (a *Run) EnvSet(name string) bool {
	v := strings.ToLower(a.Getenv(name))
	return v != "" && v != "0" && v != "false"
}

// CacheDir returns the user's cache folder, or "" when there is none.
func (a *Run) CacheDir() string {
	if dir := a.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	switch home := login.Home(a.Getenv); {
	case runtime.GOOS == "windows":
		return a.Getenv("LocalAppData")
	case !filepath.IsAbs(home):
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Caches")
	default:
		return filepath.Join(home, ".cache")
	}
}
