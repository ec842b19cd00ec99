package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A section is one of the three lists.
type section int

const (
	needs section = iota
	agents
	conflicts
	sections
)

// A screen is what is drawn, as a value, so that it can be drawn without a
// terminal too.
type screen struct {
	pic           Picture
	now           time.Time
	width, height int
	colour        bool
	at            section
	selected      [sections]int
	filter        string
	state         string // at the right of the first line
	stateStyle    string
	notice        string
	noticeStyle   string
	waits         map[string]bool
	keys          string
	first         bool // nothing was read yet
	detailed      bool // the details of the chosen row are shown
	grouped       bool // agents stand by repository
	thread        thread
}

// Styles are the terminal's own sixteen colours: whoever chose a light or a
// dark one chose them to be read.
const (
	bold, faint, reverse       = "1", "2", "7"
	red, green, yellow, purple = "31", "32", "33", "35"
)

func (s *screen) paint(style, text string) string {
	if !s.colour || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

var stateStyles = map[string]string{
	team.States[coord.AgentBlocked]: "1;" + red, team.States[coord.AgentAsks]: "1;" + yellow, team.States[coord.AgentCollides]: yellow,
	team.States[coord.AgentWaits]: purple, team.States[coord.AgentWorking]: green, team.States[coord.AgentSilent]: faint,
	team.States[coord.AgentStopped]: faint, team.States[team.Outside]: faint,
	string(coord.SeverityBlock): "1;" + red, string(coord.SeverityWarn): yellow,
}

// A list is one section as rows.
type list struct {
	title   string
	empty   string
	columns []grid.Column
	rows    [][]string
	refs    []string // which record each row is
	about   []string // the conflict or intent that one could wait for
	hint    int      // the column whose words have colours
	note    string   // beside the heading
}

func (s *screen) needList() list {
	l := list{
		title: "NEEDS YOU", empty: "Nothing waits for you.", hint: 1,
		columns: []grid.Column{{}, {Drop: 1}, {Min: 20, Fill: true}, {Drop: 2, Min: 8}, {Right: true}},
	}
	for _, n := range s.pic.Needs {
		ref, repo := "", ""
		if n.Ref != nil && (strings.HasPrefix(*n.Ref, "INT-") || strings.HasPrefix(*n.Ref, "CF-")) {
			ref = peertext.Name(*n.Ref)
		}
		if n.Repo != nil {
			repo = peertext.Path(n.Repo.FullName)
		}
		what := peertext.Line(n.Title, 300)
		if ref != "" {
			what = strings.TrimPrefix(what, ref+": ") // which stands before it
		}
		if d := team.Why(s.now, n.Detail, 300); d != "" && d != what {
			what += " — " + d
		}
		row := []string{ref, strings.ReplaceAll(peertext.Name(string(n.Kind)), "_", " "), what, repo, team.Age(s.now, n.Since)}
		l.add(s.filter, row, n.ID, ref)
	}
	return l
}

func (s *screen) agentList() list {
	l := list{
		title: "AGENTS", empty: "No agent is at work here. svc init connects one; a first prompt shows it.", hint: 1,
		columns: []grid.Column{
			{Min: 14},                       // the repository, where agents stand by it
			{},                              // its state
			{Min: 10, Want: 16},             // whose
			{Min: 18, Want: 28, Tail: true}, // the file it is in
			{Min: 24, Want: 36, Fill: true}, // its trouble, or its last words
			{Drop: 1},                       // the intent
			{Min: 10, Drop: 2},              // the repository
			{Drop: 3},                       // the host
			{Min: 12, Drop: 4},              // the branch
			{Min: 24, Drop: 5},              // what it works on
			{Right: true},                   // since when
		},
	}
	all, repos, shown := s.pic.Agents, []string{}, []team.Agent{}
	if s.grouped {
		all = byRepo(all)
	}
	for _, a := range all {
		row := []string{"", team.States[a.State], a.Who, a.File, a.Says(), a.Intent, a.Repo, a.Tool, a.Branch, a.Title,
			team.Age(s.now, a.Since)}
		if l.add(s.filter, row, a.ID, cmp.Or(a.WhyRef, a.Intent)) {
			repos, shown = append(repos, a.Repo), append(shown, a)
		}
	}
	l.note = tally(shown)
	if s.grouped {
		l.group(repos)
	}
	return l
}

func (s *screen) conflictList() list {
	l := list{
		title: "CONFLICTS", empty: "Nobody is in anybody's way.", hint: 1,
		columns: []grid.Column{
			{},                              // its number
			{},                              // how bad
			{Min: 20, Want: 32, Tail: true}, // where
			{Min: 18, Want: 24, Fill: true}, // between whom
			{Drop: 1, Min: 10},              // its kind
			{Drop: 2},                       // its status
			{Drop: 3, Min: 10},              // the repository
			{Drop: 4, Min: 30},              // why
			{Right: true},                   // since when
		},
	}
	for _, c := range s.pic.Conflicts {
		row := []string{c.Ref, string(c.Severity), team.Where(c), team.Between(c), team.Kind(c.Kind), peertext.Name(string(c.Status)),
			peertext.Path(c.Repo.FullName), team.Why(s.now, c.Explanation, 200), team.Age(s.now, c.FirstSeenAt)}
		l.add(s.filter, row, c.Ref, c.Ref)
	}
	return l
}

// add takes a row that the filter lets through: each of its words is somewhere
// in the row.
func (l *list) add(filter string, row []string, ref, about string) bool {
	all := strings.ToLower(strings.Join(row, " "))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	l.rows, l.refs, l.about = append(l.rows, row), append(l.refs, ref), append(l.about, about)
	return true
}

func (s *screen) lists() [sections]list {
	return [sections]list{s.needList(), s.agentList(), s.conflictList()}
}

// lines returns the screen, exactly as high as it is.
func (s *screen) lines() []string {
	out, _ := s.layout()
	return out
}

// layout returns the lines of the screen, and which of them are rows.
func (s *screen) layout() ([]string, map[int]spot) {
	ls, spots := s.lists(), map[int]spot{}
	out := []string{s.head()}
	pane := s.pane((s.height - 2) / 2)
	room := s.share(ls, len(pane))
	for i, l := range ls {
		lines, from := s.section(section(i), l, room[i])
		for n := range lines[2:] {
			if len(l.rows) > 0 {
				spots[len(out)+2+n] = spot{section(i), from + n}
			}
		}
		out = append(out, lines...)
	}
	for len(out) < s.height-2-len(pane) {
		out = append(out, "")
	}
	out = append(out[:max(0, s.height-2-len(pane))], pane...)
	return append(out, s.paint(s.noticeStyle, grid.Cut(s.notice, s.width, false)), s.paint(faint, grid.Cut(s.keys, s.width, false))), spots
}

// head says whose team it is and how it stands.
func (s *screen) head() string {
	who, repos, unchecked := map[string]bool{}, map[string]bool{}, 0
	for _, a := range s.pic.Agents {
		who[a.Email], repos[a.Repo] = true, true
		unchecked += a.Unchecked
	}
	text := "svc top"
	if !s.first {
		text = fmt.Sprintf("%s: %s", peertext.Person(s.pic.Org), count(len(s.pic.Agents), "agent"))
		if len(s.pic.Agents) > 0 {
			text += fmt.Sprintf(" of %s in %s", people(len(who)), count(len(repos), "repo"))
		}
		text += ", " + count(s.pic.Colliding, "conflict")
		if unchecked > 0 {
			text += fmt.Sprintf(", %d unchecked", unchecked)
		}
	}
	if s.filter != "" {
		text += " · filter: " + s.filter
	}
	text = grid.Cut(text, max(10, s.width-grid.Width(s.state)-2), false)
	pad := strings.Repeat(" ", max(1, s.width-grid.Width(text)-grid.Width(s.state)))
	return s.paint(bold, text) + pad + s.paint(s.stateStyle, s.state)
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func people(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// share divides the height among the lists: each has its heading and at least
// a line, what needs the person and conflicts get up to a quarter, agents the
// rest, and what one does not want goes to the others.
func (s *screen) share(ls [sections]list, taken int) (room [sections]int) {
	left := s.height - taken - 3 - 2*int(sections) // first line, two last ones, headings with a line above
	want := func(l list) int { return max(1, len(l.rows)) }
	for i, l := range ls {
		room[i] = min(want(l), max(1, left/4))
		if section(i) == agents {
			room[i] = 1
		}
	}
	used := func() (n int) {
		for _, r := range room {
			n += r
		}
		return n
	}
	for _, i := range []section{agents, needs, conflicts} {
		room[i] += max(0, min(want(ls[i])-room[i], left-used()))
	}
	return room
}

// section draws a heading and as many rows as there is room for, the selected
// one in sight; from is the first of them.
func (s *screen) section(at section, l list, room int) (out []string, from int) {
	total := len(l.rows)
	if at == needs && s.filter == "" {
		total = max(total, s.pic.NeedsAll)
	}
	marker, style := "  ", faint
	if at == s.at {
		marker, style = "▸ ", bold
	}
	wide := grid.Fit(l.columns, l.rows, s.width-2)
	heading := fmt.Sprintf("%s%s %d", marker, l.title, total)
	if l.note != "" {
		l.note = grid.Cut(": "+l.note, s.width-grid.Width(heading)-10, false)
	}
	out = []string{"", s.paint(style, heading+l.note)}
	if total == 0 {
		text := l.empty
		if s.filter != "" {
			text = "None that the filter lets through; Esc shows all."
		}
		if s.first {
			text = "…"
		}
		return append(out, s.paint(faint, grid.Cut("  "+text, s.width, false))), 0
	}
	chosen := min(s.selected[at], len(l.rows)-1)
	from = max(0, min(chosen-room/2, len(l.rows)-room))
	if len(l.rows) > room {
		out[1] = s.paint(style, fmt.Sprintf("%s, %d–%d%s", heading, from+1, min(len(l.rows), from+room), l.note))
	}
	for i := from; i < min(len(l.rows), from+room); i++ {
		out = append(out, s.row(l, wide, i, at == s.at && i == chosen))
	}
	return out, from
}

// row draws one row. The selected one has a mark as well as its colours turned
// round: not every terminal shows colours.
func (s *screen) row(l list, wide []int, i int, chosen bool) string {
	mark := "  "
	if s.waits[l.about[i]] {
		mark = "w "
	}
	text := grid.Line(l.columns, wide, l.rows[i])
	if chosen {
		return s.paint(reverse, "> "+text)
	}
	if style := stateStyles[l.rows[i][l.hint]]; style != "" && s.colour {
		if word := l.rows[i][l.hint]; word != "" {
			text = strings.Replace(text, word, s.paint(style, word), 1)
		}
	}
	return mark + text
}
