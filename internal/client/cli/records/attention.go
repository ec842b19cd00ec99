package records

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// maxNeeds is how many things that wait for one the server tells, and takes,
// at once.
const maxNeeds = 100

func AttentionCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "attention [dismiss|mute]",
		Short: "List what waits for you, and what to do about it",
		Long: "List what waits for you, the most pressing first: conflicts of your work,\n" +
			"questions, messages, handoffs and what is out of order.",
		Example: "  svc attention\n  svc attention dismiss CF-3",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return send(cmd.Context(), a, "GET", query("/v1/attention", "limit", fmt.Sprint(maxNeeds)), nil,
				func(at wire.Attention) { printAttention(a, at) })
		},
	}
	var all bool
	dismiss := &cobra.Command{
		Use:   "dismiss WHAT...",
		Short: "Hide it until it changes",
		Long: "Hide something that waits for you, until it changes. WHAT is CF-n, INT-n, the\n" +
			"beginning of an id that svc attention shows, or a kind such as message for all\n" +
			"of that kind.",
		Example: "  svc attention dismiss CF-3\n  svc attention dismiss message question",
		RunE: func(cmd *cobra.Command, args []string) error {
			if all != (len(args) == 0) {
				return term.Usagef("say what: CF-n, INT-n, an id, a kind, or --all")
			}
			return dismiss(cmd.Context(), a, args)
		},
	}
	dismiss.Flags().BoolVar(&all, "all", false, "everything that waits for you")
	completesArgs(a, dismiss, "needs")
	cmd.AddCommand(dismiss, muteCommand(a))
	return cmd
}

func printAttention(a *app.Run, at wire.Attention) {
	attentionList.print(a, at.Items, false)
	if at.Total > len(at.Items) {
		fmt.Fprintf(a.Stderr, "And %d more.\n", at.Total-len(at.Items))
	}
	if at.Muted > 0 {
		fmt.Fprintf(a.Stderr, "%s muted; svc attention mute WHAT --off asks you again.\n", term.Plural(at.Muted, "thing"))
	}
}

// nextStep is the command that deals with something that waits.
func nextStep(it coord.AttentionItem) string {
	ref := peertext.Line(text(it.Ref), 60)
	switch {
	case it.Kind == coord.AttentionAck && it.MessageID != nil:
		return "svc messages ack " + short(*it.MessageID)
	case it.Kind == coord.AttentionQuestion:
		return "svc answer " + short(ref) + " TEXT"
	case strings.HasPrefix(ref, "thread:"):
		return "svc messages show " + short(strings.TrimPrefix(ref, "thread:"))
	case it.Kind == coord.AttentionOverrideRequest:
		return "svc conflicts override " + ref
	case it.Kind == coord.AttentionHandoff:
		return "svc intents adopt " + ref
	case isRef(ref, "CF-"):
		return "svc conflicts show " + ref
	case isRef(ref, "INT-"):
		return "svc intents show " + ref
	}
	return "svc open"
}

// dismiss hides what the words mean, or everything without any.
func dismiss(ctx context.Context, a *app.Run, words []string) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	at, err := c.Attention(ctx, maxNeeds)
	if err != nil {
		return err
	}
	ids := []string{}
	for _, it := range at.Items {
		if len(words) == 0 {
			ids = append(ids, it.ID)
		}
	}
	for _, w := range words {
		before := len(ids)
		for _, it := range at.Items {
			if meansNeed(w, it) && !slices.Contains(ids, it.ID) {
				ids = append(ids, it.ID)
			}
		}
		if len(ids) == before {
			return fmt.Errorf("nothing that waits for you is %q; svc attention lists it", peertext.Line(w, 100))
		}
	}
	if len(ids) == 0 {
		if a.JSON {
			return a.PrintJSON(wire.DismissAttention{IDs: ids})
		}
		fmt.Fprintln(a.Stdout, "Nothing waits for you.")
		return nil
	}
	if err := c.Send(ctx, "POST", "/v1/attention/dismiss", wire.DismissAttention{IDs: ids}, nil); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(wire.DismissAttention{IDs: ids})
	}
	if len(ids) == 1 {
		fmt.Fprintln(a.Stdout, "Dismissed until it changes.")
	} else {
		fmt.Fprintf(a.Stdout, "Dismissed %d things until they change.\n", len(ids))
	}
	return nil
}

// needWord is the shortest way to name something that waits.
func needWord(it coord.AttentionItem) string {
	switch ref := text(it.Ref); {
	case isRef(ref, "CF-"), isRef(ref, "INT-"):
		return ref
	case it.MessageID != nil:
		return short(*it.MessageID)
	}
	return it.ID
}

// meansNeed reports whether a word is how a person writes something that waits.
func meansNeed(word string, it coord.AttentionItem) bool {
	word = strings.ToLower(unlinked(word))
	ref := strings.ToLower(text(it.Ref))
	kind := string(it.Kind)
	if word == kind || word == strings.ReplaceAll(kind, "_", " ") || word == strings.ToLower(it.ID) || word == ref {
		return true
	}
	if len(word) < shortestID || isRef(ref, "cf-") || isRef(ref, "int-") { // CF-1 is not the beginning of CF-12
		return false
	}
	return strings.HasPrefix(strings.TrimPrefix(ref, "thread:"), word) || it.MessageID != nil && strings.HasPrefix(*it.MessageID, word)
}
