package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A StatsWindow says which events to count.
type StatsWindow struct {
	Since coord.Time
	Until coord.Time // not included
	Repo  string     // id; all if empty
}

func (w StatsWindow) filter(org string, types []coord.EventType) *filter {
	f := &filter{}
	f.and(`e.org_id = ?`, org)
	f.and(`e.occurred_at >= ?`, w.Since)
	f.and(`e.occurred_at < ?`, w.Until)
	if w.Repo != "" {
		f.and(`e.repo_id = ?`, w.Repo)
	}
	in(f, "e.type", types)
	return f
}

// An EventCount is how often events of a type happened in one hour, by one
// person or their agents, in one repo.
type EventCount struct {
	Type  coord.EventType
	Hour  int64 // since 1970
	User  string
	Repo  string
	Count int
}

// person is the user behind an event: themselves, or whose session it was.
const person = `COALESCE(s.user_id, CASE WHEN e.actor_kind = 'user' THEN e.actor_id ELSE '' END)`

// CountEvents counts events of the types.
func (tx *Tx) CountEvents(ctx context.Context, org string, w StatsWindow, types []coord.EventType) ([]EventCount, error) {
	f := w.filter(org, types)
	return all(ctx, tx, func(r scanner) (c EventCount, err error) {
		err = r.Scan(&c.Type, &c.Hour, &c.User, &c.Repo, &c.Count)
		return c, err
	}, `
		SELECT e.type, e.occurred_at / 3600000 AS hour, `+person+` AS person, e.repo_id, COUNT(*)
		FROM events e LEFT JOIN sessions s ON e.actor_kind = 'session' AND s.id = e.actor_id`+f.where()+`
		GROUP BY e.type, hour, person, e.repo_id`, f.args...)
}

// A PersonalEvent is an event with the person behind it.
type PersonalEvent struct {
	coord.Event
	User string
}

// PersonalEvents returns the events of the types, oldest first.
func (tx *Tx) PersonalEvents(ctx context.Context, org string, w StatsWindow, types []coord.EventType) ([]PersonalEvent, error) {
	f := w.filter(org, types)
	return all(ctx, tx, func(r scanner) (p PersonalEvent, err error) {
		err = r.Scan(&p.Seq, &p.Type, &p.OccurredAt, &p.Subject.Kind, &p.Subject.ID, &p.RepoID, asJSON{&p.Payload}, &p.User)
		return p, err
	}, `
		SELECT e.seq, e.type, e.occurred_at, e.subject_kind, e.subject_id, e.repo_id, e.payload, `+person+`
		FROM events e LEFT JOIN sessions s ON e.actor_kind = 'session' AND s.id = e.actor_id`+f.where()+`
		ORDER BY e.seq`, f.args...)
}

// A ToolCount tells how many sessions a tool began.
type ToolCount struct {
	Tool  string
	Repo  string
	Day   int64 // since 1970
	Count int
}

// CountTools counts the sessions begun by tool, repo and day.
func (tx *Tx) CountTools(ctx context.Context, org string, w StatsWindow) ([]ToolCount, error) {
	f := w.filter(org, []coord.EventType{coord.EventSessionStarted})
	return all(ctx, tx, func(r scanner) (c ToolCount, err error) {
		err = r.Scan(&c.Tool, &c.Repo, &c.Day, &c.Count)
		return c, err
	}, `
		SELECT s.tool, e.repo_id, e.occurred_at / 86400000 AS day, COUNT(*)
		FROM events e JOIN sessions s ON s.id = e.subject_id`+f.where()+`
		GROUP BY s.tool, e.repo_id, day`, f.args...)
}

// UsersByID returns people by id.
func (tx *Tx) UsersByID(ctx context.Context, ids []string) (map[string]coord.User, error) {
	out := map[string]coord.User{}
	if len(ids) == 0 {
		return out, nil
	}
	var f filter
	in(&f, "id", ids)
	users, err := all(ctx, tx, func(r scanner) (u coord.User, err error) {
		err = r.Scan(&u.ID, &u.Email, &u.Name)
		return u, err
	}, `SELECT id, email, name FROM users`+f.where(), f.args...)
	for _, u := range users {
		out[u.ID] = u
	}
	return out, err
}

// A Named is a record as a list of mixed records shows it.
type Named struct {
	Kind  string
	ID    string
	Label string
	Ref   string // how an address names it
	Owner string // whose draft it is, if it is one
}

// names are the tables whose rows events name by id. Each query takes the
// org and a list of ids.
var names = []struct{ kind, columns, from string }{
	{"user", `u.id, u.name, u.email, ''`, `users u`},
	{"repo", `r.id, r.full_name, r.full_name, ''`, `repos r`},
	{"project", `p.id, p.name, p.id, ''`, `projects p`},
	{"session", `s.id, s.tool || ' of ' || w.name, s.id, ''`, `sessions s JOIN users w ON w.id = s.user_id`},
	{"intent", `i.id, i.title, CAST(i.number AS TEXT), CASE WHEN i.status = 'draft' THEN i.owner_id ELSE '' END`, `intents i`},
	{"conflict", `c.id, c.kind, CAST(c.number AS TEXT), ''`, `conflicts c`},
	{"token", `t.id, t.name, t.id, ''`, `tokens t`},
	{"invite", `v.id, COALESCE(v.email, v.role), v.id, ''`, `invites v`},
	{"status", `x.id, x.excerpt, x.id, ''`, `statuses x`},
	{"webhook", `h.id, h.url, h.id, ''`, `webhooks h`},
	{"org", `o.id, o.name, o.slug, ''`, `orgs o`},
	// of what people write to each other, that there is something: not all may read it
	{"conversation", `c.id, CASE WHEN c.kind = 'channel' THEN COALESCE('#' || r.full_name, '#team') ELSE 'a direct thread' END, c.id, ''`,
		`conversations c LEFT JOIN repos r ON r.id = c.repo_id`},
	{"message", `m.id, 'a message', m.conversation_id, ''`, `messages m`},
	{"question", `q.id, 'a question', q.id, ''`, `questions q`},
}

// Names returns what the ids name in an org. An id that names nothing (any
// more) is left out.
func (tx *Tx) Names(ctx context.Context, org string, ids []string) (out []Named, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	for _, n := range names {
		alias := n.columns[:1]
		var f filter
		switch n.kind {
		case "user": // people belong to no org: those whom an org's events name may be shown to it
		case "org":
			f.and(`o.id = ?`, org)
		default:
			f.within(alias+`.org_id`, org)
		}
		in(&f, alias+".id", ids)
		rows, err := all(ctx, tx, func(r scanner) (x Named, err error) {
			x.Kind = n.kind
			err = r.Scan(&x.ID, &x.Label, &x.Ref, &x.Owner)
			return x, err
		}, `SELECT `+n.columns+` FROM `+n.from+f.where(), f.args...)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}
