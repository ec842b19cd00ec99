package diff

import (
	"bytes"
	"slices"
)

// maxRepeats is how often a line may be in the old version and still be taken
// for a place at which the two go together. Where nothing rarer is left, git
// changes to another algorithm, and the question is left to git.
const maxRepeats = 64

// A comparison finds the lines that differ between two versions in this
// process, as git does for MergeArgs: histogram, over the whole of both
// versions, then each block of changes moved as far down as it goes. Its tests
// hold it to git's own answers. Lines stand for themselves by a number; equal
// ones have the same.
type comparison struct {
	old, new         []int32
	oldGone, newCame []bool  // the result: lines that the other does not have
	count            []int32 // by number: how often the line is in the part of old that is looked at
	first            []int32 // by number: where it is first there
	next             []int32 // by line of old: where the same line is next, or -1
}

// maxCompared is how many lines the two versions may have together: of more,
// git is quicker.
const maxCompared = 40_000

// Compare returns the hunks that make before into after. It returns false
// where only git can tell.
func Compare(before, after []byte) ([]Hunk, bool) {
	oldLines, newLines := splitLines(before), splitLines(after)
	if len(oldLines)+len(newLines) > maxCompared {
		return nil, false
	}
	c := number(oldLines, newLines)
	if !c.between(0, len(c.old), 0, len(c.new)) {
		return nil, false
	}
	shift(c.old, c.oldGone, c.newCame)
	shift(c.new, c.newCame, c.oldGone)
	return c.hunks(newLines), true
}

// splitLines returns the lines with their ends. The last may have none, which
// makes it another line.
func splitLines(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte{'\n'})+1)
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		lines = append(lines, text[:end])
		text = text[end:]
	}
	return lines
}

// number gives equal lines equal numbers.
func number(before, after [][]byte) *comparison {
	c := &comparison{
		old: make([]int32, len(before)), new: make([]int32, len(after)),
		oldGone: make([]bool, len(before)), newCame: make([]bool, len(after)),
		next: make([]int32, len(before)),
	}
	known := make(map[string]int32, len(before)+len(after)/4)
	numbered(known, before, c.old)
	// Most lines are the same at the same place, from either end: looking each up
	// was most of what a keystroke cost.
	from, to, ahead := 0, len(after), len(before)-len(after)
	for ; from < min(len(before), to) && bytes.Equal(before[from], after[from]); from++ {
		c.new[from] = c.old[from]
	}
	for ; to > from && to+ahead > from && bytes.Equal(before[to-1+ahead], after[to-1]); to-- {
		c.new[to-1] = c.old[to-1+ahead]
	}
	numbered(known, after[from:to], c.new[from:to])
	c.count, c.first = make([]int32, len(known)), make([]int32, len(known))
	return c
}

// numbered writes the numbers of lines, which follow each other in one text.
func numbered(known map[string]int32, lines [][]byte, out []int32) {
	text := string(bytes.Join(lines, nil)) // once, instead of a copy of each
	for i, line := range lines {
		key := text[:len(line)]
		text = text[len(line):]
		n, ok := known[key]
		if !ok {
			n = int32(len(known))
			known[key] = n
		}
		out[i] = n
	}
}

// A stretch is a run of lines that both versions have.
type stretch struct{ old, new, size int }

// between compares old[a:b] with new[c:d]: the stretch with the rarest line,
// and of those the longest, goes together; what is before and after it is
// compared likewise.
func (c *comparison) between(a, b, from, to int) bool {
	for {
		if a == b || from == to {
			mark(c.oldGone[a:b])
			mark(c.newCame[from:to])
			return true
		}
		best, ok := c.rarest(a, b, from, to)
		if !ok {
			return false
		}
		if best.size == 0 {
			mark(c.oldGone[a:b])
			mark(c.newCame[from:to])
			return true
		}
		if !c.between(a, best.old, from, best.new) {
			return false
		}
		a, from = best.old+best.size, best.new+best.size
	}
}

func mark(lines []bool) {
	for i := range lines {
		lines[i] = true
	}
}

// rarest returns the stretch at which to divide, of size 0 if the two have no
// line in common. It returns false if all that they have in common is there
// too often.
func (c *comparison) rarest(a, b, from, to int) (best stretch, ok bool) {
	for _, n := range c.old[a:b] {
		c.count[n] = 0
	}
	for _, n := range c.new[from:to] {
		c.count[n] = 0
	}
	for i := b - 1; i >= a; i-- {
		n := c.old[i]
		c.next[i] = -1
		if c.count[n] > 0 {
			c.next[i] = c.first[n]
		}
		c.first[n] = int32(i)
		c.count[n]++
	}
	rarity, common := int32(maxRepeats+1), false
	for j := from; j < to; {
		n := c.new[j]
		if c.count[n] == 0 {
			j++
			continue
		}
		common = true
		if c.count[n] > rarity {
			j++
			continue
		}
		j = c.try(a, b, from, to, j, &best, &rarity)
	}
	return best, !common || rarity <= maxRepeats
}

// try looks at every place of old at which line j of new is, widens each as
// far as the versions agree, keeps the best, and returns the line of new to go
// on with.
func (c *comparison) try(a, b, from, to, j int, best *stretch, rarity *int32) (after int) {
	after = j + 1
	for i := int(c.first[c.new[j]]); i >= 0; {
		start, end := i, i // of old; both inclusive
		rare := c.count[c.old[i]]
		for start > a && j-(i-start) > from && c.old[start-1] == c.new[j-(i-start)-1] {
			start--
			rare = min(rare, c.count[c.old[start]])
		}
		for end+1 < b && j+(end-i)+1 < to && c.old[end+1] == c.new[j+(end-i)+1] {
			end++
			rare = min(rare, c.count[c.old[end]])
		}
		after = max(after, j+(end-i)+1)
		if end-start+1 > max(best.size, 1) || rare < *rarity {
			*best = stretch{start, j - (i - start), end - start + 1}
			*rarity = rare
		}
		i = int(c.next[i])
		for i >= 0 && i <= end {
			i = int(c.next[i])
		}
	}
	return after
}

// shift moves each block of changed lines of one version as far down as it
// goes, for a block may begin one line later if its first line is the one that
// follows it. Blocks that meet become one. Where a block can stand beside one
// of the other version, it stands beside the last of those.
func shift(lines []int32, changed, other []bool) {
	g, o := block{changed: changed}, block{changed: other}
	g.init()
	o.init()
	for {
		if g.start < g.end {
			shiftOne(lines, &g, &o)
		}
		if !g.forward() {
			return
		}
		o.forward()
	}
}

func shiftOne(lines []int32, g, o *block) {
	var lowest, size int
	beside := false
	for again := true; again; again = size != g.end-g.start {
		size, beside = g.end-g.start, false
		for g.up(lines) {
			o.back()
		}
		lowest = g.end
		beside = o.start < o.end
		for g.down(lines) {
			o.forward()
			beside = beside || o.start < o.end
		}
	}
	if g.end != lowest && beside {
		for o.start == o.end {
			g.up(lines)
			o.back()
		}
	}
}

// A block is the changed lines between two that are not, perhaps none.
type block struct {
	changed    []bool
	start, end int
}

func (b *block) init() {
	for b.end < len(b.changed) && b.changed[b.end] {
		b.end++
	}
}

// forward goes to the next block, after the line that follows this one.
func (b *block) forward() bool {
	if b.end == len(b.changed) {
		return false
	}
	b.start = b.end + 1
	for b.end = b.start; b.end < len(b.changed) && b.changed[b.end]; b.end++ {
	}
	return true
}

// back goes to the block before.
func (b *block) back() {
	if b.start == 0 {
		return
	}
	b.end = b.start - 1
	for b.start = b.end; b.start > 0 && b.changed[b.start-1]; b.start-- {
	}
}

// up moves the block a line up, if it can be, and takes in what it meets.
func (b *block) up(lines []int32) bool {
	if b.start == 0 || lines[b.start-1] != lines[b.end-1] {
		return false
	}
	b.start--
	b.end--
	b.changed[b.start], b.changed[b.end] = true, false
	for b.start > 0 && b.changed[b.start-1] {
		b.start--
	}
	return true
}

// down moves it a line down.
func (b *block) down(lines []int32) bool {
	if b.end == len(lines) || lines[b.start] != lines[b.end] {
		return false
	}
	b.changed[b.start], b.changed[b.end] = false, true
	b.start++
	b.end++
	for b.end < len(b.changed) && b.changed[b.end] {
		b.end++
	}
	return true
}

// hunks reads the result, with hashes of the lines if they are given.
func (c *comparison) hunks(after [][]byte) []Hunk {
	var out []Hunk
	for i, j := 0, 0; i < len(c.old) || j < len(c.new); i, j = i+1, j+1 {
		h := Hunk{OldStart: i + 1, NewStart: j + 1}
		for ; i < len(c.old) && c.oldGone[i]; i++ {
			h.OldCount++
		}
		came := j
		for ; j < len(c.new) && c.newCame[j]; j++ {
			h.NewCount++
		}
		if h.OldCount+h.NewCount > 0 {
			if after != nil {
				h.Hash = hashOf(after[came:j])
			}
			out = append(out, h)
		}
	}
	return slices.Clip(out)
}

// CompareLines is compare for lines that stand for themselves by a number: it
// returns where two versions differ, and false where only git can tell.
func CompareLines(before, after []uint64) ([]Hunk, bool) {
	if len(before)+len(after) > maxCompared {
		return nil, false
	}
	known := make(map[uint64]int32, len(before)+len(after)/4)
	numbered := func(lines []uint64) []int32 {
		out := make([]int32, len(lines))
		for i, l := range lines {
			n, ok := known[l]
			if !ok {
				n = int32(len(known))
				known[l] = n
			}
			out[i] = n
		}
		return out
	}
	c := &comparison{
		old: numbered(before), new: numbered(after),
		oldGone: make([]bool, len(before)), newCame: make([]bool, len(after)), next: make([]int32, len(before)),
	}
	c.count, c.first = make([]int32, len(known)), make([]int32, len(known))
	if !c.between(0, len(c.old), 0, len(c.new)) {
		return nil, false
	}
	shift(c.old, c.oldGone, c.newCame)
	shift(c.new, c.newCame, c.oldGone)
	return c.hunks(nil), true
}
