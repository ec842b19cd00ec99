package records

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func declareCommand(a *app.Run) *cobra.Command {
	var (
		scope                      scopeFlags
		mode, repo, branch, detail string
		depends                    []string
	)
	cmd := &cobra.Command{
		Use:   "declare TITLE [PATH...]",
		Short: "Say what you are going to work on",
		Long: "Say what you are going to work on, so that teammates and their agents hear of it\n" +
			"before they edit the same. Without --repo it is the repository of this folder.\n" +
			"With --mode exclusive others are kept out of a small scope.",
		Example: "  svc intents declare 'Rework login' 'auth/**'\n  svc intents declare 'Fix parser' src/parse.go --mode exclusive",
		Args:    term.AtLeast(1, "a title, and paths"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope.paths = append(scope.paths, args[1:]...)
			in := wire.DeclareIntent{Title: args[0], Summary: optional(detail), Scope: scope.set(), Mode: coord.Mode(mode), Repo: optional(repo),
				Branch: optional(branch)}
			if repo == "" {
				here, err := a.Here()
				if err != nil {
					return fmt.Errorf("%w; say where with --repo", err)
				}
				in.Repo = &here.Fingerprint
				if branch == "" {
					in.Branch = optional(here.Branch)
				}
			}
			for _, d := range depends {
				ref, err := intentRef(d)
				if err != nil {
					return err
				}
				in.DependsOn = append(in.DependsOn, wire.IntentRef(ref))
			}
			err := send(cmd.Context(), a, "POST", "/v1/intents", in, func(out wire.Declared) { printDeclared(a, "Declared", out) })
			if err != nil && repo == "" && strings.HasPrefix(err.Error(), "repo: no repo ") {
				return fmt.Errorf("the service does not know this repository yet; svc repos add tells it (%w)", err)
			}
			return err
		},
	}
	scope.add(cmd, "", "of the work")
	cmd.Flags().StringVar(&mode, "mode", "shared", strings.Join(coord.Mode("").Enum(), ", "))
	cmd.Flags().StringVar(&repo, "repo", "", "owner/name; default the repository of this folder")
	cmd.Flags().StringVar(&branch, "branch", "", "default the branch of this folder")
	cmd.Flags().StringVar(&detail, "summary", "", "more about it")
	cmd.Flags().StringSliceVar(&depends, "depends-on", nil, "an intent that must land first")
	Completes(a, cmd, "depends-on", "intents")
	Completes(a, cmd, "repo", "repos")
	term.Choices(cmd, "mode", coord.Mode("").Enum()...)
	completesArgs(a, cmd, "paths")
	return cmd
}

func printDeclared(a *app.Run, did string, out wire.Declared) {
	in := out.Intent
	fmt.Fprintf(a.Stdout, "%s %s %s (%s, %s).\n", did, a.Paint(term.Bold, in.Ref), peertext.Title(in.Title), in.Status, in.EffectiveMode)
	if note := text(in.ModeNote); note != "" {
		fmt.Fprintln(a.Stdout, peertext.Line(note, 300))
	}
	for _, cf := range out.Conflicts {
		fmt.Fprintf(a.Stdout, "%s %s: %s\n", a.Paint(term.Bold, cf.Ref), Severity(a, cf.Severity), team.Why(a.Now(), cf.Explanation, 300))
	}
	if out.MoreConflicts > 0 {
		fmt.Fprintf(a.Stdout, "And %d more that are no worse: svc conflicts\n", out.MoreConflicts)
	}
	if len(out.Conflicts) == 0 {
		fmt.Fprintln(a.Stdout, "Nobody is in the way.")
	}
}

func updateIntentCommand(a *app.Run) *cobra.Command {
	var (
		add, remove               scopeFlags
		title, note, status, plan string
	)
	cmd := &cobra.Command{
		Use:     "update INT-n",
		Short:   "Change an intent's title, scope or status",
		Example: "  svc intents update INT-7 --add-path 'docs/**'\n  svc intents update 7 --status in_review --note 'PR is up'",
		Args:    term.Exactly(1, "one intent such as INT-7"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := intentRef(args[0])
			if err != nil {
				return err
			}
			in := map[string]any{}
			for k, v := range map[string]string{"title": title, "note": note, "status": status, "summary": plan} {
				if v != "" {
					in[k] = v
				}
			}
			for k, v := range map[string]*coord.ScopeSet{"scope_add": add.set(), "scope_remove": remove.set()} {
				if v != nil {
					in[k] = v
				}
			}
			if len(in) == 0 {
				return term.Usagef("nothing to change; say what with a flag")
			}
			return send(cmd.Context(), a, "PATCH", "/v1/intents/"+ref, in, func(out wire.Declared) { printDeclared(a, "Updated", out) })
		},
	}
	add.add(cmd, "add-", "to add")
	remove.add(cmd, "remove-", "to take out")
	cmd.Flags().StringVar(&title, "title", "", "what is done, in one line")
	cmd.Flags().StringVar(&plan, "summary", "", "more about it")
	cmd.Flags().StringVar(&note, "note", "", "why, for teammates")
	cmd.Flags().StringVar(&status, "status", "", "active or in_review")
	term.Choices(cmd, "status", "active", "in_review")
	completesArgs(a, cmd, "my intents")
	return cmd
}

// scopeFlags say what work is about.
type scopeFlags struct {
	paths, symbols, contracts []string
}

func (f *scopeFlags) add(cmd *cobra.Command, prefix, what string) {
	cmd.Flags().StringSliceVar(&f.paths, prefix+"path", nil, "a path or glob "+what+"; may be repeated")
	cmd.Flags().StringSliceVar(&f.symbols, prefix+"symbol", nil, "a definition "+what+", such as src/a.go#Load")
	cmd.Flags().StringSliceVar(&f.contracts, prefix+"contract", nil, "a contract "+what+", such as 'GET /users/{id}'")
}

func (f *scopeFlags) set() *coord.ScopeSet {
	if len(f.paths)+len(f.symbols)+len(f.contracts) == 0 {
		return nil
	}
	return &coord.ScopeSet{Paths: orEmpty(f.paths), Symbols: orEmpty(f.symbols), Contracts: orEmpty(f.contracts)}
}
