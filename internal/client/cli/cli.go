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

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/merging"
	"github.com/svc-hq/svc/internal/client/cli/records"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/demo"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
)

// An Env is the world a command runs in.
type Env = app.Env

// Main runs the command that args name and returns the exit code.
func Main(ctx context.Context, env *Env, args []string) int {
	a := &app.Run{Env: env, Args: args}
	a.Root = rootCommand(a)
	a.Root.SetArgs(args)
	ran, err := a.Root.ExecuteContextC(ctx)
	code := report(ctx, a, ran, err)
	if code == term.ExitOK {
		offerUpdate(ctx, a, ran)
	}
	return code
}

// report tells an error and returns the exit code that goes with it.
func report(ctx context.Context, a *app.Run, ran *cobra.Command, err error) int {
	if err == nil {
		return term.ExitOK
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return term.ExitCancelled
	}
	code := app.CodeOf(err)
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

func rootCommand(a *app.Run) *cobra.Command {
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
				return printVersion(a)
			case len(args) == 0:
				return cmd.Help()
			}
			return term.Unknown(cmd, args[0])
		},
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if a.TemplateText != "" {
				a.JSON = true // it is told the same
				a.Template, err = term.CompileTemplate(a.TemplateText)
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
		if cmd == root && len(a.Args) > 0 && !strings.HasPrefix(a.Args[0], "-") {
			return term.Unknown(cmd, a.Args[0]) // its flags are not the mistake
		}
		return &term.Exit{Code: term.ExitUsage, Err: err}
	})
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print JSON")
	f.StringVar(&a.TemplateText, "template", "", "print what --json has by a Go template")
	f.BoolVar(&a.Insecure, "insecure", false, "allow plain http to another machine")
	f.BoolVar(&a.NoUpdateCheck, "no-update-check", false, "do not look for a newer svc")
	root.Flags().BoolVarP(&showVersion, "version", "v", false, "print the version")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, make := range g.commands {
			c := make(a)
			if slices.Contains(records.Nouns, c.Name()) {
				records.WithList(c)
			}
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommand(helpCommand(a))
	return root
}

// The order of groups is the order to read them in.
func init() { cobra.EnableCommandSorting = false }

// groups are the commands in the order of the help page.
var groups = []struct {
	id, title string
	commands  []func(*app.Run) *cobra.Command
}{
	{"start", "Get started", []func(*app.Run) *cobra.Command{
		upCommand, downCommand, demo.Command, shareCommand,
		loginCommand, initCommand, doctorCommand, backtestCommand, whoamiCommand, logoutCommand,
	}},
	{"work", "See and steer the work", []func(*app.Run) *cobra.Command{
		records.StatusCommand, topCommand, records.AttentionCommand, records.IntentsCommand, records.ConflictsCommand, records.MessagesCommand,
		records.AskCommand, records.AnswerCommand, records.WaitCommand, records.LeaseCommand, records.LandingCommand,
		records.WhoCommand, records.BlameCommand,
		records.SearchCommand, records.FeedCommand,
		merging.CheckCommand, merging.TrustCommand, watchTreeCommand, merging.MergeCheckCommand, lookBackCommand,
		analyzeCommand, indexCommand, rulesCommand, records.WatchCommand, records.HandoffCommand, records.OpenCommand,
	}},
	{"org", "Look after the org", []func(*app.Run) *cobra.Command{
		records.MembersCommand, records.TokensCommand, records.PolicyCommand, records.ReposCommand, records.ContractsCommand,
		records.WebhooksCommand, records.MailCommand, records.StatsCommand, apiCommand,
	}},
	{"agents", "For agent hosts", []func(*app.Run) *cobra.Command{
		promptCommand, hookCommand, mcpCommand, lspCommand, edgeCommand, mcpHeadersCommand, authHeaderCommand,
	}},
	{"self", "About svc itself", []func(*app.Run) *cobra.Command{
		updateCommand, versionCommand, completionCommand, manCommand,
	}},
}
