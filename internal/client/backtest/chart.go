package backtest

import (
	"fmt"
	"html"
	"strings"
	"time"
)

// Charts are plain SVG that takes its colours from the page, so that it is
// readable by day and by night, on paper, and without scripts.

// whiskers draws figures as dots with their intervals, on a scale from 0 to 1,
// with a mark at the goal.
func whiskers(figures []Figure) string {
	const left, right, line, top = 330, 150, 30, 26
	const width = 960
	scale := func(x float64) float64 { return left + x*(width-left-right) }
	var rows []*Figure
	for i := range figures {
		if figures[i].Shown.Of > 0 {
			rows = append(rows, &figures[i])
		}
	}
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	height := top + line*len(rows) + 8
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="figures with their 95 %% intervals">`, width, height)
	for _, x := range []float64{0, 0.25, 0.5, 0.75, 1} {
		fmt.Fprintf(&b,
			`<line class="grid" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text class="axis" x="%.1f" y="14" text-anchor="middle">%.0f %%</text>`,
			scale(x), scale(x), top-6, height-4, scale(x), 100*x)
	}
	for i, f := range rows {
		y := top + line*i + line/2
		low, high := f.Shown.Interval()
		class := "good"
		if f.Target == nil {
			class = "plain"
		} else if !f.Met() {
			class = "bad"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-14, y+5, html.EscapeString(f.Title))
		fmt.Fprintf(&b, `<line class="whisker %s" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><circle class="%s" cx="%.1f" cy="%d" r="6"/>`,
			class, scale(low), scale(high), y, y, class, scale(f.Shown.Share()), y)
		if f.Target != nil {
			fmt.Fprintf(&b, `<line class="goal" x1="%.1f" x2="%.1f" y1="%d" y2="%d"><title>goal %s</title></line>`,
				scale(f.Target.Share), scale(f.Target.Share), y-10, y+10, html.EscapeString(f.Target.String()))
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"><tspan class="strong">%s</tspan> <tspan class="axis">of %d</tspan></text>`,
			width-right+16, y+5, html.EscapeString(percent(f.Shown)), f.Shown.Of)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

// A month is what happened in it.
type month struct {
	name                          string
	clean, noisy, partial, caught int
}

// months counts the cases of a kind by month, or by year when there are many.
func (r *Result) months(kind Kind) []month {
	form := "2006-01"
	if r.Selection.Until-r.Selection.Since > 4*365*24*3600 {
		form = "2006"
	}
	at := map[string]*month{}
	first, last := "", ""
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Kind != kind || o.Failed != "" {
			continue
		}
		name := time.Unix(o.At, 0).UTC().Format(form)
		m := at[name]
		if m == nil {
			m = &month{name: name}
			at[name] = m
		}
		m.count(o)
		if first == "" || name < first {
			first = name
		}
		last = max(last, name)
	}
	var out []month
	for day, _ := time.Parse(form, first); first != "" && day.Format(form) <= last; {
		m := month{name: day.Format(form)}
		if known := at[m.name]; known != nil {
			m = *known
		}
		out = append(out, m)
		if form == "2006" {
			day = day.AddDate(1, 0, 0)
		} else {
			day = day.AddDate(0, 1, 0)
		}
	}
	return out
}

func (m *month) count(o *Outcome) {
	missed := 0
	all := conflicts(o, false)
	for _, c := range all {
		if !c.Caught {
			missed++
		}
	}
	switch {
	case len(all) > 0 && missed == 0:
		m.caught++
	case len(all) > 0:
		m.partial++
	case len(warnings(o, false)) > 0:
		m.noisy++
	default:
		m.clean++
	}
}

// columns draws months as stacked columns.
func columns(months []month) string {
	if len(months) == 0 {
		return ""
	}
	const width, height, bottom, top, left = 960, 240, 28, 12, 46
	most := 1
	for _, m := range months {
		most = max(most, m.clean+m.noisy+m.partial+m.caught)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="cases by month">`, width, height)
	step := float64(width-left) / float64(len(months))
	tall := func(n int) float64 { return float64(n) * (height - bottom - top) / float64(most) }
	for _, n := range []int{0, (most + 1) / 2, most} {
		y := height - bottom - tall(n)
		fmt.Fprintf(&b,
			`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="axis" x="%d" y="%.1f" text-anchor="end">%d</text>`, left, width,
			y, y, left-8, y+4, n)
	}
	every := 1 + (len(months)-1)/14
	for i, m := range months {
		x, y := left+step*float64(i)+step*0.12, float64(height-bottom)
		for _, part := range []struct {
			n           int
			class, what string
		}{
			{m.caught, "good", "conflict, every file warned of"},
			{m.partial, "bad", "conflict, some file missed"},
			{m.noisy, "warn", "clean, but warned"},
			{m.clean, "quiet", "clean and quiet"},
		} {
			if part.n == 0 {
				continue
			}
			y -= tall(part.n)
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: %d %s</title></rect>`,
				part.class, x, y, step*0.76, tall(part.n), m.name, part.n, part.what)
		}
		if i%every == 0 {
			fmt.Fprintf(&b, `<text class="axis" x="%.1f" y="%d" text-anchor="middle">%s</text>`, x+step*0.38, height-8, m.name)
		}
	}
	b.WriteString(`</svg>`)
	return b.String()
}
