package join

import (
	"cmp"
	"slices"

	"github.com/svc-hq/svc/internal/core/scope"
)

// A Use is a text that is a use of a route, as sure as it is.
type Use struct {
	*Text
	Certainty Certainty
}

// Uses returns the texts of a repository that use a route of another, by place.
// said tells that people tie the two.
func (o *Org) Uses(provider, user, key string, said bool) []Use {
	c := o.repos[user]
	method, form, ok := scope.RouteForm(key)
	if c == nil || !ok {
		return nil
	}
	var out []Use
	filed(c.byWord, form, func(t *Text) {
		if t.Known || o.spokenFor(provider, c, form, t) {
			return
		}
		if s := o.judge(provider, user, method, form, t, said); s != NotSaid {
			out = append(out, Use{t, s})
		}
	})
	slices.SortFunc(out, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Certainty, a.Certainty), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// Judge tells how sure it is that a text is a use of a route, by its key.
func (o *Org) Judge(provider, user, key string, t *Text, said bool) Certainty {
	method, form, ok := scope.RouteForm(key)
	if !ok {
		return NotSaid
	}
	return o.judge(provider, user, method, form, t, said)
}

// Read tells how sure it is that a use which was read, whosever route it may be,
// is meant for a provider: one tells that the keys are the same, not only but for
// what stands before them, and tied that something else is known to tie the two.
func (o *Org) Read(provider, user, key string, one, tied bool) Certainty {
	method, form, ok := scope.RouteForm(key)
	if !ok {
		return Probably
	}
	common, equal, more := o.common(provider, user, form), 0, false
	use := &Text{Form: form, Method: method}
	for id, c := range o.repos {
		if id == provider || more || equal > maxRivals || o.copies(id, provider) {
			continue
		}
		found := false
		filed(c.routesBy, form, func(r *route) {
			fit, ok := Fits(r.form, form)
			found = found || ok && fit.Whole() && fit.exact() && agrees(r.method, use) != Contradicts
		})
		if !found {
			continue
		}
		equal++
		if theirs := o.common(id, user, form); theirs < common {
			equal--
		} else if theirs > common || id == user {
			more = true
		}
	}
	rivalry, own := more || equal > 0, o.weigh(form, provider, user) >= ownWords
	surely := tied || common >= tiedBy && !rivalry
	tied = tied || common >= 1 && !rivalry
	switch {
	case one && (surely || own && (tied || !rivalry && !scope.CommonRoute(key))):
		return Sure
	case tied:
		return Probably
	case more || equal > maxRivals, !one && (rivalry || o.weigh(form, provider, user) < 2):
		return NotSaid
	}
	return Probably
}

// ownWords is how much the words of a route must say before it is sure by itself
// whose it is: two that are rare, say. One word is somebody else's as well.
const ownWords = 1.5

// tiedBy is how much two repositories must have in common before a route of one
// word is surely the provider's.
const tiedBy = 3

// common is how much two repositories have in common besides some words.
func (o *Org) common(provider, user string, besides scope.Form) (sum float64) {
	for word := range o.linked(provider, user).words {
		if !slices.Contains(besides, word) {
			sum += o.weigh([]scope.Word{word}, provider, user)
		}
	}
	return sum
}

// judge gathers what speaks for one text.
func (o *Org) judge(provider, user, method string, form scope.Form, t *Text, said bool) Certainty {
	fit, ok := Fits(form, t.Form)
	if !ok || agrees(method, t) == Contradicts {
		return NotSaid
	}
	e := Evidence{Fit: fit, Said: said, Weight: o.weigh(fit.Words, provider, user)}
	mine := o.linked(provider, user)
	w := mine.ways[t.Via]
	o.count(&e, mine, w, provider, user, t)
	siblings := map[string]bool{method: true} // methods of the path
	if p := o.repos[provider]; p != nil {
		outdone := false
		filed(p.routesBy, t.Form, func(r *route) {
			if slices.Equal(r.form, form) {
				siblings[r.method] = true
				return
			}
			other, ok := Fits(r.form, t.Form)
			if !ok || agrees(r.method, t) == Contradicts {
				return
			}
			outdone = outdone || fit.Filled > 0 && other.Filled > 0 // any of them may be filled in
			if mayLead := w.leads(other.shift); mayLead != e.Led {  // others that go the same way tell which is meant
				outdone = outdone || mayLead && other.exact()
			} else if other.better(&fit) {
				outdone = true
			}
		})
		if outdone {
			return NotSaid
		}
	}
	e.Method = w.method(method, t, siblings)
	if t.Method == "" && t.Guess == "" && method != "GET" && len(siblings) > 1 && mine.saysWrites() {
		e.Method = min(e.Method, Doubtful) // here whoever writes says so
	}
	if e.Method == Unknown && method != "GET" && o.said(user, method, form, &fit) {
		return NotSaid // who writes there says so
	}
	if share := w.share(o.repos[user], t); t.Method == method && fit.Whole() && fit.exact() && share >= home {
		e.Led, e.Usual, e.Share = true, true, max(e.Share, share) // nearly all that goes this way goes there
	}
	best := Judge(e)
	if best == NotSaid {
		return NotSaid
	}
	switch o.rivals(provider, user, t, &fit, e.Votes) {
	case outdoneBy:
		return NotSaid
	case equalled:
		e.Rivals = true
		return Judge(e)
	}
	return best
}

// count says how others that go the same way vote.
func (o *Org) count(e *Evidence, l linkage, w *way, provider, user string, t *Text) {
	n := 0
	if c := o.repos[user]; c != nil {
		n = c.vias[t.Via]
	}
	if w != nil {
		e.Votes, e.Led = w.votes[e.Fit.shift], w.leads(e.Fit.shift)
	} else {
		e.Led = e.Fit.Whole()
	}
	all := l.votes[e.Fit.shift]
	if w != nil && e.Fit.Equal && w.equal > e.Votes && !o.twin(provider, t, &e.Fit) {
		e.Votes, all = w.equal, l.equal // some of its routes stand below a base, some do not
		e.Led = e.Led || w.equal >= w.votes[w.lead]
	}
	e.Usual, e.Main = usual*all >= l.top, all >= l.top
	if e.Fit.exact() && e.Votes > 0 {
		e.Votes-- // itself
	}
	if e.Share = 0.5; n > 1 { // of one alone nothing is known
		e.Share = float64(e.Votes) / float64(n-1)
	}
	e.Common = o.common(provider, user, e.Fit.Words)
}

// home is how much of what goes one way is for a provider, wherever it has it,
// when a text that goes there cannot be meant for another.
const home = 0.8

// share tells how much of what goes the way of a text fits a provider, of at
// least ten.
func (w *way) share(user *catalog, t *Text) float64 {
	if w == nil || user == nil || w.texts < 10 {
		return 0
	}
	return float64(w.texts) / float64(user.vias[t.Via])
}

// twin reports whether a provider has the route of a text a second time, under
// another base: as a document says it and as code does that lacks its prefix.
func (o *Org) twin(provider string, t *Text, fit *Fit) (found bool) {
	filed(o.repos[provider].routesBy, t.Form, func(r *route) {
		other, ok := Fits(r.form, t.Form)
		found = found || ok && other.Whole() && other.exact() && other.shift != fit.shift
	})
	return found
}

// usual is how many times more may have something else before them.
const usual = 3

// leads reports whether no other shift has more votes.
func (w *way) leads(s shift) bool { return w == nil || w.votes[s] >= w.votes[w.lead] && w.votes[s] > 0 }

// How much words say.
const (
	ownWeight    = 1.0
	spreadWeight = 0.5 // it is in many repositories of the org
	commonWeight = 0.25
	spreadLeast  = 3 // repositories besides the two
	spreadShare  = 8 // one of so many
)

// weigh tells how much words say of which service is meant.
func (o *Org) weigh(words []scope.Word, provider, user string) (sum float64) {
	for _, w := range words {
		switch {
		case w == 0 || w.Kind() == scope.BaseWord:
		case w.Kind() == scope.CommonWord:
			sum += commonWeight
		default:
			others := o.in[w]
			for _, r := range []string{provider, user} {
				if c := o.repos[r]; c != nil && c.words[w] > 0 {
					others--
				}
			}
			if others >= spreadLeast && others*spreadShare >= len(o.repos) {
				sum += spreadWeight
			} else {
				sum += ownWeight
			}
		}
	}
	return sum
}

// A vote is a text that fits a route word by word.
type vote struct {
	text  *Text
	route *route
	shift shift
	whole bool
	equal bool
	words []scope.Word
}

// linked returns what two repositories have in common.
func (o *Org) linked(provider, user string) linkage {
	p, u := o.repos[provider], o.repos[user]
	if p == nil || u == nil {
		return linkage{}
	}
	pair := [2]string{provider, user}
	if l, ok := o.links[pair]; ok && l.provider == p.version && l.user == u.version {
		return l
	}
	l := linkage{provider: p.version, user: u.version, ways: map[scope.Word]*way{}, words: map[scope.Word]bool{},
		votes: map[shift]int{}, files: map[string]bool{}}
	var votes []vote
	for _, list := range u.texts {
		for _, t := range list {
			from := len(votes)
			filed(p.routesBy, t.Form, func(r *route) {
				fit, ok := Fits(r.form, t.Form)
				if ok && fit.exact() && agrees(r.method, t) != Contradicts {
					votes = append(votes, vote{t, r, fit.shift, fit.Whole(), fit.Equal, fit.Words})
				}
			})
			l.take(t, votes[from:])
		}
	}
	for _, w := range l.ways {
		for s, n := range w.votes {
			lead := w.votes[w.lead]
			if n > lead || n == lead && cmp.Or(cmp.Compare(l.votes[s], l.votes[w.lead]), cmp.Compare(s, w.lead)) > 0 {
				w.lead = s
			}
		}
	}
	l.learn(votes, u)
	o.links[pair] = l
	return l
}

// take counts the votes of one text, one for each thing that may stand before
// it.
func (l *linkage) take(t *Text, votes []vote) {
	for i, v := range votes {
		if slices.ContainsFunc(votes[:i], func(x vote) bool { return x.shift == v.shift }) {
			continue
		}
		w := l.ways[t.Via]
		if w == nil {
			w = &way{votes: map[shift]int{}, silent: map[string]int{}}
			l.ways[t.Via] = w
		}
		if i == 0 {
			w.texts++
		}
		if v.equal && !slices.ContainsFunc(votes[:i], func(x vote) bool { return x.equal }) {
			w.equal++
			l.equal++
		}
		w.votes[v.shift]++
		l.votes[v.shift]++
		l.top = max(l.top, l.votes[v.shift])
	}
}

// learn notes what the votes that lead say of words and methods.
func (l *linkage) learn(votes []vote, user *catalog) {
	for from := 0; from < len(votes); {
		to := from
		for to < len(votes) && votes[to].text == votes[from].text {
			to++
		}
		t, w := votes[from].text, l.ways[votes[from].text.Via]
		n := w.votes[w.lead]
		var led []vote
		for _, v := range votes[from:to] {
			if v.shift == w.lead {
				led = append(led, v)
			}
		}
		from = to
		if len(led) == 0 || !led[0].whole && n < sureOf || 5*n < user.vias[t.Via] {
			continue
		}
		l.files[t.Path] = true
		if t.Method != "" {
			w.says++
			l.says++
		} else if t.Guess == "" {
			l.mute++
		}
		for _, x := range led[0].words {
			if telling(x) {
				l.words[x] = true
			}
		}
		if wrote(t.Method) || t.Method == "DELETE" {
			l.writes++
		}
		if t.Method == "" && len(led) == 1 && led[0].route.method != scope.AnyMethod {
			switch m := led[0].route.method; {
			case t.Guess == "":
				w.silent[m]++
			case t.Guess == m:
				w.right++
			default:
				w.wrong++
			}
		}
	}
}

// maxRivals is how many other providers are looked at: a route that more have
// is anybody's.
const maxRivals = 5

// How a text stands to other providers.
const (
	alone = iota
	equalled
	outdoneBy
)

// rivals tells whether a text may as well be meant for somebody else: a route
// of its own repository, or of another provider, that more of those that go the
// same way fit.
func (o *Org) rivals(provider, user string, t *Text, fit *Fit, votes int) int {
	as := map[string]shift{}
	for id, c := range o.repos {
		if id == provider || o.copies(id, provider) {
			continue
		}
		var best *Fit
		whole := false
		filed(c.routesBy, t.Form, func(r *route) {
			other, ok := Fits(r.form, t.Form)
			whole = whole || ok && other.Whole()
			if ok && !fit.better(&other) && agrees(r.method, t) != Contradicts && (best == nil || other.better(best)) {
				best = &other
			}
		})
		if whole && o.copies(provider, id) {
			return outdoneBy
		}
		if best == nil {
			continue
		}
		if as[id] = best.shift; len(as) > maxRivals {
			return outdoneBy
		}
	}
	found := alone
	for id, before := range as {
		theirs := 0
		if w := o.linked(id, user).ways[t.Via]; w != nil {
			theirs = w.votes[before] - 1
		}
		switch {
		case theirs > 2*votes || id == user && theirs >= votes:
			return outdoneBy
		case 2*theirs >= votes:
			found = equalled
		}
	}
	return found
}
