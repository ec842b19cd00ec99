// Package cli is the command-line client: one file per command. It decides
// what a person sees; what is done is decided in the packages below it. It
// holds no rule of the service: what a command may do, the server says.
package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/peertext"
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
}

// codeOf is the exit code that goes with an error.
func codeOf(err error) int {
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

// An app is one run of the client.
type app struct {
	*Env
	root          *cobra.Command
	args          []string
	json          bool
	template      string
	insecure      bool
	noUpdateCheck bool
}

// Main runs the command that args name and returns the exit code.
func Main(ctx context.Context, env *Env, args []string) int {
	a := &app{Env: env, args: args}
	a.root = a.rootCommand()
	a.root.SetArgs(args)
	ran, err := a.root.ExecuteContextC(ctx)
	code := a.report(ctx, ran, err)
	if code == term.ExitOK {
		a.offerUpdate(ctx, ran)
	}
	return code
}

// report tells an error and returns the exit code that goes with it.
func (a *app) report(ctx context.Context, ran *cobra.Command, err error) int {
	if err == nil {
		return term.ExitOK
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return term.ExitCancelled
	}
	code := codeOf(err)
	var e *term.Exit
	if errors.As(err, &e) && e.Err == nil {
		return code
	}
	fmt.Fprintln(a.Stderr, "svc: "+peertext.Clean(err.Error()))
	var p *problem.Error
	if errors.As(err, &p) {
		for _, c := range p.Candidates {
			fmt.Fprintln(a.Stderr, "  "+peertext.Line(c, 200))
		}
	}
	if after := problem.RetryAfter(err); after > 0 {
		fmt.Fprintf(a.Stderr, "Try again in %d s.\n", after)
	}
	if code == term.ExitUsage {
		name := "svc"
		if ran != nil {
			name = ran.CommandPath()
		}
		fmt.Fprintf(a.Stderr, "Run '%s --help' for how to use it.\n", name)
	}
	return code
}

func (a *app) rootCommand() *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "svc",
		Short: "Coordinate coding agents that work in the same repositories",
		Long: "svc tells you and your coding agents who else works on the same files,\n" +
			"symbols and contracts, before an edit goes wrong.",
		Example:       "  svc up\n  svc status\n  svc open",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case showVersion:
				return a.printVersion()
			case len(args) == 0:
				return cmd.Help()
			}
			return term.Unknown(cmd, args[0])
		},
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if a.template != "" {
				a.json = true // it is told the same
				a.Template, err = term.CompileTemplate(a.template)
			}
			return err
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetIn(a.Stdin)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { term.Help(a.Stdout, cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { term.Help(a.Stdout, cmd); return nil })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd == root && len(a.args) > 0 && !strings.HasPrefix(a.args[0], "-") {
			return term.Unknown(cmd, a.args[0]) // its flags are not the mistake
		}
		return &term.Exit{Code: term.ExitUsage, Err: err}
	})
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.StringVar(&a.template, "template", "", "print what --json has by a Go template")
	f.BoolVar(&a.insecure, "insecure", false, "allow plain http to another machine")
	f.BoolVar(&a.noUpdateCheck, "no-update-check", false, "do not look for a newer svc")
	root.Flags().BoolVarP(&showVersion, "version", "v", false, "print the version")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, make := range g.commands {
			c := make(a)
			if slices.Contains(nouns, c.Name()) {
				withList(c)
			}
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommand(a.helpCommand())
	return root
}

// The order of groups is the order to read them in.
func init() { cobra.EnableCommandSorting = false }

// groups are the commands in the order of the help page.
var groups = []struct {
	id, title string
	commands  []func(*app) *cobra.Command
}{
	{"start", "Get started", []func(*app) *cobra.Command{
		(*app).upCommand, (*app).downCommand, (*app).demoCommand, (*app).shareCommand,
		(*app).loginCommand, (*app).initCommand, (*app).doctorCommand, (*app).backtestCommand, (*app).whoamiCommand, (*app).logoutCommand,
	}},
	{"work", "See and steer the work", []func(*app) *cobra.Command{
		(*app).statusCommand, (*app).topCommand, (*app).attentionCommand, (*app).intentsCommand, (*app).conflictsCommand, (*app).messagesCommand,
		(*app).askCommand, (*app).answerCommand, (*app).waitCommand, (*app).whoCommand, (*app).searchCommand, (*app).feedCommand,
		(*app).checkCommand, (*app).trustCommand, (*app).watchTreeCommand, (*app).mergeCheckCommand,
		(*app).analyzeCommand, (*app).indexCommand, (*app).watchCommand, (*app).handoffCommand, (*app).openCommand,
	}},
	{"org", "Look after the org", []func(*app) *cobra.Command{
		(*app).membersCommand, (*app).tokensCommand, (*app).policyCommand, (*app).reposCommand, (*app).contractsCommand,
		(*app).webhooksCommand, (*app).mailCommand, (*app).statsCommand, (*app).apiCommand,
	}},
	{"agents", "For agent hosts", []func(*app) *cobra.Command{
		(*app).promptCommand, (*app).hookCommand, (*app).mcpCommand, (*app).edgeCommand, (*app).mcpHeadersCommand, (*app).authHeaderCommand,
	}},
	{"self", "About svc itself", []func(*app) *cobra.Command{
		(*app).updateCommand, (*app).versionCommand, (*app).completionCommand, (*app).manCommand,
	}},
}

// login returns the login that this run works with.
func (a *app) login(flags login.Overrides) (login.Login, login.Store, error) {
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

// commandStart is how long a command waits for the local service to start,
// which happens when nobody has worked for a while.
const commandStart = 20 * time.Second

// localLogin returns the login of the local service, if the work in this
// folder is its own.
func (a *app) localLogin(store login.Store) (login.Login, bool, error) {
	c, err := store.LoadFile()
	if err != nil {
		return login.Login{}, false, nil // which the login then says
	}
	var fingerprints []string
	if repo, ok := gitrepo.Find(a.Dir); ok {
		fingerprints = attend.FingerprintsOf(repo)
	} else if c.Token != "" || c.Keychain { // outside of repositories people mean their team
		return login.Login{}, false, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandStart)
	defer cancel()
	s, here, err := attend.LocalFor(ctx, a.Getenv, store, c, fingerprints)
	if !here || err != nil {
		return login.Login{}, here, err
	}
	own := login.Config{Server: s.Server, Token: s.Token, MachineID: store.Machine(), WebURL: s.Server}
	return login.Login{Config: own, ServerSource: login.FromLocal, TokenSource: login.FromLocal}, true, nil
}

// client returns a client of the server that the user is logged in to.
func (a *app) client() (*remote.Client, login.Login, error) {
	l, _, err := a.login(login.Overrides{})
	if err != nil {
		return nil, l, err
	}
	if !l.LoggedIn() {
		return nil, l, notLoggedIn(l)
	}
	c, err := a.connect(l)
	return c, l, err
}

func (a *app) connect(l login.Login) (*remote.Client, error) {
	return remote.New(l.Server, l.Token, remote.Options{
		Insecure:  a.insecure || l.Insecure,
		Transport: a.throughEdge(l),
		Reached:   func() { spool.Reached(a.Getenv("TMPDIR"), l.Server) }, // hooks need not wait till they dare again
	})
}

func notLoggedIn(l login.Login) error {
	if l.Elsewhere != "" {
		err := fmt.Errorf("not logged in to %s (the stored login is for %s); run svc login --server %s", l.Server, l.Elsewhere, l.Server)
		return &term.Exit{Code: term.ExitNotLoggedIn, Err: err}
	}
	return &term.Exit{Code: term.ExitNotLoggedIn, Err: errors.New("not logged in; run svc login")}
}

// envSet reports whether a switch such as SVC_NO_BROWSER is set.
func (a *app) envSet(name string) bool {
	v := strings.ToLower(a.Getenv(name))
	return v != "" && v != "0" && v != "false"
}
