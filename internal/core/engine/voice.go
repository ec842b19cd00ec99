package engine

import (
	"fmt"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A voice speaks about one finding to one reader.
type voice struct {
	f      *Finding
	viewer string
	now    coord.Time
	me     *Worker // who reads, where it is no side of the finding
}

// fill puts words in place of a template's marks. Only those that stand there
// are made: a crowd on one file has a sentence for every two of it.
func (v *voice) fill(template string) string {
	var out strings.Builder
	for {
		text, rest, ok := strings.Cut(template, "{")
		mark, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			out.WriteString(template)
			return out.String()
		}
		out.WriteString(text)
		if word, known := v.word(mark); known {
			out.WriteString(word)
		} else {
			out.WriteString("{" + mark + "}")
		}
		template = after
	}
}

// word returns what a mark of a template stands for.
func (v *voice) word(mark string) (text string, known bool) {
	if r, ok := strings.CutPrefix(mark, "h:"); ok {
		return v.of(v.f.Holder, r), true
	}
	if r, ok := strings.CutPrefix(mark, "c:"); ok {
		return v.of(v.f.Challenger, r), true
	}
	if r, ok := strings.CutPrefix(mark, "e:"); ok {
		_, editor := v.deletion()
		return v.of(editor, r), true
	}
	if say, ok := marks()[mark]; ok {
		return say(v), true
	}
	return "", false
}

// marks are the other marks of templates, by name. They are made when first
// asked for, as defaultRules are.
var marks = sync.OnceValue(func() map[string]func(*voice) string {
	return map[string]func(*voice) string{
		"Holder":     func(v *voice) string { return upper(v.who(v.f.Holder)) },
		"holder":     func(v *voice) string { return v.who(v.f.Holder) },
		"Challenger": func(v *voice) string { return upper(v.who(v.f.Challenger)) },
		"challenger": func(v *voice) string { return v.who(v.f.Challenger) },
		"Deleter": func(v *voice) string {
			deleter, _ := v.deletion()
			return upper(v.who(deleter))
		},
		"name":        func(v *voice) string { return name(v.other()) },
		"Wait":        func(v *voice) string { return upper(v.wait()) },
		"wait":        (*voice).wait,
		"path":        func(v *voice) string { return place(v.f.Place) },
		"key":         func(v *voice) string { return code(v.f.Place) },
		"repo":        func(v *voice) string { return place(v.f.Holder.Repo.FullName) },
		"what":        (*voice).what,
		"where":       (*voice).where,
		"symbols":     (*voice).symbols,
		"use":         (*voice).use,
		"owner":       (*voice).owner,
		"used":        (*voice).used,
		"held":        func(v *voice) string { return v.selectors(coord.Holder) },
		"entered":     func(v *voice) string { return v.selectors(coord.Challenger) },
		"heldFile":    func(v *voice) string { return v.file(coord.Holder) },
		"enteredFile": func(v *voice) string { return v.file(coord.Challenger) },
		"took":        (*voice).took,
		"broke":       (*voice).broke,
		"forms":       (*voice).forms,
		"lost":        (*voice).lost,
		"named":       (*voice).named,
		"instead":     (*voice).instead,
		"ago":         func(v *voice) string { return v.when(v.f.At) },
		"since":       func(v *voice) string { return v.when(v.f.Holder.Since) },
		"gone":        (*voice).gone,
	}
})

// deletion returns who deleted the file, and who did not.
func (v *voice) deletion() (deleter, editor *Worker) {
	if d := v.evidence(coord.Challenger); d != nil && d.Detail != nil && strings.HasPrefix(*d.Detail, string(coord.FileDeleted)) {
		return v.f.Challenger, v.f.Holder
	}
	return v.f.Holder, v.f.Challenger
}

// reader returns the side that reads, or nil.
func (v *voice) reader() *Worker {
	switch {
	case v.me != nil:
		return v.me
	case v.viewer == "" || v.f.Holder == nil:
	case v.viewer == v.f.Holder.ID:
		return v.f.Holder
	case v.viewer == v.f.Challenger.ID:
		return v.f.Challenger
	}
	return nil
}

// other returns the side that does not read; for the record, the holder.
func (v *voice) other() *Worker {
	if v.viewer != "" && v.viewer == v.f.Holder.ID {
		return v.f.Challenger
	}
	return v.f.Holder
}

// own reports whether one person stands behind both sides: nobody is told to
// message themselves.
func (v *voice) own() bool {
	a, b := v.f.Holder, v.f.Challenger
	return (a.Live() || v.f.Kind == coord.ContractBreak) && b.Live() && a.User.ID != "" && a.User.ID == b.User.ID
}

// gone tells that nobody works under the holder's claim any more.
func (v *voice) gone() string {
	w := v.f.Holder
	if w.Gone == 0 || v.viewer != "" && v.viewer == w.ID {
		return ""
	}
	at := voice{f: v.f, now: v.now}
	if v.f.seen > 0 { // hours and days: the same words on every retry
		at.now = v.f.seen
	}
	return ", but the holder's session ended" + strings.Replace(at.when(w.Gone), " about", "", 1)
}

// who names a worker as "INT-12 (Ana, branch api-v2)".
func (v *voice) who(w *Worker) string {
	if w.Live() && w.ID == v.viewer {
		return "you"
	}
	if !w.Live() && v.f.Kind == coord.ContractBreak {
		return name(w) // nobody is at work there
	}
	ref := w.Ref()
	about := []string{}
	me := v.reader()
	switch {
	case w.Outside != nil:
		ref = w.Outside.Name()
		if w.User.Name != "" {
			about = append(about, name(w))
		}
	case me != nil && me.User.ID != "" && me.User.ID == w.User.ID:
		if ref == "" {
			ref = otherAgent(w)
		} else {
			about = append(about, otherAgent(w))
		}
	case ref != "" && me != nil && me.User.ID != "" && me.User.ID == w.From.ID:
		about = append(about, name(w)+", to whom you handed it")
	case ref != "":
		about = append(about, name(w))
	case w.User.ID == "" && w.User.Name == "":
		return "somebody" // merged without an intent
	default:
		ref = name(w) + "'s session"
		if w.Tool != "" {
			ref += " in " + place(w.Tool)
		}
	}
	if w.Branch != "" {
		about = append(about, "branch "+place(w.Branch))
	}
	if v.f.CrossRepo {
		about = append(about, place(w.Repo.FullName))
	}
	if len(about) == 0 {
		return ref
	}
	return ref + " (" + strings.Join(about, ", ") + ")"
}

// otherAgent names work of the reader's own person. A title that nobody else
// gave it tells which it is.
func otherAgent(w *Worker) string {
	text := "your other agent"
	if w.Session == "" || w.Gone > 0 {
		text = "your other work"
	} else if w.Tool != "" {
		text += " in " + place(w.Tool)
	}
	if w.Intent != nil && w.Intent.Title != "" && w.From.ID == "" {
		text += ", " + peertext.QuotedText(w.Intent.Title, 50)
	}
	return text
}

// of names something of a worker's: "your edit", "the edit of INT-12 (Ana)".
func (v *voice) of(w *Worker, noun string) string {
	if w.Live() && w.ID == v.viewer {
		return "your " + noun
	}
	return "the " + noun + " of " + v.who(w)
}

// waitFor returns what the wait_for tool takes.
func (v *voice) waitFor() *coord.WaitFor {
	if ref := v.f.Holder.Ref(); ref != "" {
		return &coord.WaitFor{Intent: &ref}
	}
	if path := v.firstPath(); path != "" {
		return &coord.WaitFor{Path: &path}
	}
	return nil
}

func (v *voice) wait() string {
	switch w := v.waitFor(); {
	case !v.f.Holder.Live() || w == nil:
		return "wait until it is free"
	case w.Intent != nil:
		return fmt.Sprintf("wait for %s (`wait_for` intent %s)", *w.Intent, *w.Intent)
	default:
		return fmt.Sprintf("wait until it is free (`wait_for` path %s)", *w.Path)
	}
}

func (v *voice) evidence(role coord.PartyRole) *coord.Evidence {
	for i := range v.f.Evidence {
		if v.f.Evidence[i].Party == role {
			return &v.f.Evidence[i]
		}
	}
	return nil
}

func (v *voice) firstPath() string {
	for _, e := range v.f.Evidence {
		if e.Path != nil {
			return *e.Path
		}
	}
	return ""
}

// what is the holder's side of lines that meet.
func (v *voice) what() string {
	e := v.evidence(coord.Holder)
	if e == nil {
		return place(v.f.Place)
	}
	text := place(v.f.Place)
	if v.twoNames() {
		text = place(*e.Path)
	}
	text += " " + rangeText(e.Lines)
	if e.Symbol != nil {
		text = code(shortName(*e.Symbol)) + " in " + text
	}
	return strings.TrimSpace(text)
}

func (v *voice) where() string {
	e := v.evidence(coord.Challenger)
	switch {
	case e == nil || e.Lines == nil:
		return "the same lines"
	case v.twoNames():
		return place(*e.Path) + " " + rangeText(e.Lines)
	}
	return rangeText(e.Lines)
}

// twoNames reports whether the two sides know the file by different names.
func (v *voice) twoNames() bool {
	a, b := v.evidence(coord.Holder), v.evidence(coord.Challenger)
	return a != nil && b != nil && a.Path != nil && b.Path != nil && *a.Path != *b.Path
}

func (v *voice) symbols() string {
	var names []string
	for _, e := range v.f.Evidence {
		if e.Party == coord.Holder && e.Symbol != nil {
			names = append(names, code(shortName(*e.Symbol)))
		}
	}
	return listing(names) + " in " + place(v.f.Place)
}

func (v *voice) selectors(role coord.PartyRole) string {
	var all []string
	for _, e := range v.f.Evidence {
		if e.Party != role {
			continue
		}
		for _, s := range []*string{e.Selector, e.Symbol, e.Contract, e.Path} {
			if s != nil {
				all = append(all, place(*s))
				break
			}
		}
	}
	return listing(all)
}

// usage is the first use among the evidence of the side that depends; what it
// declared besides has no place.
func (v *voice) usage() *coord.Evidence {
	for i := range v.f.Evidence {
		if e := &v.f.Evidence[i]; e.Party == coord.Holder && e.Path != nil {
			return e
		}
	}
	return nil
}

// used is the key that a use goes by.
func (v *voice) used() string {
	if e := v.usage(); e != nil && e.Contract != nil {
		return code(*e.Contract)
	}
	return "it"
}

// owner tells who answers for code that nobody has changed yet.
func (v *voice) owner() string {
	w := v.f.Holder
	switch {
	case w.User.ID == "":
		return ""
	case v.f.atWork != nil:
		return ", where " + v.who(v.f.atWork) + " is at work,"
	case v.reader() != nil && v.reader().User.ID == w.User.ID:
		return ", which you changed last,"
	}
	return ", which " + name(w) + " changed last,"
}

func (v *voice) took() string {
	if e := v.evidence(coord.Holder); e != nil && e.Via != coord.ViaClaim {
		return "changed"
	}
	return "claimed"
}

func (v *voice) broke() string {
	if e := v.evidence(coord.Challenger); e != nil && e.Detail != nil && strings.HasPrefix(strings.TrimPrefix(*e.Detail, "was "), "removed") {
		return "removed"
	}
	return "changed"
}

// forms tells the old and the new form of what was changed, where they may be
// shown, and what stands in place of something removed. The record has them as
// evidence, from which they can be cleared.
func (v *voice) forms() string {
	e := v.evidence(coord.Challenger)
	if e == nil || v.viewer == "" {
		return ""
	}
	was, is := form(e.Before), form(e.After)
	var words []string
	if was != "" && was != is {
		words = append(words, "was "+was)
	}
	if is != "" && was != is {
		words = append(words, "is now "+is)
	}
	if e.Detail != nil && is == "" {
		if _, instead, ok := strings.Cut(*e.Detail, "; "); ok {
			words = append(words, form(&instead))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// form makes a signature fit into a sentence, quoted: it is somebody's code.
// Literals in it, which may say anything, are left out, and so is a hash,
// which says nothing.
func form(s *string) string {
	if s == nil || isHash(*s) {
		return ""
	}
	return peertext.QuotedText(literals.Get().ReplaceAllString(*s, "…"), 160)
}

var literals = lazy.Regexp("\"[^\"]*\"?|'[^']*'?|`[^`]*`?")

func isHash(s string) bool {
	return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == ""
}

// when tells a time as "eleven minutes ago", or as it is.
func (v *voice) when(at coord.Time) string {
	switch {
	case at == 0:
		return ""
	case v.now == 0:
		return " at " + at.Std().Format(coord.Stamp)
	}
	return " " + at.Ago(v.now)
}

func rangeText(l *coord.Lines) string {
	switch {
	case l == nil:
		return ""
	case l.Start == l.End:
		return fmt.Sprintf("line %d", l.Start)
	}
	return fmt.Sprintf("lines %d-%d", l.Start, l.End)
}

// listing names at most three things.
func listing(all []string) string {
	switch n := len(all); {
	case n == 0:
		return "the same place"
	case n == 1:
		return all[0]
	case n <= 3:
		return strings.Join(all[:n-1], ", ") + " and " + all[n-1]
	default:
		return strings.Join(all[:2], ", ") + " and " + coord.InWords(n-2) + " more"
	}
}

// shortName returns the name of a symbol without its file.
func shortName(key string) string { return key[strings.LastIndexByte(key, '#')+1:] }

// name returns what to call the person behind a worker.
func name(w *Worker) string {
	for _, n := range []string{w.User.Name, w.User.Email} {
		if n = peertext.QuotedName(n); n != "" {
			return n
		}
	}
	return "the maintainers of " + place(w.Repo.FullName) + " (to `channel:" + peertext.Quoted(w.Repo.FullName) + "`)"
}

// place makes a path, selector or branch fit into a sentence.
func place(s string) string {
	if strings.Contains(s, " ") { // a contract such as http:GET /x
		return code(s)
	}
	return peertext.Quoted(s)
}

// code is place for names in code.
func code(s string) string {
	if q := peertext.Quoted(s); q != s {
		return q
	}
	return "`" + s + "`"
}

func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
