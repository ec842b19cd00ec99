package records

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func StatusCommand(a *app.Run) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "status [--watch]",
		Short: "Show who you are, your work, your teammates, what needs you",
		Long: "Show who you are, what you are working on, who else is here and what needs\n" +
			"you. A part that the server cannot tell is left out and said so.",
		Example: "  svc status\n  svc status --watch\n  svc status --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return watchStatus(cmd.Context(), a)
			}
			s := readStatus(cmd.Context(), a)
			if a.JSON {
				if err := a.PrintJSON(s); err != nil {
					return err
				}
			} else {
				printStatus(a, s)
			}
			if s.UserError != "" {
				return &term.Exit{Code: app.CodeOf(s.failed)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "stay and follow what happens")
	return cmd
}

// A status is everything at one glance. Each part that could not be had has
// an error beside it.
type status struct {
	Server         string          `json:"server"`
	ServerSource   login.Source    `json:"server_source"`
	TokenSource    login.Source    `json:"token_source"`
	User           *coord.User     `json:"user"`
	UserError      string          `json:"user_error,omitempty"`
	failed         error           // behind UserError
	Org            *coord.Org      `json:"org"`
	Role           *coord.Role     `json:"role"`
	Usage          *wire.Usage     `json:"usage"`
	UsageError     string          `json:"usage_error,omitempty"`
	Repo           *app.Place      `json:"repo"`
	RepoError      string          `json:"repo_error,omitempty"`
	Intents        []coord.Intent  `json:"intents"`
	IntentsError   string          `json:"intents_error,omitempty"`
	Agents         []wire.Online   `json:"agents"`
	AgentsError    string          `json:"agents_error,omitempty"`
	Teammates      []wire.Online   `json:"teammates"`
	TeammatesError string          `json:"teammates_error,omitempty"`
	Attention      *wire.Attention `json:"attention"`
	AttentionError string          `json:"attention_error,omitempty"`
	Unanswered     int             `json:"unanswered_hooks,omitempty"`

	// What the agents above are doing, by session.
	States map[string]coord.AgentState `json:"states,omitempty"`
}

// readStatus asks for all parts at once: the slowest decides how long it takes.
func readStatus(ctx context.Context, a *app.Run) *status {
	s := &status{Intents: []coord.Intent{}, Agents: []wire.Online{}, Teammates: []wire.Online{}}
	if p, err := a.Here(); err != nil {
		s.RepoError = err.Error()
	} else {
		s.Repo = &p
	}
	c, l, err := a.Client()
	s.Server, s.ServerSource, s.TokenSource = l.Server, l.ServerSource, l.TokenSource
	s.Unanswered, _ = spool.Missed(a.Getenv("TMPDIR"), l.Server)
	if err != nil {
		s.failed = err
		for _, e := range []*string{&s.UserError, &s.UsageError, &s.IntentsError, &s.AgentsError, &s.TeammatesError, &s.AttentionError} {
			*e = err.Error()
		}
		return s
	}
	var all sync.WaitGroup
	part := func(problem *string, get func() error) {
		all.Go(func() {
			if err := get(); err != nil {
				*problem = err.Error()
			}
		})
	}
	part(&s.UserError, func() error {
		me, err := c.Me(ctx)
		if s.failed = err; err == nil {
			s.User, s.Org, s.Role = me.User, &me.Org, me.Role
		}
		return err
	})
	part(&s.UsageError, func() error { return into(&s.Usage)(c.Usage(ctx)) })
	part(&s.IntentsError, func() error {
		page, err := c.Intents(ctx, remote.Filter{Owner: "me", Status: "live", Limit: 50})
		s.Intents = append(s.Intents, page.Items...)
		return err
	})
	var sessions []coord.Session
	part(&s.AgentsError, func() (err error) {
		sessions, err = c.LiveSessions(ctx)
		return err
	})
	part(&s.TeammatesError, func() error {
		page, err := c.Presence(ctx, "")
		s.Teammates = append(s.Teammates, page.Items...)
		return err
	})
	part(&s.AttentionError, func() error { return into(&s.Attention)(c.Attention(ctx, 20)) })
	all.Wait()
	s.Agents = ownOf(sessions, s.User, "")
	s.States = map[string]coord.AgentState{}
	for _, one := range sessions {
		s.States[one.ID] = one.State
	}
	return s
}

// into stores a result where there is one.
func into[T any](to **T) func(T, error) error {
	return func(v T, err error) error {
		if err == nil {
			*to = &v
		}
		return err
	}
}

func printStatus(a *app.Run, s *status) {
	w := a.Stdout
	switch {
	case s.User != nil:
		fmt.Fprintf(w, "%s at %s (%s)\n", a.Paint(term.Bold, person(s.User)), peertext.Person(s.Org.Name), s.Server)
	case s.Org != nil:
		fmt.Fprintf(w, "%s at %s (%s)\n", a.Paint(term.Bold, "a service"), peertext.Person(s.Org.Name), s.Server)
	default:
		fmt.Fprintln(w, a.Paint(term.Red, s.UserError))
	}
	if s.Unanswered > 0 {
		fmt.Fprintf(w, "%s: %s of your agents went unanswered; svc doctor says more\n",
			a.Paint(term.Yellow, "unchecked"), term.Plural(s.Unanswered, "event"))
	}
	if s.Repo != nil {
		fmt.Fprintf(w, "In %s on %s\n", peertext.Path(s.Repo.Fingerprint), peertext.Branch(s.Repo.Branch))
	} else {
		fmt.Fprintln(w, a.Paint(term.Dim, s.RepoError))
	}
	if s.UserError != "" {
		return // the other parts fail alike
	}
	if s.Usage != nil {
		fmt.Fprintf(w, "Plan %s: %s, %s\n", peertext.Name(s.Usage.Plan), used(s.Usage.Repos, s.Usage.Limits.Repos, "repo"),
			used(s.Usage.ActiveDevelopers, s.Usage.Limits.Developers, "active developer"))
	}
	section(a, "Your work", s.IntentsError,
		[]grid.Column{term.Col(""), term.Col("", 0, 1), term.Col("", 10, 2), term.Places("", 14, 0, 18), term.Col("", 20, 0, 24)},
		intentRows(a, s.Intents), "nothing announced")
	online := []grid.Column{
		term.Col("", 8, 0, 16), term.Col("", 0, 2), term.Col("", 0, 3), term.Col("", 10, 0, 16), term.Col("", 10, 4), term.Col("", 20, 0, 30),
	}
	section(a, "Your agents", s.AgentsError, online, s.onlineRows(s.Agents), "none is at work")
	section(a, "Teammates", s.TeammatesError, online, s.onlineRows(s.Teammates), "nobody else is here")
	section(a, "Needs you", s.AttentionError,
		[]grid.Column{term.Col("", 0, 2), term.Col(""), term.Col("", 0, 1), term.Col("", 30), term.Col("", 10, 3)},
		attentionRows(a, s.Attention), "nothing")
	if at := s.Attention; at != nil && at.Total > len(at.Items) {
		fmt.Fprintf(w, "  and %d more\n", at.Total-len(at.Items))
	}
}

func used(n int, limit *int, what string) string {
	if limit != nil {
		return fmt.Sprintf("%d of %s", n, term.Plural(*limit, what))
	}
	return term.Plural(n, what)
}

// section prints a heading and its rows, or why there are none.
func section(a *app.Run, heading, problem string, columns []grid.Column, rows [][]string, none string) {
	fmt.Fprintf(a.Stdout, "\n%s\n", a.Paint(term.Bold, heading))
	switch {
	case problem != "":
		fmt.Fprintln(a.Stdout, a.Paint(term.Yellow, "  not known: "+peertext.Line(problem, 300)))
	case len(rows) == 0:
		fmt.Fprintln(a.Stdout, a.Paint(term.Dim, "  "+none))
	default:
		a.Table(columns, rows)
	}
}

func intentRows(a *app.Run, ins []coord.Intent) [][]string {
	var rows [][]string
	for _, in := range ins {
		rows = append(rows, []string{"  " + in.Ref, peertext.Name(string(in.Status)), peertext.Path(in.Repo.FullName), paths(in.Scope.Paths),
			peertext.Title(in.Title)})
	}
	return rows
}

func (st *status) onlineRows(ss []wire.Online) [][]string {
	var rows [][]string
	for _, s := range ss {
		state := string(s.Status)
		if known, ok := team.States[st.States[s.SessionID]]; ok {
			state = known
		}
		what := "-"
		if s.Intent != nil {
			what = s.Intent.Ref + " " + title(s.Intent.Title)
		}
		rows = append(rows, []string{
			"  " + person(&s.Developer),
			peertext.Name(s.Tool),
			state,
			peertext.Path(s.Repo.FullName),
			peertext.Branch(text(s.Branch)),
			what,
		})
	}
	return rows
}

func attentionRows(a *app.Run, at *wire.Attention) [][]string {
	if at == nil {
		return nil
	}
	var rows [][]string
	for _, it := range at.Items {
		what, repo := peertext.Title(it.Title), ""
		if d := team.Why(a.Now(), it.Detail, 300); d != "" && d != what { // where, and with whom
			what += ": " + d
		}
		if it.Repo != nil {
			repo = peertext.Path(it.Repo.FullName)
		}
		rows = append(rows, []string{"  " + peertext.Name(string(it.Kind)), peertext.Line(text(it.Ref), 60), a.Ago(it.Since), what, repo})
	}
	return rows
}
