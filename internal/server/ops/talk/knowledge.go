package talk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// What the current state tells of a contract, route or symbol, without asking
// anybody: the immediate answer to a question, and whom to ask.

// mergedFor is how far back merged work still tells something.
const mergedFor = 90 * 24 * time.Hour

// maxTold is how many facts an immediate answer names.
const maxTold = 8

// A fact is one thing known of a key.
type fact struct {
	rank int // the less, the closer to the key: changed, claimed, used, merged, known
	at   coord.Time
	text string
	// Who knows more: the person, and their session if it is at work.
	user    string
	session string
	worker  string
}

const (
	factChanged = iota
	factClaimed
	factUsed
	factMerged
	factProvided
	factUser
)

// sources are where facts come from. Each looks in the given repos.
var sources = []func(context.Context, *ground.Change, []string, string) ([]fact, error){
	liveFacts, mergedFacts, indexedFacts,
}

// facts returns what is known of a key in some repos, the closest first, and
// of the equally close the latest.
func facts(ctx context.Context, c *ground.Change, repos []string, key string) ([]fact, error) {
	var out []fact
	for _, look := range sources {
		found, err := look(ctx, c, repos, key)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortStableFunc(out, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.at, a.at), strings.Compare(a.worker, b.worker), strings.Compare(a.text,
			b.text))
	})
	return out, nil
}

// tellFacts puts facts into an answer.
func tellFacts(key string, facts []fact) string {
	if len(facts) == 0 {
		return "Nobody is changing or claiming " + peertext.Quoted(key) + " now, and no merged change of it is recorded."
	}
	var b strings.Builder
	b.WriteString(peertext.Quoted(key) + ":")
	if facts[0].rank >= factMerged {
		b.WriteString(" nobody is changing or claiming it now.")
	}
	for i, f := range facts {
		if i == maxTold {
			fmt.Fprintf(&b, "\n- and %d more", len(facts)-i)
			break
		}
		b.WriteString("\n- " + f.text)
	}
	return b.String()
}

// liveFacts are those of work under way.
func liveFacts(_ context.Context, c *ground.Change, repos []string, key string) (out []fact, err error) {
	for _, repo := range repos {
		for _, id := range c.Live.Workers(repo) {
			w := c.Live.Worker(id)
			if w.Outside != nil { // nobody there can be asked
				continue
			}
			out = append(out, claimFacts(c, w, key)...)
			for _, ch := range c.Live.Changes(id) {
				for _, t := range changedAs(ch.Facts, key) {
					f := fact{rank: t.rank, user: w.User.ID, session: w.Session, worker: w.ID, at: lastTouch(ch)}
					f.text = fmt.Sprintf("%s %s it in %s (%s)%s", nameOf(w), t.verb, peertext.Quoted(ch.Facts.Path), f.at.Ago(c.Now), t.more)
					out = append(out, f)
				}
			}
		}
	}
	return out, nil
}

func lastTouch(ch *engine.Change) (at coord.Time) {
	for _, t := range ch.By {
		at = max(at, t.At)
	}
	return at
}

// claimFacts are those of what a worker announced.
func claimFacts(c *ground.Change, w *engine.Worker, key string) (out []fact) {
	for _, claim := range w.Claims {
		if claim.Source == coord.Declared && claimCovers(claim, key) {
			out = append(out, fact{rank: factClaimed, at: w.Since, user: w.User.ID, session: w.Session, worker: w.ID,
				text: fmt.Sprintf("%s claims %s (%s, %s)", nameOf(w), peertext.Quoted(claim.Selector), claim.Mode, w.Since.Ago(c.Now))})
		}
	}
	return out
}

// nameOf names live work by its person, ref and place.
func nameOf(w *engine.Worker) string {
	name := peertext.QuotedName(w.User.Name)
	if ref := w.Ref(); ref != "" {
		name += ", " + ref
	}
	if w.Branch != "" {
		name += " on " + peertext.Quoted(w.Branch)
	}
	return name + " in " + peertext.Quoted(w.Repo.FullName)
}

// claimCovers reports whether a claim is on what a key names.
func claimCovers(claim coord.Claim, key string) bool {
	switch claim.Kind {
	case coord.ClaimContract, coord.ClaimSymbol:
		return sameKey(claim.Selector, key)
	case coord.ClaimPath:
		sym, err := scope.ParseSymbol(key)
		if err != nil {
			return false
		}
		g, err := scope.ParseGlob(claim.Selector)
		return err == nil && g.Match(sym.Path)
	}
	return false
}

// sameKey reports whether two keys, each of a contract or a symbol, mean the
// same.
func sameKey(a, b string) bool {
	if x, err := scope.ParseSymbol(a); err == nil {
		y, err := scope.ParseSymbol(b)
		return err == nil && x.Overlaps(y)
	}
	x, err := scope.ParseContract(a) // clients may write a route in their framework's way
	if err != nil {
		return false
	}
	y, err := scope.ParseContract(b)
	return err == nil && scope.ContractsOverlap(x, y)
}

// A treatment is what a file's change did to a key.
type treatment struct {
	rank int
	verb string
	more string
}

// changedAs returns what a file's change did to a key.
func changedAs(f coord.FileFacts, key string) (out []treatment) {
	for _, k := range f.Contracts {
		switch {
		case !sameKey(k.Key, key):
		case k.Role == coord.Provides && k.Change != coord.Same:
			out = append(out, treatment{factChanged, pastTense(k.Change), details(k.Compatibility, k.Detail, k.Signature, k.PreviousSignature)})
		default:
			out = append(out, treatment{factUsed, "uses", ""})
		}
	}
	for _, s := range f.Symbols {
		if s.Change != coord.Same && sameKey(s.Key, key) {
			out = append(out, treatment{factChanged, pastTense(s.Change), details(s.Compatibility, s.Detail, s.Signature, s.PreviousSignature)})
		}
	}
	for _, r := range f.References {
		if sameKey(r.Key, key) {
			out = append(out, treatment{factUsed, "uses", ""})
			break
		}
	}
	return out
}

func pastTense(c coord.Change) string {
	switch c {
	case coord.Added, coord.Removed:
		return string(c)
	case coord.Signature:
		return "changed the signature of"
	}
	return "changed"
}

// maxForm is how much of a signature or of what a client says of a change is
// told, in bytes.
const maxForm = 300

func details(compat coord.Compatibility, detail, now, before *string) string {
	more := ""
	if compat == coord.Breaking || compat == coord.Compatible {
		more += ", " + string(compat)
	}
	if detail != nil && *detail != "" {
		more += ": " + peertext.QuotedText(*detail, maxForm)
	}
	if before != nil && *before != "" {
		more += "; was " + peertext.QuotedText(*before, maxForm)
	}
	if now != nil && *now != "" {
		more += "; now " + peertext.QuotedText(*now, maxForm)
	}
	return more
}

// mergedFacts are those of merged work: the latest of each.
func mergedFacts(ctx context.Context, c *ground.Change, repos []string, key string) (out []fact, err error) {
	rows, err := c.Merged(ctx, c.Who.OrgID, store.MergedFilter{Since: c.Now.Add(-mergedFor)})
	if err != nil {
		return nil, err
	}
	for _, m := range rows {
		if m.IntentID == nil || !slices.Contains(repos, m.RepoID) {
			continue
		}
		for _, t := range changedAs(m.Facts, key) {
			if t.rank != factChanged {
				continue
			}
			i, err := c.IntentByID(ctx, c.Who.OrgID, *m.IntentID)
			if err != nil {
				return nil, err
			}
			out = append(out, fact{rank: factMerged, at: m.At, user: i.Owner.ID, worker: i.ID,
				text: fmt.Sprintf("%s, %s in %s: merged work %s it in %s (%s)%s", peertext.QuotedName(i.Owner.Name), i.Ref,
					peertext.Quoted(i.Repo.FullName),
					t.verb, peertext.Quoted(m.Facts.Path), m.At.Ago(c.Now), t.more)})
		}
	}
	return out, nil
}

// maxPlaces is how many places of one repo a fact of the index names.
const maxPlaces = 3

// indexedFacts are those of the contract index: who provides a contract, who
// changed it last, and which repos use it.
func indexedFacts(ctx context.Context, c *ground.Change, repos []string, key string) (out []fact, err error) {
	if _, err := scope.ParseContract(key); err != nil {
		return nil, nil // a symbol: the index knows only contracts
	}
	rows, err := c.Contracts(ctx, c.Who.OrgID, store.ContractFilter{Repos: repos, Keys: []string{work.CanonicalKey(key)}})
	if err != nil {
		return nil, err
	}
	users := map[string]*fact{}
	places := map[string]int{}
	for _, r := range rows {
		place := fmt.Sprintf("%s:%d", peertext.Quoted(r.Path), r.Line)
		if r.Role == coord.Provides {
			out = append(out, providedFact(r, place, c.Now))
			continue
		}
		f := users[r.Repo.ID]
		if f == nil {
			f = &fact{rank: factUser, at: r.UpdatedAt, worker: r.Repo.ID, text: peertext.Quoted(r.Repo.FullName) + " uses it in " + place}
			users[r.Repo.ID] = f
		} else if places[r.Repo.ID] < maxPlaces {
			f.text += ", " + place
		}
		places[r.Repo.ID]++
	}
	for repo, f := range users {
		if more := places[repo] - maxPlaces; more > 0 {
			f.text += fmt.Sprintf(" and %d more places", more)
		}
		out = append(out, *f)
	}
	return out, nil
}

func providedFact(r store.ContractRow, place string, now coord.Time) fact {
	f := fact{rank: factProvided, at: r.UpdatedAt, worker: r.Repo.ID, text: peertext.Quoted(r.Repo.FullName) + " provides it in " + place}
	if r.Signature != nil && *r.Signature != "" {
		f.text += ": " + peertext.QuotedText(*r.Signature, maxForm)
	}
	if r.ChangedBy != nil {
		f.user = r.ChangedBy.ID
		f.text += fmt.Sprintf(" (last changed by %s, %s)", peertext.QuotedName(r.ChangedBy.Name), r.UpdatedAt.Ago(now))
	}
	return f
}

// reposToAsk returns where a key of a repo may be known: there, and in the
// repos linked with it; everywhere, if no repo is named.
func reposToAsk(ctx context.Context, c *ground.Change, repo *coord.RepoName) ([]string, error) {
	if repo != nil {
		return append([]string{repo.ID}, c.Live.Links(repo.ID)...), nil
	}
	repos, err := c.Repos(ctx, c.Who.OrgID)
	out := make([]string, len(repos))
	for i, r := range repos {
		out[i] = r.ID
	}
	return out, err
}

// knower returns the fact whose person to ask: the closest of somebody who is
// a member still and not the asker's own agent.
func knower(ctx context.Context, c *ground.Change, facts []fact, asking *store.SessionRow) (*fact, error) {
	for i, f := range facts {
		own := f.user == c.Who.UserID && (asking == nil || f.session == "" || f.session == asking.ID)
		if f.user == "" || own {
			continue
		}
		members, err := c.ChannelAudience(ctx, c.Who.OrgID, "", 0)
		if err != nil {
			return nil, err
		}
		if slices.Contains(members, f.user) {
			return &facts[i], nil
		}
	}
	return nil, nil
}
