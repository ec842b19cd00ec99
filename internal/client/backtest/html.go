package backtest

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
	"time"
)

//go:embed report.css
var css string

// Nameless stands for a repository on a page that strangers see.
const Nameless = "a repository"

// HTML writes the report as one page that needs nothing else: no scripts, no
// fonts, no network. It is code rather than a template, since linking those
// would make every start of svc slower.
//
// For Nameless the page names neither repository nor files nor branches.
func (r *Result) HTML(w io.Writer, repo, version string, now time.Time) error {
	p := &page{w: bufio.NewWriter(w)}
	p.put(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`)
	p.put(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>svc backtest: `+
		`%s</title><style>%s</style></head><body><main>`, esc(repo), raw(css))
	p.head(r, repo)
	sections := r.Sections()
	for i := range sections {
		p.section(r, &sections[i])
	}
	if repo != Nameless { // files and branches have names
		p.lists(r)
	}
	p.method(r)
	p.put(`<footer>svc %s, %s</footer></main></body></html>`, esc(version), esc(now.UTC().Format("2006-01-02 15:04 MST")))
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

type page struct {
	w   *bufio.Writer
	err error
}

// raw is text that is HTML already.
type raw string

// esc escapes text for HTML.
func esc(s string) raw { return raw(html.EscapeString(s)) }

// put writes HTML. Strings among the arguments are escaped unless they are raw.
func (p *page) put(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = esc(s)
		}
	}
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *page) head(r *Result, repo string) {
	s := &r.Selection
	p.put(`<header><p class="kicker">svc backtest</p><h1>%s</h1>`, repo)
	p.put(`<p class="lead">What svc would have said while the work was going on, replayed from %d cases between %s and %s, and what `+
		`git then did.</p>`, len(r.Outcomes), day(s.Since), day(s.Until))
	if r.Interrupted {
		p.put(`<p class="note">Interrupted after %d of %d cases.</p>`, len(r.Outcomes), r.Cases)
	}
	if left := leftOut(s.LeftOut); left != "" {
		p.put(`<p class="small">Left out: %s.</p>`, left)
	}
	if s.Squashed && len(r.Outcomes) > 0 {
		p.put(`<p class="small">%s</p>`, squashed)
	}
	p.put(`</header>`)
}

// tiles are the figures that a reader should take away.
var tiles = []string{"recall", "precision_edit_overlap", "blocks", "lead", "crowd_alarmed"}

func (p *page) section(r *Result, s *Section) {
	p.put(`<section><h2>%s</h2><p>%d replayed, %d of them in conflict.`, kindTitles[s.Kind], s.Cases, s.Conflicted)
	if s.Crossed > 0 {
		p.put(` In %d the histories cross, so that git had several bases to start from.`, s.Crossed)
	}
	if s.Failed > 0 {
		p.put(` %d could not be replayed.`, s.Failed)
	}
	p.put(`</p><div class="tiles">`)
	for _, id := range tiles {
		for i := range s.Figures {
			if f := &s.Figures[i]; f.ID == id && f.Shown.Of > 0 {
				class := "good"
				if !f.Met() {
					class = "bad"
				}
				p.put(`<div class="tile %s"><b>%s</b><span>%s</span><small>%s; goal %s</small></div>`, raw(class), percent(f.Shown), f.Title,
					interval(f.Shown), f.Target.String())
			}
		}
	}
	p.put(`</div>`)
	if s.Kind != Swarm {
		p.put(`<figure>%s<figcaption><i class="key good"></i>conflict, every file warned of <i class="key bad"></i>conflict, some file `+
			`missed <i class="key warn"></i>clean, but warned <i class="key quiet"></i>clean and quiet</figcaption></figure>`,
			raw(columns(r.months(s.Kind))))
	}
	p.put(`<figure>%s<figcaption>Under the default policy, with 95 %% intervals (Wilson); the upright mark is the `+
		`goal.</figcaption></figure>`, raw(whiskers(s.Figures)))
	p.table(s)
	p.plans(s)
	p.put(`</section>`)
}

func (p *page) table(s *Section) {
	p.put(`<div class="wide"><table><thead><tr><th>Figure</th><th class="n">Default policy</th><th class="n">Nothing ` +
		`ignored</th><th class="n">Goal</th></tr></thead><tbody>`)
	for i := range s.Figures {
		f := &s.Figures[i]
		goal, class := "", ""
		if f.Target != nil {
			goal = f.Target.String()
			if !f.Met() {
				class = "missed"
			}
		}
		p.put(`<tr class="%s"><td>%s<br><small>%s</small></td><td class="n">%s<br><small>%s</small></td><td `+
			`class="n">%s<br><small>%s</small></td><td class="n">%s</td></tr>`,
			raw(class), f.Title, f.Note, percent(f.Shown), interval(f.Shown), percent(f.All), interval(f.All), goal)
	}
	p.put(`</tbody></table></div>`)
}

func (p *page) plans(s *Section) {
	if len(s.Plans) == 0 {
		return
	}
	p.put(`<h3>Before anybody edits</h3><p>If each side had declared its plan first: of the plans that meet, how many became ` +
		`conflicts, and how many of the conflicting cases were foreseen. Below each, the same without plans of one change that went to ` +
		`two branches, and by file. Merges that landed on the mainline are left out: work is made to fit before it lands.</p>`)
	p.put(`<div class="wide"><table><thead><tr><th>A plan names</th><th class="n">Meetings that became conflicts</th><th ` +
		`class="n">Conflicts foreseen</th></tr></thead><tbody>`)
	for i := range s.Plans {
		f := &s.Plans[i]
		p.put(`<tr><td>%s</td><td class="n">%s<br><small>%s</small><br><small>%s of distinct changes</small><br><small>%s by `+
			`file</small></td><td class="n">%s<br><small>%s</small><br><small>%s by file</small></td></tr>`, f.Title,
			percent(f.Precision.Shown), interval(f.Precision.Shown), percent(f.Distinct.Shown), percent(f.FilePrecision.Shown),
			percent(f.Recall.Shown), interval(f.Recall.Shown), percent(f.FileRecall.Shown))
	}
	p.put(`</tbody></table></div>`)
}

func (p *page) lists(r *Result) {
	misses := r.Misses()
	p.list("Missed conflicts",
		"Git stopped at these files and no edit_overlap told of it. Ranges are first line + lines replaced, in the version both started from.",
		len(misses), func(i int) (where, what, text string) {
			m := &misses[i]
			what = m.Path + " (" + strings.Join(m.Kinds, ", ") + ")"
			if m.Ignored {
				what += ", ignored by default"
			}
			return m.Where, what, m.Facts
		})
	alarms := r.FalseAlarms()
	p.list("False alarms", "Warnings at files that git merged without stopping.", len(alarms), func(i int) (string, string, string) {
		a := &alarms[i]
		return a.Where, string(a.Kind) + " " + a.Place, a.Text
	})
	breaks := r.Breaks()
	p.list("Predicted breaks that git merges",
		"A signature or contract changed on one side and newly used on the other. Git says nothing here: judge each by reading it.",
		len(breaks), func(i int) (string, string, string) {
			a := &breaks[i]
			return a.Where, a.Place, a.Text
		})
}

func (p *page) list(title, intro string, n int, item func(int) (where, what, text string)) {
	p.put(`<section><h2>%s <span class="count">%d</span></h2>`, title, n)
	if n == 0 {
		p.put(`<p>None.</p></section>`)
		return
	}
	p.put(`<p>%s</p>`, intro)
	open := " open"
	if n > 20 {
		open = ""
	}
	p.put(`<details%s><summary>Show %d</summary><ol>`, raw(open), n)
	for i := range n {
		where, what, text := item(i)
		p.put(`<li><code>%s</code> <b>%s</b><br><span class="small">%s</span></li>`, where, what, text)
	}
	p.put(`</ol></details></section>`)
}

func (p *page) method(r *Result) {
	p.put(`<section><h2>How this was measured</h2><ul>`)
	for _, line := range []string{
		"Each side of a case is one worker. Its difference from the common base goes through the same analysis and the same engine as live work.",
		"Truth is git merge-tree on the two heads, file by file. A warning is right when git stops at that file.",
		"Bots, merges made by tools and merges with work on one side only are left out.",
		"Lock files and generated files (ignore_paths) raise no warnings by default; the figures are given with and without them.",
		"History shows only what was committed: edits that were undone before a commit, and work that was never merged, are not in it.",
		"Attributes of the repository, such as merge drivers, are not applied.",
	} {
		p.put(`<li>%s</li>`, line)
	}
	p.put(`</ul></section>`)
}
