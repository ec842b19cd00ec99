package outgoing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/store"
)

// told are the events that a channel hears of.
var told = []coord.EventType{
	coord.EventConflictDetected, coord.EventConflictOverrideRequested, coord.EventIntentUnattended, coord.EventIntentHandedOff,
	coord.EventWebhookDisabled,
	coord.EventPlanLimitReached,
}

// ends are the events after which a conflict is no longer news.
var ends = []coord.EventType{coord.EventConflictResolved, coord.EventConflictOverridden, coord.EventConflictStale}

// ChatWorthy reports whether a channel hears of an event. Conflicts that are
// mere information would drown the others.
func ChatWorthy(e coord.Event) bool {
	for _, t := range told {
		if e.Type == t {
			return t != coord.EventConflictDetected || e.Payload["severity"] == string(coord.SeverityWarn) ||
				e.Payload["severity"] == string(coord.SeverityBlock)
		}
	}
	return false
}

// For reports whether an event is for a channel: for its repo's, else for the
// org's.
func For(c store.Slack, all []store.Slack, e coord.Event) bool {
	own := e.RepoID != "" && slices.ContainsFunc(all, func(o store.Slack) bool { return o.RepoID == e.RepoID })
	return c.RepoID == e.RepoID && own || c.RepoID == "" && !own
}

// Relevant reports whether an event has anything to do with what channels are
// told.
func Relevant(e coord.Event) bool { return ChatWorthy(e) || slices.Contains(ends, e.Type) }

// Notes returns what to post of events, oldest first, and with it a name for
// every person and record in it. What was settled before anybody was told is
// left out.
func (s *Service) Notes(ctx context.Context, tx *store.Tx, org string, events []coord.Event) (wire.ChatPost, bool, error) {
	settled, ids := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		settled[e.Subject.ID] = settled[e.Subject.ID] || slices.Contains(ends, e.Type)
	}
	events = slices.DeleteFunc(slices.Clone(events), func(e coord.Event) bool { return !ChatWorthy(e) || settled[e.Subject.ID] })
	about, err := conflictsOf(ctx, tx, org, events)
	if err != nil {
		return wire.ChatPost{}, false, err
	}
	events = slices.DeleteFunc(events, func(e coord.Event) bool {
		c, known := about[conflictOf(e)]
		return known && !c.Status.Live()
	})
	for _, e := range events {
		mention(ids, e.Subject.ID)
		mention(ids, e.RepoID)
		mention(ids, e.Payload)
	}
	names, err := tx.Names(ctx, org, keys(ids))
	if err != nil {
		return wire.ChatPost{}, false, err
	}
	by := map[string]store.Named{}
	for _, n := range names {
		by[n.ID] = n
	}
	var notes []bulletin.Note
	for _, e := range events {
		n := s.note(e, by)
		if c, known := about[conflictOf(e)]; known {
			n.Where = places(c.Evidence)
		}
		notes = append(notes, n)
	}
	return bulletin.Notes(notes, s.Config.PublicURL), len(notes) > 0, nil
}

// conflictOf is the number of the conflict that an event is about, or 0.
func conflictOf(e coord.Event) int {
	key := "ref"
	switch e.Type {
	case coord.EventConflictDetected, coord.EventConflictOverrideRequested:
	case coord.EventIntentUnattended:
		key = "conflict"
	default:
		return 0
	}
	ref, _ := e.Payload[key].(string)
	n, _ := coord.ParseConflictRef(ref)
	return n
}

// maxLooked is how many conflicts of a post are looked up: more than it tells
// one by one.
const maxLooked = 200

// conflictsOf returns the conflicts that events are about, as they are now.
func conflictsOf(ctx context.Context, tx *store.Tx, org string, events []coord.Event) (map[int]store.ConflictRow, error) {
	var numbers []int
	for _, e := range events {
		if n := conflictOf(e); n != 0 && len(numbers) < maxLooked {
			numbers = append(numbers, n)
		}
	}
	out := map[int]store.ConflictRow{}
	if len(numbers) == 0 {
		return out, nil
	}
	rows, err := tx.Conflicts(ctx, org, store.ConflictFilter{Numbers: numbers, Limit: maxLooked})
	for _, c := range rows {
		out[c.Number] = c
	}
	return out, err
}

// places are the files and definitions that evidence names, each once; a
// whole file is left out where a definition in it is named.
func places(evidence []coord.Evidence) (out []bulletin.Place) {
	for _, e := range evidence {
		p := bulletin.Place{}
		set(&p.Path, e.Path)
		set(&p.Symbol, e.Symbol)
		if p.Symbol == "" {
			set(&p.Symbol, e.Contract)
		}
		if p == (bulletin.Place{}) && e.Selector != nil {
			p.Path = *e.Selector
			if file, _, ok := strings.Cut(p.Path, "#"); ok {
				p.Path, p.Symbol = file, *e.Selector
			}
		}
		if i := strings.LastIndex(p.Symbol, "#"); i >= 0 && p.Path != "" { // its key names the file, too
			p.Symbol = p.Symbol[i+1:]
		}
		if p != (bulletin.Place{}) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return slices.DeleteFunc(out, func(p bulletin.Place) bool {
		return p.Symbol == "" && slices.ContainsFunc(out, func(o bulletin.Place) bool { return o.Path == p.Path && o.Symbol != "" })
	})
}

func (s *Service) note(e coord.Event, by map[string]store.Named) bulletin.Note {
	text := func(key string) string { t, _ := e.Payload[key].(string); return t }
	n := bulletin.Note{Ref: text("ref"), Repo: by[e.RepoID].Label, URL: s.PageURL(e.Subject.Kind, text("ref"))}
	person := func(id any) {
		if id, ok := id.(string); ok && by[id].Kind == "user" {
			n.Who = append(n.Who, by[id].Label)
		}
	}
	kind := strings.ReplaceAll(text("kind"), "_", " ")
	switch e.Type {
	case coord.EventConflictDetected:
		n.Icon, n.Text = "warning", kind
		if text("severity") == string(coord.SeverityBlock) {
			n.Icon, n.Text = "octagonal_sign", kind+", one side is stopped"
		}
	case coord.EventConflictOverrideRequested:
		n.Icon, n.Text = "raised_hand", "somebody asks for an override: "+kind
	case coord.EventIntentUnattended:
		n.Icon, n.Text = "hourglass", "a claim keeps somebody out, and its session has ended: is it still needed?"
		n.Ref, n.URL = text("conflict"), s.PageURL("conflict", text("conflict"))
		person(e.Payload["owner_id"])
	case coord.EventIntentHandedOff:
		n.Icon, n.Text = "handshake", "handed over"
		person(e.Payload["from_id"])
		person(e.Payload["to_id"])
	case coord.EventPlanLimitReached:
		n.Icon, n.Text, n.URL = "no_entry", fmt.Sprintf("the %s plan has no room for more %s", text("plan"),
			text("limit")), s.URL("settings", "billing")
	case coord.EventWebhookDisabled:
		n.Icon, n.Text = "electric_plug", "a webhook was disabled because it keeps failing"
	}
	if users, ok := e.Payload["users"].([]any); ok {
		for _, u := range users {
			person(u)
		}
	}
	return n
}
