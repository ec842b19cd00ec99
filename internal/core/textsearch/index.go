package textsearch

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// A Doc is one text that can be found.
type Doc struct {
	Kind  string
	ID    string // within its kind
	Order int64  // among its kind: the greater, the newer
	At    int64  // when, in milliseconds
	Title string
	Body  string
	Data  any // whatever belongs to it
}

// An Index holds texts, at most Cap of each kind: the newest. The zero Index
// is not ready; use New. It has no lock: Put and Remove must not run beside
// anything else.
type Index struct {
	cap      int
	docs     []*Doc // nil where one was removed
	free     int    // how many are nil
	slots    map[string]uint32
	postings map[string][]posting
	starts   map[string][]string // words by their first minPrefix bytes
	means    map[string][]string // words by their meaning
	kinds    map[string][]uint32 // slots by order
}

// A posting is a word's place in a doc.
type posting struct {
	slot  uint32
	count uint8 // in the body
	title bool
}

// New returns an empty index that keeps cap texts of each kind.
func New(cap int) *Index {
	return &Index{
		cap:      cap,
		slots:    map[string]uint32{},
		postings: map[string][]posting{},
		starts:   map[string][]string{},
		means:    map[string][]string{},
		kinds:    map[string][]uint32{},
	}
}

// Len returns how many texts there are.
func (ix *Index) Len() int { return len(ix.slots) }

// Get returns a text, or nil.
func (ix *Index) Get(kind, id string) *Doc {
	if at, ok := ix.slots[kind+" "+id]; ok {
		return ix.docs[at]
	}
	return nil
}

// Put adds a text, or replaces the one of the same kind and id. Where its kind
// is full it returns the text that had to go, the oldest, which may be d.
func (ix *Index) Put(d Doc) (gone *Doc) {
	ix.Remove(d.Kind, d.ID)
	if full := ix.kinds[d.Kind]; len(full) >= ix.cap {
		if gone = ix.docs[full[0]]; gone.Order > d.Order {
			return &d
		}
		ix.Remove(gone.Kind, gone.ID)
	}
	slot := uint32(len(ix.docs))
	ix.docs = append(ix.docs, &d)
	ix.slots[d.Kind+" "+d.ID] = slot
	list := ix.kinds[d.Kind]
	at, _ := slices.BinarySearchFunc(list, d.Order, func(s uint32, order int64) int { return cmp.Compare(ix.docs[s].Order, order) })
	ix.kinds[d.Kind] = slices.Insert(list, at, slot)
	ix.post(slot, &d)
	return gone
}

func (ix *Index) post(slot uint32, d *Doc) {
	found := map[string]posting{}
	for _, w := range Words(d.Title) {
		p := found[w]
		p.title = true
		found[w] = p
	}
	for _, w := range Words(d.Body) {
		p := found[w]
		if p.count < 255 {
			p.count++
		}
		found[w] = p
	}
	for w, p := range found {
		p.slot = slot
		if ix.postings[w] == nil {
			ix.means[Meaning(w)] = append(ix.means[Meaning(w)], w)
			if len(w) > minPrefix {
				ix.starts[w[:minPrefix]] = append(ix.starts[w[:minPrefix]], w)
			}
		}
		ix.postings[w] = append(ix.postings[w], p)
	}
}

// Remove takes a text out.
func (ix *Index) Remove(kind, id string) {
	slot, ok := ix.slots[kind+" "+id]
	if !ok {
		return
	}
	delete(ix.slots, kind+" "+id)
	ix.kinds[kind] = slices.DeleteFunc(ix.kinds[kind], func(s uint32) bool { return s == slot })
	ix.docs[slot] = nil
	// Its postings stay until enough are dead to be worth a sweep.
	if ix.free++; ix.free > 1000 && ix.free > len(ix.slots)/2 {
		ix.sweep()
	}
}

// sweep builds the index anew without what was removed.
func (ix *Index) sweep() {
	docs := ix.docs
	ix.docs, ix.free = nil, 0
	clear(ix.slots)
	clear(ix.postings)
	clear(ix.starts)
	clear(ix.means)
	clear(ix.kinds)
	for _, d := range docs {
		if d != nil {
			ix.Put(*d)
		}
	}
}

// A Query says what to find.
type Query struct {
	Text  string
	Since int64             // not older
	Now   int64             // what recency is measured from
	Keep  func(d *Doc) bool // whether a text may be found at all
	Limit int
	terms []string
}

// A Hit is a text that was found.
type Hit struct {
	*Doc
	Score   int64
	Snippet string
}

// minPrefix is how long a word of a query must be to find words that only
// begin with it.
const minPrefix = 3

// Find returns the texts that match best, the best first. Texts with all words
// of the query, or with most of a long one, are found; if there are none,
// those with any.
func (ix *Index) Find(q Query) []Hit {
	q.terms = terms(q.Text)
	if len(q.terms) == 0 {
		return nil
	}
	n := len(ix.docs)
	t := &tally{score: make([]int64, n), matched: make([]uint8, n), best: make([]int64, n)}
	for _, term := range q.terms {
		ix.match(term, t)
	}
	need := len(q.terms)
	if need > 2 {
		need = (2*need + 2) / 3
	}
	hits := ix.collect(q, t, need)
	if len(hits) == 0 && need > 1 {
		hits = ix.collect(q, t, 1)
	}
	slices.SortFunc(hits, byRank)
	for i := range hits {
		hits[i].Snippet = snippet(hits[i].Body, q.terms)
	}
	return hits
}

// A tally is what the terms of a query give to each text, by slot.
type tally struct {
	score   []int64
	matched []uint8
	best    []int64 // of the current term
	touched []uint32
}

// match adds what a term gives to each text that has it: the best of the word
// itself, of the words that begin with it, and of those that mean nearly the same.
func (ix *Index) match(term string, t *tally) {
	ix.weigh(ix.postings[term], 4, t)
	if len(term) >= minPrefix {
		for _, w := range ix.starts[term[:minPrefix]] {
			if len(w) > len(term) && strings.HasPrefix(w, term) {
				ix.weigh(ix.postings[w], 2, t)
			}
		}
	}
	for _, w := range ix.means[Meaning(term)] {
		if w != term {
			ix.weigh(ix.postings[w], 1, t)
		}
	}
	for _, slot := range t.touched {
		t.score[slot] += t.best[slot]
		t.matched[slot]++
		t.best[slot] = 0
	}
	t.touched = t.touched[:0]
}

func (ix *Index) weigh(ps []posting, share int64, t *tally) {
	live := 0
	for _, p := range ps {
		if ix.docs[p.slot] != nil {
			live++
		}
	}
	if live == 0 {
		return
	}
	rarity := int64(bits.Len(uint(len(ix.slots)/live))) + 1
	for _, p := range ps {
		worth := int64(0)
		if p.title {
			worth += 6
		}
		if p.count > 0 {
			worth += 2 + int64(min(p.count, 4))
		}
		if t.best[p.slot] == 0 {
			t.touched = append(t.touched, p.slot)
		}
		t.best[p.slot] = max(t.best[p.slot], worth*rarity*share)
	}
}

// byRank orders hits, the best first; of equals the newest.
func byRank(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(b.At, a.At), strings.Compare(a.Kind, b.Kind), cmp.Compare(b.Order, a.Order), strings.Compare(a.ID, b.ID))
}

// freshFor is the age at which half of what recency gives is left.
const freshFor = 14 * 24 * 3600 * 1000

// collect returns the best of the texts that match enough terms, in no order.
func (ix *Index) collect(q Query, t *tally, need int) []Hit {
	best := make([]Hit, 0, q.Limit+1) // a heap with the worst on top
	for slot, n := range t.matched {
		if int(n) < need || n == 0 {
			continue
		}
		d := ix.docs[slot]
		if d == nil || d.At < q.Since {
			continue
		}
		s := t.score[slot] * 1000 * int64(n) / int64(len(q.terms))
		s += s / 4 * freshFor / (freshFor + max(0, q.Now-d.At))
		h := Hit{Doc: d, Score: s}
		if len(best) == q.Limit && byRank(h, best[0]) > 0 || !q.Keep(d) {
			continue
		}
		best = append(best, h)
		up(best)
		if len(best) > q.Limit {
			best[0] = best[q.Limit]
			best = best[:q.Limit]
			down(best)
		}
	}
	return best
}

// up and down restore the heap after its last or first hit changed.
func up(h []Hit) {
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if byRank(h[i], h[parent]) <= 0 {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func down(h []Hit) {
	for i := 0; ; {
		worst := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(h) && byRank(h[child], h[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}

// Length of a snippet in bytes, roughly.
const (
	snippetBefore = 60
	snippetLength = 200
)

// snippet returns the part of a text around the first of the terms in it.
func snippet(text string, terms []string) string {
	at := 0
	words(text, func(w string, start, _ int) bool {
		for _, t := range terms {
			if w == t || len(t) >= minPrefix && strings.HasPrefix(w, t) {
				at = start
				return false
			}
		}
		return true
	})
	start := max(0, at-snippetBefore)
	end := min(len(text), start+snippetLength)
	start, end = border(text, start), border(text, end)
	out := strings.Join(strings.Fields(text[start:end]), " ")
	if start > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}

// border moves a place in a text back to the beginning of a word nearby, or at
// least of a character.
func border(text string, at int) int {
	if at <= 0 || at >= len(text) {
		return max(0, min(at, len(text)))
	}
	if i := strings.LastIndexAny(text[max(0, at-20):at], " \n\t"); i >= 0 {
		return max(0, at-20) + i + 1
	}
	for at > 0 && text[at]&0xc0 == 0x80 {
		at--
	}
	return at
}
