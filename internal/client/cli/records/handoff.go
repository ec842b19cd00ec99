package records

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
)

const maxNote = 2000

func HandoffCommand(a *app.Run) *cobra.Command {
	var intent, note string
	var yes bool
	cmd := &cobra.Command{
		Use:   "handoff EMAIL|@NAME [--intent INT-n] [--note TEXT] [--yes]",
		Short: "Hand your work to a teammate",
		Long: "Hand an intent to a teammate. @NAME finds a member by name, first name or the\n" +
			"part of the email before the @. Without --intent it is your only live intent\n" +
			"in this repository.",
		Example: "  svc handoff bob@example.com --note 'tests are still red'\n  svc handoff @bob --intent INT-7 --yes",
		Args:    term.Exactly(1, "one teammate: an email or @name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := utf8.RuneCountInString(note); n > maxNote {
				return term.Usagef("--note may have %d characters, it has %d", maxNote, n)
			}
			return runHandoff(cmd.Context(), a, args[0], intent, note, yes)
		},
	}
	cmd.Flags().StringVar(&intent, "intent", "", "the intent to hand over")
	Completes(a, cmd, "intent", "my intents")
	completesArgs(a, cmd, "people")
	cmd.Flags().StringVar(&note, "note", "", "a note for the teammate, up to 2000 characters")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func runHandoff(ctx context.Context, a *app.Run, to, ref, note string, yes bool) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	email, err := recipient(ctx, c, to)
	if err != nil {
		return err
	}
	in, err := intentToHand(ctx, a, c, ref)
	if err != nil {
		return err
	}
	if a.Terminal.In && !yes {
		ok, err := a.Confirm(ctx, fmt.Sprintf("Hand %s (%s) to %s?", in.Ref, peertext.Title(in.Title), peertext.Person(email)))
		if err != nil {
			return err
		}
		if !ok {
			return term.ErrCancelled
		}
	}
	out, err := c.Handoff(ctx, in.Ref, email, note)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	fmt.Fprintf(a.Stdout, "%s now belongs to %s. They take it over with svc intents adopt %s.\n",
		out.Intent.Ref, person(&out.Intent.Owner), out.Intent.Ref)
	return nil
}

// recipient returns the email that to means.
func recipient(ctx context.Context, c *remote.Client, to string) (string, error) {
	name, byName := strings.CutPrefix(to, "@")
	if !byName {
		if !strings.Contains(to, "@") {
			return "", term.Usagef("%q is neither an email nor @name", to)
		}
		return to, nil
	}
	members, err := c.Members(ctx)
	if err != nil {
		return "", err
	}
	var found []coord.Membership
	for _, m := range members {
		if goesBy(m.User, name) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0].Email, nil
	case 0:
		return "", fmt.Errorf("no member goes by %q; give their email", name)
	}
	e := &problem.Error{
		Kind:   problem.Conflict,
		Detail: fmt.Sprintf("%d members go by %q; give the email of the one you mean:", len(found), name),
	}
	for _, m := range found {
		e.Candidates = append(e.Candidates, m.Email+" ("+m.Name+")")
	}
	return "", e
}

// goesBy reports whether somebody is called name: in full, by first name or
// by the local part of their email.
func goesBy(u coord.User, name string) bool {
	first, _, _ := strings.Cut(u.Name, " ")
	local, _, _ := strings.Cut(u.Email, "@")
	for _, n := range []string{u.Name, first, local} {
		if n != "" && strings.EqualFold(n, strings.TrimSpace(name)) {
			return true
		}
	}
	return false
}

// intentToHand returns the intent ref names, or the only live one here.
func intentToHand(ctx context.Context, a *app.Run, c *remote.Client, ref string) (coord.Intent, error) {
	if ref != "" {
		ref, err := intentRef(ref)
		if err != nil {
			return coord.Intent{}, err
		}
		return c.Intent(ctx, ref)
	}
	here, err := a.Here()
	if err != nil {
		return coord.Intent{}, fmt.Errorf("%w; say which intent with --intent", err)
	}
	page, err := c.Intents(ctx, remote.Filter{Owner: "me", Status: "live", Repo: here.Fingerprint})
	if err != nil {
		return coord.Intent{}, err
	}
	switch len(page.Items) {
	case 1:
		return page.Items[0], nil
	case 0:
		return coord.Intent{}, fmt.Errorf("you have no live intent in %s; say which one with --intent", here.Fingerprint)
	}
	e := &problem.Error{Kind: problem.Conflict, Detail: "you have several live intents here; say which one with --intent:"}
	for _, in := range page.Items {
		e.Candidates = append(e.Candidates, in.Ref+" "+in.Title)
	}
	return coord.Intent{}, e
}
