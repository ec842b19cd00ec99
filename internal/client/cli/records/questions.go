package records

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// shortestID is how much of a question's id says which one is meant.
const shortestID = 4

// questionID is the question that a word names: its id, the beginning of one
// that came lately, or who asked it.
func questionID(ctx context.Context, a *app.Run, word string) (string, error) {
	if isID(word) {
		return word, nil
	}
	from, messages, err := lately(ctx, a, word, "question", "asked")
	if err != nil {
		return "", err
	}
	var found []string
	for _, m := range messages {
		if !asks(m) || slices.Contains(found, m.About.Ref) {
			continue
		}
		if from != "" && m.From.User != nil && strings.EqualFold(m.From.User.Email, from) || from == "" && strings.HasPrefix(m.About.Ref, word) {
			found = append(found, m.About.Ref)
		}
	}
	switch {
	case len(found) == 0:
		return "", &term.Exit{Code: term.ExitError, Err: term.Usagef("no question of the last messages is %q; svc messages shows them", word)}
	case len(found) > 1 && from == "":
		return "", term.Usagef("%q begins %d questions; give more of the id", word, len(found))
	}
	return found[0], nil
}

// lately returns the last messages, the newest first, for a word that names one
// by the beginning of its id or, if from is not empty, by who sent it.
func lately(ctx context.Context, a *app.Run, word, what, did string) (from string, list []coord.Message, err error) {
	c, _, err := a.Client()
	if err != nil {
		return "", nil, err
	}
	if strings.Contains(word, "@") {
		if from, err = recipient(ctx, c, word); err != nil {
			return "", nil, err
		}
	} else if len(word) < shortestID {
		return "", nil, term.Usagef("%q is no %s; give its id as svc messages shows it, or @name of who %s", word, what, did)
	}
	page, err := c.Inbox(ctx, remote.Filter{Limit: wire.MaxLimit})
	return from, page.Items, err
}

// asks reports whether a message is a question, not what was answered.
func asks(m coord.Message) bool {
	return m.About != nil && m.About.Kind == "question" && text(m.Subject) == "Question"
}

// addressee is whom or what a message went to, as people write it.
func addressee(to string) string {
	kind, rest, ok := strings.Cut(to, ":")
	switch {
	case ok && (kind == "user" || kind == "conflict" || kind == "intent"):
		return peertext.Line(rest, 200)
	case ok && kind == "channel":
		return "#" + peertext.Line(rest, 200)
	}
	return peertext.Line(to, 200)
}

func AskCommand(a *app.Run) *cobra.Command {
	var about string
	cmd := &cobra.Command{
		Use:   "ask TO QUESTION",
		Short: "Ask a teammate, or who works on something",
		Long: "Ask a question. TO is @name, an email, INT-n, or a contract or definition such\n" +
			"as 'GET /users/{id}', db:public.users or src/a.go#Load: what is known is told\n" +
			"at once, and the person who works on it is asked.",
		Example: "  svc ask @bob 'Is the login API stable?'\n  svc ask 'GET /users/{id}' 'May I drop the field name?'",
		Args:    term.Exactly(2, "whom to ask, and the question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.Client()
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
			if here, err := a.Here(); err == nil {
				in.Repo = &here.Fingerprint
			}
			return send(cmd.Context(), a, "POST", "/v1/questions", in, func(q coord.Question) { printQuestion(a, q) })
		},
	}
	cmd.Flags().StringVar(&about, "about", "", "a contract that it is about, when TO is a person or an intent")
	completesArgs(a, cmd, "people", "intents", "contracts")
	Completes(a, cmd, "about", "contracts")
	return cmd
}

func printQuestion(a *app.Run, q coord.Question) {
	fmt.Fprintf(a.Stdout, "Asked %s (%s). The answer comes with svc messages.\n", addressee(q.To), q.ID)
	if q.Immediate != nil {
		fmt.Fprintln(a.Stdout, "What is known now:")
		a.Quote(a.Stdout, *q.Immediate)
	}
	for _, answer := range q.Answers {
		a.Quote(a.Stdout, answer.Answer)
	}
}

func AnswerCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answer QUESTION TEXT",
		Short: "Answer a question",
		Long: "Answer a question. QUESTION is its id or the beginning of it, as svc messages,\n" +
			"svc status and svc search show it; or @name for the one that somebody asked you.",
		Example: "  svc answer @bob 'Yes, it is stable'",
		Args:    term.Exactly(2, "a question's id, and the answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := questionID(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			in := map[string]any{"answer": args[1]}
			path := "/v1/questions/" + url.PathEscape(id) + "/answers"
			return send(cmd.Context(), a, "POST", path, in, func(coord.Question) { fmt.Fprintln(a.Stdout, "Answered.") })
		},
	}
	completesArgs(a, cmd, "questions", "people")
	return cmd
}
