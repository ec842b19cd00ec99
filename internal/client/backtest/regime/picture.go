package regime

import (
	"fmt"
	"html"
	"strings"
)

// style has the picture readable by day and by night, wherever it is shown.
const style = `<style>
text{font:14px system-ui,sans-serif;fill:#1c2024}.dim{fill:#60646c}.strong{font-weight:600}.grid{stroke:#d9d9e0}
.redone{fill:#0d74ce}.stops{fill:#c62a2f}.read{fill:#8b8d98}.waited{fill:#e2a336}.until{fill:#60646c}.whisker{stroke:#1c2024;stroke-width:2}
.back{fill:#fff}
@media (prefers-color-scheme:dark){text{fill:#edeef0}.dim{fill:#b0b4ba}.grid{stroke:#43484e}.whisker{stroke:#edeef0}.back{fill:#111113}}
</style>`

// Picture draws what each regime costs by the rules as stated, as SVG: the time
// of all agents beyond their work by what it went to, and when all had landed.
func (c *Comparison) Picture() string {
	if len(c.Tables) == 0 {
		return ""
	}
	const width, left, right, top, line = 960, 180, 110, 64, 46
	t := &c.Tables[0]
	height := 2*(top+line*len(t.Rows)) + 24
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="what each regime costs">%s`+
		`<rect class="back" width="%d" height="%d"/>`, width, height, style, width, height)
	most, late := 1.0, 1.0
	for _, r := range t.Rows {
		most, late = max(most, r.Spent.High), max(late, r.Until.High)
	}
	tall := func(x, of float64) float64 { return max(0, x) / of * (width - left - right) }
	whisker := func(f Figure, of float64, y int) {
		fmt.Fprintf(&b, `<line class="whisker" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`, left+tall(f.Low, of), left+tall(f.High, of), y, y)
	}
	fmt.Fprintf(&b, `<text class="strong" x="16" y="24">Time of agents beyond 1,000 lines of work, in lines: %d groups of %d agents</text>`,
		c.Groups, c.Agents/max(1, c.Groups))
	for x, part := range []string{"redone", "stops", "read", "waited"} {
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="36" width="12" height="12"/><text class="dim" x="%d" y="47">%s</text>`,
			part, left+x*170, left+18+x*170, []string{"lines redone", "stopped merges", "reading warnings", "waiting"}[x])
	}
	for i, r := range t.Rows {
		y, x := top+line*i, float64(left)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-14, y+20, html.EscapeString(string(r.Regime)))
		for _, part := range []struct {
			class string
			lines int
		}{{"redone", r.Bill.Redone}, {"stops", r.Bill.Stops * t.Rules.Stop}, {"read", r.Bill.Told * t.Rules.Read}, {"waited", r.Bill.Waited}} {
			wide := tall(share(float64(part.lines), float64(r.Bill.Work), 1000), most)
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="24"/>`, part.class, x, y+2, wide)
			x += wide
		}
		whisker(r.Spent, most, y+32)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%.1f</text>`, max(x, left+tall(r.Spent.High, most))+10, y+20, r.Spent.Value)
	}
	under := top + line*len(t.Rows) + 30
	fmt.Fprintf(&b, `<text class="strong" x="16" y="%d">Until all had landed, %% later than if nobody met anybody</text>`, under)
	for i, r := range t.Rows {
		y := under + 14 + line*i
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text><rect class="until" x="%d" y="%d" width="%.1f" height="24"/>`,
			left-14, y+20, html.EscapeString(string(r.Regime)), left, y+2, tall(r.Until.Value, late))
		whisker(r.Until, late, y+32)
		fmt.Fprintf(&b, `<text x="%.1f" y="%d">%.1f %%</text>`, left+tall(max(r.Until.High, r.Until.Value), late)+10, y+20, r.Until.Value)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
