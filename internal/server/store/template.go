package store

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A template is a query about a session's agent, put together once: whether it
// has news is asked with each call of a tool. It names what it is given, as in
// :org, so that its parts share an argument.
type template struct {
	text  string
	given []string // by number
}

func templateOf(text string) (t template) {
	t.text = regexp.MustCompile(`:[a-z]+`).ReplaceAllStringFunc(text, func(name string) string {
		at := slices.Index(t.given, name)
		if at < 0 {
			at, t.given = len(t.given), append(t.given, name)
		}
		return "$" + strconv.Itoa(at+1)
	})
	return t
}

// untold is what a template may be given beside the session.
type untold struct {
	now, quiet coord.Time
	limit      int
}

// of returns the query about a session, and its arguments.
func (t template) of(s *SessionRow, u untold) (query string, args []any) {
	args = make([]any, len(t.given))
	for i, name := range t.given {
		switch name {
		case ":org":
			args[i] = s.OrgID
		case ":user":
			args[i] = s.User.ID
		case ":session":
			args[i] = s.ID
		case ":started":
			args[i] = s.StartedAt
		case ":repo":
			args[i] = s.Repo.ID
		case ":lineage":
			args[i] = s.LineageID
		case ":tool":
			args[i] = s.Tool
		case ":external":
			args[i] = s.ExternalID
		case ":now":
			args[i] = u.now
		case ":quiet":
			args[i] = u.quiet
		case ":kept":
			args[i] = u.now.Add(-answersFor)
		case ":limit":
			args[i] = u.limit
		default:
			panic("store: nothing is given as " + name)
		}
	}
	return t.text, args
}

// by gives each ? of a condition a name, in order.
func by(cond string, names ...string) string {
	for _, name := range names {
		cond = strings.Replace(cond, "?", name, 1)
	}
	return cond
}
