package moments

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/server/ruling"
)

// marker wraps what teammates wrote, wherever it reaches an agent.
var marker = ruling.Marker

// A brief gathers what an agent is to be told, the most important first, and
// leaves out what it has heard already.
type brief struct {
	heard map[string]string // marks by key
	items []briefItem
}

type briefItem struct {
	rank int
	text string
	toldItem
}

// A toldItem is noted as told once it was really shown.
type toldItem struct {
	key, mark string
	then      func(context.Context) error
}

// Ranks of what is told.
const (
	rankSelf = iota
	rankConflict
	rankLanding
	rankMessage
	rankQuestion
	rankAdvice
	rankTeam
)

func newBrief(heard map[string]string) *brief { return &brief{heard: heard} }

// add puts text into the brief unless the same was told before: key names the
// thing, mark its version. An empty key is always told.
func (b *brief) add(rank int, key, mark, text string, then func(context.Context) error) {
	if key != "" {
		if m, ok := b.heard[key]; ok && m == mark {
			return
		}
	}
	b.items = append(b.items, briefItem{rank, text, toldItem{key, mark, then}})
}

// reserve is what is left for the line about what is left out.
const reserve = 80

// render writes the brief within a budget of characters. What does not fit is
// counted, and told next time.
func (b *brief) render(budget int) (string, []toldItem) {
	slices.SortStableFunc(b.items, func(x, y briefItem) int { return x.rank - y.rank })
	var out strings.Builder
	var told []toldItem
	used, left := 0, 0
	for _, it := range b.items {
		n := utf8.RuneCountInString(it.text) + 1
		if used+n > budget-reserve {
			left++
			continue
		}
		used += n
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(it.text)
		if it.key != "" || it.then != nil {
			told = append(told, it.toldItem)
		}
	}
	if left > 0 && out.Len() > 0 {
		out.WriteString("\n(more waits: call team_context and inbox)")
	}
	return out.String(), told
}
