package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Keys name facts, so that "the evidence grows" can be decided: a side and
// what it claims, changed or uses, or the lines where both meet.

// broken returns a use as evidence, at the line of what it lost.
func (p *pairing) broken(user, changed item, w *Worker) *evidence {
	e := p.any(user, w)
	if user.kind == useEntry && p.ix.paths.ToolMade(w.Repo.ID, user.file()) {
		e.item.Detail = str("uses it; " + regenerate)
	}
	if line, ok := coord.SharedField(changed.fields(), user.fields()); ok && line > 0 {
		e.item.Lines = oneLine(line)
	}
	if key := changed.key(); coord.IsNameKey(user.key()) {
		e.item.Symbol, e.item.Contract = &key, nil
		if user.change.Facts.References[user.sub].Call == nil {
			e.item.Detail = str("newly mentions it")
		}
	}
	return e
}

// any returns an item as evidence of whatever it is about.
func (p *pairing) any(it item, w *Worker) *evidence {
	switch {
	case it.kind == symbolEntry, it.kind == claimEntry && it.claim.Kind != coord.ClaimPath && filing.IsSymbol(it.claim.Selector):
		return p.symbol(it, w)
	case it.kind == contractEntry, it.kind == claimEntry && it.claim.Kind != coord.ClaimPath:
		return p.contract(it, w)
	case it.kind == numberEntry:
		return p.number(it, w)
	case it.kind == referenceEntry, it.kind == useEntry:
		return p.reference(it, w)
	}
	return p.byPath(it, w)
}

func claimed(c *coord.Claim) coord.Evidence {
	return coord.Evidence{Via: coord.ViaClaim, Selector: &c.Selector}
}

// byPath returns a claim or change as evidence about paths.
func (p *pairing) byPath(it item, w *Worker) *evidence {
	if wanted(it) {
		it = item{path: it.claim.Selector}
	}
	if it.claim != nil {
		e := claimed(it.claim)
		if it.claim.Kind != coord.ClaimPath {
			path := it.file()
			e.Path, e.Symbol = &path, &it.claim.Selector
			return &evidence{key: "symbol " + symbolKey(it.claim.Selector), item: e}
		}
		if path := it.file(); path != "" {
			e.Path = &path
		}
		return &evidence{key: "path " + it.claim.Selector, item: e}
	}
	if it.change == nil { // an edit about to happen
		return &evidence{key: "path " + it.path, item: coord.Evidence{Via: coord.ViaChange, Path: &it.path, Detail: str(coord.AboutToEdit)}}
	}
	e := p.changed(it, it.change.Facts.Path)
	e.at = touchedAt(it.change, w.ID)
	return e
}

// changed returns a change of a file as evidence.
func (p *pairing) changed(it item, path string) *evidence {
	if it.change == nil {
		return p.byPath(it, nil)
	}
	f := &it.change.Facts
	detail := string(f.Status)
	if f.Status == coord.FileRenamed {
		detail = "renamed to " + f.Path
	}
	if f.Binary {
		detail += ", binary"
	}
	return &evidence{key: "path " + path, at: lastTouch(it.change),
		item: coord.Evidence{Via: coord.ViaChange, Path: &path, Lines: span(f.Hunks), Detail: &detail}}
}

// symbol returns a claim on or a change of a definition as evidence.
func (p *pairing) symbol(it item, w *Worker) *evidence {
	path := it.file()
	if it.claim != nil {
		e := claimed(it.claim)
		e.Path, e.Symbol = &path, &it.claim.Selector
		return &evidence{key: "symbol " + symbolKey(it.claim.Selector), item: e}
	}
	s := it.symbol()
	e := coord.Evidence{Via: coord.ViaChange, Path: &path, Symbol: &s.Key, Before: first(s.PreviousSignature, s.PreviousSignatureHash),
		After: first(s.Signature, s.SignatureHash), Detail: detailOf(s.Change, s.Detail)}
	if s.Lines != nil {
		e.Lines = &coord.Lines{Start: s.Lines.Start, End: s.Lines.Start + max(s.Lines.Count, 1) - 1}
	}
	return &evidence{key: "symbol " + symbolKey(s.Key), item: e, at: touchedAt(it.change, w.ID)}
}

// contract returns a claim on or a change of a contract as evidence.
func (p *pairing) contract(it item, w *Worker) *evidence {
	if it.claim != nil {
		e := claimed(it.claim)
		e.Contract = &it.claim.Selector
		return &evidence{key: "contract " + it.claim.Selector, item: e}
	}
	k := it.contract()
	e := coord.Evidence{
		Via:      coord.ViaContract,
		Path:     &it.change.Facts.Path,
		Contract: &k.Key,
		Lines:    oneLine(k.Line),
		Before:   first(k.PreviousSignature, k.PreviousSignatureHash),
		After:    first(k.Signature, k.SignatureHash),
		Detail:   detailOf(k.Change, k.Detail),
	}
	if k.Role == coord.Uses {
		e.Detail = str("uses it")
	}
	return &evidence{key: "contract " + k.Key, item: e, at: touchedAt(it.change, w.ID)}
}

// reference returns a use as evidence.
func (p *pairing) reference(it item, w *Worker) *evidence {
	path, key := it.file(), it.key()
	e := coord.Evidence{Via: coord.ViaReference, Path: &path, Detail: str("uses it")}
	if filing.IsSymbol(key) {
		e.Symbol = &key
	} else {
		e.Contract = &key
	}
	var at coord.Time
	var by *coord.User
	if it.kind == useEntry {
		e.Lines, by = oneLine(it.use.Line), &it.use.By
	} else {
		ref := &it.change.Facts.References[it.sub]
		e.Lines, at = oneLine(ref.Line), touchedAt(it.change, w.ID)
		if ref.Call != nil {
			e.Detail = str("calls it with " + ref.Call.String())
		}
	}
	return &evidence{key: "use " + path + " " + key, item: e, at: at, by: by}
}

// hunkEvidence returns one side's lines where both meet.
func hunkEvidence(it item, worker string, h coord.Hunk) *evidence {
	f := &it.change.Facts
	e := coord.Evidence{Via: coord.ViaChange, Path: &f.Path, Lines: lines(h), Symbol: symbolAt(f, h)}
	if h.Count == 0 {
		e.Detail = str(fmt.Sprintf("inserted before line %d", h.Start))
	}
	return &evidence{key: "hunk " + f.Path + " " + hunkText(h), item: e, at: touchedAt(it.change, worker)}
}

// symbolAt returns the smallest changed definition around a hunk.
func symbolAt(f *coord.FileFacts, h coord.Hunk) *string {
	var best *coord.SymbolFacts
	for i := range f.Symbols {
		s := &f.Symbols[i]
		if s.Lines == nil || h.Start < s.Lines.Start || h.Start > s.Lines.Start+s.Lines.Count {
			continue
		}
		if best == nil || s.Lines.Count < best.Lines.Count {
			best = s
		}
	}
	if best == nil {
		return nil
	}
	return &best.Key
}

// compareEvidence orders one side's evidence by its key; of several items of
// one key, what was done comes before what was announced.
func compareEvidence(a, b *evidence) int {
	if c := strings.Compare(a.key, b.key); c != 0 {
		return c
	}
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	start := func(l *coord.Lines) int {
		if l == nil {
			return 0
		}
		return l.Start
	}
	x, y := &a.item, &b.item
	return cmp.Or(cmp.Compare(viaRank(x.Via), viaRank(y.Via)), cmp.Compare(b.at, a.at),
		cmp.Compare(start(x.Lines), start(y.Lines)), strings.Compare(text(x.Selector), text(y.Selector)),
		strings.Compare(text(x.Symbol), text(y.Symbol)),
		strings.Compare(text(x.Path), text(y.Path)), strings.Compare(text(x.Detail), text(y.Detail)),
		strings.Compare(text(x.After), text(y.After)))
}

func viaRank(v coord.EvidenceVia) int {
	return slices.Index([]coord.EvidenceVia{coord.ViaChange, coord.ViaContract, coord.ViaReference, coord.ViaClaim}, v)
}

func structureKey(v verdict) string { return "structure " + v.path + " " + strconv.Itoa(int(v.why)) }

// linesKey names the lines of a base where both sides meet.
func linesKey(path, blob string, r lineRegion) string {
	start := min(r.a.Start, r.b.Start)
	end := max(r.a.Start+r.a.Count, r.b.Start+r.b.Count)
	return fmt.Sprintf("lines %s %s %d-%d", path, blob, start, end)
}

// Grown reports whether the keys now tell of something that those covered do
// not: a new file, definition, contract or place in a file. More edits of the
// same lines, or of paths below one already covered, are nothing new.
func Grown(covered, now []string) bool {
	for _, key := range now {
		if !coveredBy(covered, key) {
			return true
		}
	}
	return false
}

func coveredBy(covered []string, key string) bool {
	for _, old := range covered {
		if old == key || sameLines(old, key) || widerPath(old, key) {
			return true
		}
	}
	return false
}

// sameLines reports whether two keys are about lines that overlap or touch.
// Lines of different versions cannot be compared; what was covered in one
// version is taken to be covered in the next.
func sameLines(old, now string) bool {
	oldAt, okOld := strings.CutPrefix(old, "lines ")
	nowAt, okNow := strings.CutPrefix(now, "lines ")
	if !okOld || !okNow {
		return false
	}
	oldFile, oldRange := cutLast(oldAt)
	nowFile, nowRange := cutLast(nowAt)
	oldPath, _ := cutLast(oldFile)
	nowPath, _ := cutLast(nowFile)
	if oldFile != nowFile {
		return oldPath == nowPath
	}
	var a, b, c, d int
	fmt.Sscanf(oldRange, "%d-%d", &a, &b)
	fmt.Sscanf(nowRange, "%d-%d", &c, &d)
	return a <= d && c <= b
}

// widerPath reports whether old is a glob of the same side that holds the
// path or glob of now.
func widerPath(old, now string) bool {
	oldSide, oldSel, okOld := strings.Cut(old, " path ")
	nowSide, nowSel, okNow := strings.Cut(now, " path ")
	if !okOld || !okNow || oldSide != nowSide {
		return false
	}
	if folder, ok := strings.CutSuffix(oldSel, "**"); ok && strings.HasPrefix(nowSel, folder) && !strings.ContainsAny(folder, "*?[{") {
		return true
	}
	g, err := scope.ParseGlob(oldSel)
	return err == nil && !strings.ContainsAny(nowSel, "*?[{") && g.Match(nowSel)
}

func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, ' ')
	return s[:max(i, 0)], s[i+1:]
}

// symbolKey drops the language, which not everybody says.
func symbolKey(key string) string {
	if sym, err := scope.ParseSymbol(key); err == nil {
		sym.Lang = ""
		return sym.String()
	}
	return key
}

func touchedAt(c *Change, worker string) coord.Time {
	var at coord.Time
	for _, t := range c.By {
		if t.Worker == worker {
			at = max(at, t.At)
		}
	}
	return at
}

func lastTouch(c *Change) coord.Time {
	var at coord.Time
	for _, t := range c.By {
		at = max(at, t.At)
	}
	return at
}

// span returns the lines from the first hunk to the last.
func span(hs []coord.Hunk) *coord.Lines {
	if len(hs) == 0 {
		return nil
	}
	out := *lines(hs[0])
	for _, h := range hs[1:] {
		l := lines(h)
		out.Start, out.End = min(out.Start, l.Start), max(out.End, l.End)
	}
	return &out
}

func lines(h coord.Hunk) *coord.Lines {
	return &coord.Lines{Start: h.Start, End: h.Start + max(h.Count, 1) - 1}
}

func oneLine(n int) *coord.Lines {
	if n <= 0 {
		return nil
	}
	return &coord.Lines{Start: n, End: n}
}

func hunkText(h coord.Hunk) string { return fmt.Sprintf("%09d+%d", h.Start, h.Count) }

func detailOf(c coord.Change, detail *string) *string {
	if detail != nil && *detail != "" {
		return detail
	}
	return str(map[coord.Change]string{coord.Added: "added", coord.Removed: "removed",
		coord.Modified: "changed inside", coord.Signature: "changed its signature", coord.Same: "unchanged"}[c])
}

func first(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}

func str(s string) *string { return &s }
