// Package grid fits rows of text into the columns of a terminal. What matters
// survives a narrow one: columns that may go are left out first, then the
// widest are cut. It knows nothing of colours and of what the rows say.
package grid

import (
	"strings"
	"unicode"
)

// A Column is one of a table.
type Column struct {
	Title string
	// Min is how narrow it may be cut; 0 means never.
	Min int
	// Want is how wide it should be before columns that may go get room.
	Want int
	// Drop orders the columns that may be left out where there is no room: the
	// highest goes first; 0 stays.
	Drop int
	// Tail cuts at the front: the end of a path says more.
	Tail bool
	// Right aligns it there, as figures are.
	Right bool
	// Fill gives it the room that is left.
	Fill bool
}

const gap = 2

// Fit returns how wide each column is within width, 0 for one that is left out.
// Without a width every column is as wide as its widest cell.
func Fit(columns []Column, rows [][]string, width int) []int {
	wide := make([]int, len(columns))
	for i, c := range columns {
		wide[i] = Width(c.Title)
		for _, r := range rows {
			if i < len(r) {
				wide[i] = max(wide[i], Width(r[i]))
			}
		}
	}
	if width <= 0 {
		return wide
	}
	for least(columns, wide) > width {
		last := -1
		for i, c := range columns {
			if wide[i] > 0 && c.Drop > 0 && (last < 0 || c.Drop > columns[last].Drop) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		wide[last] = 0
	}
	shrink(columns, wide, width)
	for i, c := range columns {
		if left := width - total(wide); c.Fill && wide[i] > 0 && left > 0 {
			wide[i] += left
		}
	}
	return wide
}

// least is how narrow the columns can be while those that stay are as wide as
// they should be.
func least(columns []Column, wide []int) int {
	cut := make([]int, len(wide))
	for i, w := range wide {
		cut[i] = w
		if m := max(columns[i].Min, columns[i].Want); m > 0 {
			cut[i] = min(w, m)
		}
	}
	return total(cut)
}

func total(wide []int) int {
	sum := -gap
	for _, w := range wide {
		if w > 0 {
			sum += w + gap
		}
	}
	return max(sum, 0)
}

// shrink takes from the widest that can give until all fit; where even that is
// too much, whatever is last is cut with the line.
func shrink(columns []Column, wide []int, width int) {
	for over := total(wide) - width; over > 0; over-- {
		widest := -1
		for i, c := range columns {
			if c.Min > 0 && wide[i] > c.Min && (widest < 0 || wide[i] > wide[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		wide[widest]--
	}
}

// Whole is where the last column ends that is never cut, in columns of these
// widths.
func Whole(columns []Column, wide []int) (end int) {
	at := 0
	for i, c := range columns {
		if wide[i] == 0 {
			continue
		}
		at += wide[i]
		if c.Min == 0 {
			end = at
		}
		at += gap
	}
	return end
}

// Line puts one row into columns of these widths.
func Line(columns []Column, wide []int, row []string) string {
	var b strings.Builder
	for i, c := range columns {
		if wide[i] == 0 {
			continue
		}
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		if b.Len() > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		if Width(cell) > wide[i] {
			cell = Cut(cell, wide[i], c.Tail)
		}
		pad := strings.Repeat(" ", wide[i]-Width(cell))
		if c.Right {
			cell = pad + cell
		} else {
			cell += pad
		}
		b.WriteString(cell)
	}
	return b.String()
}

// Cut shortens s to a width; "…" stands for the rest, at the front if tail.
func Cut(s string, width int, tail bool) string {
	if Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	runes := []rune(s)
	room := width - 1
	if tail {
		at := len(runes)
		for at > 0 && room >= runeWidth(runes[at-1]) {
			at--
			room -= runeWidth(runes[at])
		}
		return "…" + string(runes[at:])
	}
	at := 0
	for at < len(runes) && room >= runeWidth(runes[at]) {
		room -= runeWidth(runes[at])
		at++
	}
	return strings.TrimRight(string(runes[:at]), " ") + "…"
}

// Wrap breaks s into lines of a width between its words; all but the first are
// set in.
func Wrap(s string, width, indent int) (lines []string) {
	line := ""
	for i, word := range strings.SplitAfter(s, " ") {
		if i > 0 && Width(line)+Width(strings.TrimRight(word, " ")) > width {
			lines, line = append(lines, strings.TrimRight(line, " ")), strings.Repeat(" ", indent)
		}
		line += word
	}
	lines = append(lines, strings.TrimRight(line, " "))
	for i := range lines {
		lines[i] = Cut(lines[i], width, false)
	}
	return lines
}

// Width is how many cells of a terminal s takes.
func Width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// wide are the characters that take two cells: East Asian ones and pictures.
var wideRunes = []struct{ first, last rune }{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x2e80, 0x303e}, {0x3041, 0x4dbf}, {0x4e00, 0xa4cf}, {0xa960, 0xa97c},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f19a}, {0x1f200, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wideRunes {
		if r >= w.first && r <= w.last {
			return 2
		}
	}
	return 1
}
