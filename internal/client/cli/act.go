package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// send sends a request and prints the answer: as JSON, or as show says it.
func send[T any](ctx context.Context, a *app, method, path string, in any, show func(T)) error {
	c, _, err := a.client()
	if err != nil {
		return err
	}
	var out T
	if err := c.Send(ctx, method, path, in, &out); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(out)
	}
	show(out)
	return nil
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

func orEmpty(list []string) []string { return append([]string{}, list...) }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (a *app) declareCommand() *cobra.Command {
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
		Args:    atLeast(1, "a title, and paths"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope.paths = append(scope.paths, args[1:]...)
			in := wire.DeclareIntent{Title: args[0], Summary: optional(detail), Scope: scope.set(), Mode: coord.Mode(mode), Repo: optional(repo),
				Branch: optional(branch)}
			if repo == "" {
				here, err := a.here()
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
			err := send(cmd.Context(), a, "POST", "/v1/intents", in, func(out wire.Declared) { a.printDeclared("Declared", out) })
			if err != nil && repo == "" && strings.HasPrefix(err.Error(), "repo: no repo ") {
				return fmt.Errorf("the service does not know this repository yet; svc repos add tells it (%w)", err)
			}
			return err
		},
	}
	scope.add(cmd, "", "of the work")
	cmd.Flags().StringVar(&mode, "mode", "shared", "shared, exclusive or observe")
	cmd.Flags().StringVar(&repo, "repo", "", "owner/name; default the repository of this folder")
	cmd.Flags().StringVar(&branch, "branch", "", "default the branch of this folder")
	cmd.Flags().StringVar(&detail, "summary", "", "more about it")
	cmd.Flags().StringSliceVar(&depends, "depends-on", nil, "an intent that must land first")
	a.completes(cmd, "depends-on", "intents")
	a.completes(cmd, "repo", "repos")
	choices(cmd, "mode", "shared", "exclusive", "observe")
	a.completesArgs(cmd, "paths")
	return cmd
}

func (a *app) printDeclared(did string, out wire.Declared) {
	in := out.Intent
	fmt.Fprintf(a.Stdout, "%s %s %s (%s, %s).\n", did, a.paint(bold, in.Ref), peertext.Title(in.Title), in.Status, in.EffectiveMode)
	if note := text(in.ModeNote); note != "" {
		fmt.Fprintln(a.Stdout, peertext.Line(note, 300))
	}
	for _, cf := range out.Conflicts {
		fmt.Fprintf(a.Stdout, "%s %s: %s\n", a.paint(bold, cf.Ref), severity(a, cf.Severity), peertext.Line(cf.Explanation, 300))
	}
	if out.MoreConflicts > 0 {
		fmt.Fprintf(a.Stdout, "And %d more that are no worse: svc conflicts\n", out.MoreConflicts)
	}
	if len(out.Conflicts) == 0 {
		fmt.Fprintln(a.Stdout, "Nobody is in the way.")
	}
}

func (a *app) updateIntentCommand() *cobra.Command {
	var (
		add, remove               scopeFlags
		title, note, status, plan string
	)
	cmd := &cobra.Command{
		Use:     "update INT-n",
		Short:   "Change an intent's title, scope or status",
		Example: "  svc intents update INT-7 --add-path 'docs/**'\n  svc intents update 7 --status in_review --note 'PR is up'",
		Args:    exactly(1, "one intent such as INT-7"),
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
				return usagef("nothing to change; say what with a flag")
			}
			return send(cmd.Context(), a, "PATCH", "/v1/intents/"+ref, in, func(out wire.Declared) { a.printDeclared("Updated", out) })
		},
	}
	add.add(cmd, "add-", "to add")
	remove.add(cmd, "remove-", "to take out")
	cmd.Flags().StringVar(&title, "title", "", "what is done, in one line")
	cmd.Flags().StringVar(&plan, "summary", "", "more about it")
	cmd.Flags().StringVar(&note, "note", "", "why, for teammates")
	cmd.Flags().StringVar(&status, "status", "", "active or in_review")
	choices(cmd, "status", "active", "in_review")
	a.completesArgs(cmd, "my intents")
	return cmd
}

func (a *app) closeIntentCommand() *cobra.Command {
	var merged, abandoned bool
	var note string
	cmd := &cobra.Command{
		Use:     "close INT-n --merged|--abandoned",
		Short:   "End an intent",
		Example: "  svc intents close INT-7 --merged\n  svc intents close 6 --abandoned --note 'not needed any more'",
		Args:    exactly(1, "one intent such as INT-7"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := intentRef(args[0])
			if err != nil {
				return err
			}
			if merged == abandoned {
				return usagef("say how it ended: --merged or --abandoned")
			}
			outcome := "merged"
			if abandoned {
				outcome = "abandoned"
			}
			in := map[string]any{"outcome": outcome, "note": optional(note)}
			return send(cmd.Context(), a, "POST", "/v1/intents/"+ref+"/close", in, func(out wire.HandedOff) {
				fmt.Fprintf(a.Stdout, "%s is %s.\n", out.Intent.Ref, out.Intent.Status)
			})
		},
	}
	cmd.Flags().BoolVar(&merged, "merged", false, "it is in the default branch")
	cmd.Flags().BoolVar(&abandoned, "abandoned", false, "it was given up")
	cmd.Flags().StringVar(&note, "note", "", "a word about it")
	a.completesArgs(cmd, "my intents")
	return cmd
}

// An answer is a way to respond to a conflict.
type response struct {
	use, short, example string
	action              coord.ConflictAction
	did                 string
}

var responses = []response{
	{"ack CF-n", "Say that you have seen it", "  svc conflicts ack CF-3", coord.ActionAck, "you have seen it"},
	{"resolve CF-n", "Say that it is settled", "  svc conflicts resolve CF-3 --note 'we split the file'", coord.ActionResolved,
		"you call it settled"},
	{
		"propose CF-n",
		"Propose who goes first",
		"  svc conflicts propose CF-3 --note 'I merge today, you rebase tomorrow'",
		coord.ActionProposeSequence,
		"you made a proposal",
	},
	{"rebase CF-n", "Say that you will rebase onto the other", "  svc conflicts rebase CF-3", coord.ActionWillRebase, "you will rebase"},
	{"request-override CF-n", "Ask somebody who may override it", "  svc conflicts request-override CF-3 --note 'mine is a hotfix'",
		coord.ActionRequestOverride, "an override is asked for"},
	{"false-positive CF-n", "Say that there is no conflict", "  svc conflicts false-positive CF-3", coord.ActionFalsePositive,
		"you call it no conflict"},
}

func (a *app) respondCommand(r response) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:     r.use,
		Short:   r.short,
		Example: r.example,
		Args:    exactly(1, "one conflict such as CF-3"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := conflictRef(args[0])
			if err != nil {
				return err
			}
			in := map[string]any{"action": r.action, "note": optional(note)}
			return send(cmd.Context(), a, "POST", "/v1/conflicts/"+ref+"/actions", in, func(cf coord.Conflict) {
				fmt.Fprintf(a.Stdout, "%s: %s. It is %s.\n", cf.Ref, r.did, peertext.Name(string(cf.Status)))
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "a word for the other side")
	a.completesArgs(cmd, "conflicts")
	return cmd
}

// verdicts are what people say of a report, as they would write it.
var verdicts = map[string]coord.Verdict{"useful": coord.VerdictUseful, "false-alarm": coord.VerdictFalsePositive,
	"false-positive": coord.VerdictFalsePositive, "false_positive": coord.VerdictFalsePositive, "too-late": coord.VerdictTooLate,
	"too_late": coord.VerdictTooLate}

// feedbackCommand judges a report, which tunes what is worth a warning.
func (a *app) feedbackCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feedback CF-n useful|false-alarm|too-late",
		Short: "Say whether the report was right",
		Long: "Say whether the report was right. It shows in the stats and tunes what is worth\n" +
			"a warning; the conflict itself stays as it is.",
		Example: "  svc conflicts feedback CF-3 useful",
		Args:    exactly(2, "a conflict, and useful, false-alarm or too-late"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := conflictRef(args[0])
			if err != nil {
				return err
			}
			verdict, ok := verdicts[strings.ToLower(args[1])]
			if !ok {
				return usagef("no verdict %q; there are useful, false-alarm and too-late", args[1])
			}
			return a.do(cmd.Context(), "POST", "/v1/conflicts/"+ref+"/feedback", map[string]any{"verdict": verdict}, "Thank you.")
		},
	}
	a.completesArgs(cmd, "conflicts")
	first := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return []string{"useful", "false-alarm", "too-late"}, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, prefix)
	}
	return cmd
}

// overrideCommand leads to the page where a person confirms: a token alone may
// be an agent's.
func (a *app) overrideCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "override CF-n",
		Short: "Let both sides go on; opens the page where you confirm",
		Long: "Let both sides go on. Only a person may, so this opens the conflict's page in\n" +
			"the dashboard, where you give the reason and confirm.",
		Example: "  svc conflicts override CF-3",
		Args:    exactly(1, "one conflict such as CF-3"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := conflictRef(args[0])
			if err != nil {
				return err
			}
			return a.openPage(cmd.Context(), "/conflicts/"+ref)
		},
	}
	a.completesArgs(cmd, "conflicts")
	return cmd
}

func (a *app) askCommand() *cobra.Command {
	var about string
	cmd := &cobra.Command{
		Use:   "ask TO QUESTION",
		Short: "Ask a teammate, or who works on something",
		Long: "Ask a question. TO is @name, an email, INT-n, or a contract or definition such\n" +
			"as 'GET /users/{id}', db:public.users or src/a.go#Load: what is known is told\n" +
			"at once, and whoever works on it is asked.",
		Example: "  svc ask @bob 'Is the login API stable?'\n  svc ask 'GET /users/{id}' 'May I drop the field name?'",
		Args:    exactly(2, "whom to ask, and the question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			to := args[0]
			if strings.HasPrefix(to, "@") || strings.Contains(to, "@") && !strings.ContainsAny(to, " /#") || isRef(to, "INT-") {
				if to, err = target(cmd.Context(), c, to); err != nil {
					return err
				}
			}
			in := wire.Ask{To: to, Question: args[1], About: optional(about)}
			if here, err := a.here(); err == nil {
				in.Repo = &here.Fingerprint
			}
			return send(cmd.Context(), a, "POST", "/v1/questions", in, a.printQuestion)
		},
	}
	cmd.Flags().StringVar(&about, "about", "", "a contract that it is about, when TO is a person or an intent")
	a.completesArgs(cmd, "people", "intents", "contracts")
	a.completes(cmd, "about", "contracts")
	return cmd
}

func (a *app) printQuestion(q coord.Question) {
	fmt.Fprintf(a.Stdout, "Asked %s (%s). The answer comes with svc messages.\n", addressee(q.To), q.ID)
	if q.Immediate != nil {
		fmt.Fprintln(a.Stdout, "What is known now:")
		a.quote(a.Stdout, *q.Immediate)
	}
	for _, answer := range q.Answers {
		a.quote(a.Stdout, answer.Answer)
	}
}

func (a *app) answerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answer QUESTION TEXT",
		Short: "Answer a question",
		Long: "Answer a question. QUESTION is its id or the beginning of it, as svc messages,\n" +
			"svc status and svc search show it; or @name for the one that somebody asked you.",
		Example: "  svc answer @bob 'Yes, it is stable'",
		Args:    exactly(2, "a question's id, and the answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := a.questionID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			in := map[string]any{"answer": args[1]}
			path := "/v1/questions/" + url.PathEscape(id) + "/answers"
			return send(cmd.Context(), a, "POST", path, in, func(coord.Question) { fmt.Fprintln(a.Stdout, "Answered.") })
		},
	}
	a.completesArgs(cmd, "questions", "people")
	return cmd
}
