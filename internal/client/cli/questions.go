package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// shortestID is how much of a question's id says which one is meant.
const shortestID = 4

// questionID is the question that a word names: its id, the beginning of one
// that came lately, or who asked it.
func (a *app) questionID(ctx context.Context, word string) (string, error) {
	if isID(word) {
		return word, nil
	}
	from, messages, err := a.lately(ctx, word, "question", "asked")
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
		return "", &exit{ExitError, usagef("no question of the last messages is %q; svc messages shows them", word)}
	case len(found) > 1 && from == "":
		return "", usagef("%q begins %d questions; give more of the id", word, len(found))
	}
	return found[0], nil
}

// lately returns the last messages, the newest first, for a word that names one
// by the beginning of its id or, if from is not empty, by who sent it.
func (a *app) lately(ctx context.Context, word, what, did string) (from string, list []coord.Message, err error) {
	c, _, err := a.client()
	if err != nil {
		return "", nil, err
	}
	if strings.Contains(word, "@") {
		if from, err = recipient(ctx, c, word); err != nil {
			return "", nil, err
		}
	} else if len(word) < shortestID {
		return "", nil, usagef("%q is no %s; give its id as svc messages shows it, or @name of who %s", word, what, did)
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
