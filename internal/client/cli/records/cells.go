package records

import (
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// Cells of records that people wrote parts of.

func title(s *string) string {
	if s == nil {
		return "(draft)"
	}
	return peertext.Title(*s)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func person(u *coord.User) string { return team.Person(u) }

func Severity(a *app.Run, s coord.Severity) string {
	switch s {
	case coord.SeverityBlock:
		return a.Paint(term.Red, string(s))
	case coord.SeverityWarn:
		return a.Paint(term.Yellow, string(s))
	}
	return peertext.Name(string(s))
}
