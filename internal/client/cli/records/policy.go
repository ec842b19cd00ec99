package records

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func PolicyCommand(a *app.Run) *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:     "policy get|set|edit",
		Short:   "Show and change the rules",
		Long:    "Show and change the rules of the org, or with --repo of a repository.",
		Example: "  svc policy get\n  svc policy set enforcement=warn --repo acme/shop\n  svc policy edit",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return getPolicy(cmd.Context(), a, repo) },
	}
	cmd.PersistentFlags().StringVar(&repo, "repo", "", "the rules of this repo, owner/name")
	Completes(a, cmd, "repo", "repos")
	set := &cobra.Command{
		Use:     "set RULE=VALUE...",
		Short:   "Set rules; an empty value goes back to the default",
		Example: "  svc policy set enforcement=warn\n  svc policy set exclusive_max_files=20 auto_draft=",
		Args:    term.AtLeast(1, "a rule such as enforcement=warn"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changePolicy(cmd.Context(), a, repo, func(rules map[string]any) error { return setRules(rules, args) })
		},
	}
	completesArgs(a, set, "rules")
	cmd.AddCommand(
		set,
		&cobra.Command{
			Use:     "get",
			Short:   "Show the rules in effect",
			Example: "  svc policy get --repo acme/shop",
			Args:    term.NoArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return getPolicy(cmd.Context(), a, repo) },
		},
		&cobra.Command{
			Use:     "edit",
			Short:   "Change the rules in your editor",
			Example: "  EDITOR=vim svc policy edit --repo acme/shop",
			Args:    term.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return changePolicy(cmd.Context(), a, repo, func(rules map[string]any) error { return edit(cmd.Context(), a, rules) })
			},
		},
	)
	return cmd
}

func getPolicy(ctx context.Context, a *app.Run, repo string) error {
	return send(ctx, a, "GET", query("/v1/policies", "repo", repo), nil, func(p map[string]any) {
		effective, _ := p["effective"].(map[string]any)
		defaults, _ := p["defaults"].(map[string]any)
		names := make([]string, 0, len(effective))
		for name := range effective {
			names = append(names, name)
		}
		slices.Sort(names)
		rows := [][]string{}
		for _, name := range names {
			value, _ := json.Marshal(effective[name])
			standard, _ := json.Marshal(defaults[name])
			mark := ""
			if string(value) != string(standard) {
				mark = "*"
			}
			rows = append(rows, []string{mark, peertext.Name(name), peertext.Line(string(value), 200)})
		}
		a.List(rows, []grid.Column{term.Col(""), term.Col("RULE"), term.Col("VALUE (* not the default)", 20)}, "No rules.", false)
	})
}

// changePolicy reads the rules that are set, lets fn change them and puts them
// back, unless somebody else did so meanwhile.
func changePolicy(ctx context.Context, a *app.Run, repo string, fn func(map[string]any) error) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	var now wire.Policies
	path := query("/v1/policies", "repo", repo)
	version, err := c.Tagged(ctx, "GET", path, "", nil, &now)
	if err != nil {
		return err
	}
	rules := now.Org
	if repo != "" {
		rules = now.Repo
	}
	if rules == nil {
		rules = map[string]any{}
	}
	before, _ := json.Marshal(rules)
	if err := fn(rules); err != nil {
		return err
	}
	if after, _ := json.Marshal(rules); string(before) == string(after) {
		fmt.Fprintln(a.Stderr, "Nothing to change.")
		if a.JSON {
			return a.PrintJSON(now)
		}
		return nil
	}
	var out json.RawMessage
	err = change(ctx, a, "PUT", path, func(c *remote.Client) error {
		_, err := c.Tagged(ctx, "PUT", path, version, map[string]any{"rules": rules}, &out)
		return err
	})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	fmt.Fprintln(a.Stdout, "Changed.")
	return nil
}

// setRules reads RULE=VALUE, where a value is JSON or a plain word.
func setRules(rules map[string]any, args []string) error {
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return term.Usagef("%q is not a rule such as enforcement=warn", arg)
		}
		if value == "" {
			delete(rules, name)
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			v = value
		}
		rules[name] = v
	}
	return nil
}

// edit lets the person change the rules in their editor.
func edit(ctx context.Context, a *app.Run, rules map[string]any) error {
	text, err := json.MarshalIndent(rules, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp("", "svc-policy-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(text, '\n'))
	if err2 := f.Close(); err != nil || err2 != nil {
		return fmt.Errorf("cannot write %s", f.Name())
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if e := a.Getenv(name); e != "" {
			editor = e
		}
	}
	words := append(strings.Fields(editor), f.Name())
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, a.Stdout, a.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", words[0], err)
	}
	if text, err = os.ReadFile(f.Name()); err != nil {
		return err
	}
	clear(rules)
	if err := json.Unmarshal(text, &rules); err != nil {
		return term.Usagef("what you wrote is not JSON: %v; nothing was changed", err)
	}
	return nil
}
