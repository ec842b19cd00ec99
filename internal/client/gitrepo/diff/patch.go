package diff

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// errPatch is wrapped by every complaint about git's output.
var errPatch = errors.New("unexpected output of git diff")

// A patchReader reads what git diff --raw --patch -z writes: one record per
// file, an empty one, then the patches of the same files in the same order.
type patchReader struct {
	r    *bufio.Reader
	line []byte // the line read ahead, without its newline
	full bool   // line holds the whole line, not its first part
	eof  bool
	stop string // a line that ends the output, empty for end of file
}

// Read reads all deltas up to the line stop, or the end of r.
func Read(r *bufio.Reader, stop string) ([]Delta, error) {
	p := &patchReader{r: r, stop: stop}
	deltas, kinds, err := p.rawRecords()
	if err != nil || p.eof {
		return deltas, err
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	changed := deltas[:0]
	for i := range deltas {
		if p.onlyTouched(&deltas[i], kinds[i]) {
			continue
		}
		if err := p.patches(&deltas[i], kinds[i]); err != nil {
			return nil, err
		}
		changed = append(changed, deltas[i])
	}
	if !p.eof {
		return nil, fmt.Errorf("%w: a patch too many: %.80q", errPatch, p.line)
	}
	return changed, nil
}

// onlyTouched tells a file on disk whose time is newer than the index has it
// and whose content is the same: git names it, since it may not refresh the
// index, and writes no patch for it. Contents outside of a repository have no
// ids, and no index.
func (p *patchReader) onlyTouched(d *Delta, kind byte) bool {
	if kind != 'M' || d.OldBlob == "" || d.NewBlob != "" || d.OldMode != d.NewMode {
		return false
	}
	return p.eof || p.full && !p.heads(d.Path, d.Path)
}

// heads reports whether the line begins the patch of a file. Two folders that
// were compared with each other, a and b, stand in their files' names.
func (p *patchReader) heads(path, as string) bool {
	if string(p.line) == string(diffLine)+quoted("a/"+path)+" "+quoted("b/"+as) {
		return true
	}
	below, ok := strings.CutPrefix(path, "a/")
	return ok && path == as && p.heads(path, "b/"+below)
}

// quoted writes a path as git does in a patch.
func quoted(path string) string {
	plain := func(c byte) bool { return c >= ' ' && c != 0x7f && c != '"' && c != '\\' }
	var b strings.Builder
	same := true
	for i := range len(path) {
		switch c, at := path[i], strings.IndexByte("\a\b\t\n\v\f\r\"\\", path[i]); {
		case at >= 0:
			b.WriteString("\\" + `abtnvfr"\`[at:at+1])
			same = false
		case !plain(c):
			fmt.Fprintf(&b, "\\%03o", c)
			same = false
		default:
			b.WriteByte(c)
		}
	}
	if same {
		return path
	}
	return `"` + b.String() + `"`
}

// rawRecords reads the records before the patches. kinds holds git's letter
// for each. The end of the output may come at any record.
func (p *patchReader) rawRecords() (deltas []Delta, kinds []byte, err error) {
	for {
		first, err := p.r.Peek(1)
		if err == io.EOF && p.stop == "" {
			p.eof = true
			return deltas, kinds, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errPatch, err)
		}
		switch first[0] {
		case 0: // the empty record: patches follow
			_, err := p.r.Discard(1)
			return deltas, kinds, err
		case ':':
			d, kind, err := p.rawRecord()
			if err != nil {
				return nil, nil, err
			}
			deltas, kinds = append(deltas, d), append(kinds, kind)
		default: // the stop line, when nothing differs
			line, err := p.r.ReadString('\n')
			if err != nil || strings.TrimSuffix(line, "\n") != p.stop {
				return nil, nil, fmt.Errorf("%w: %.80q is no record", errPatch, line)
			}
			p.eof = true
			return deltas, kinds, nil
		}
	}
}

func statusOf(kind byte) (s Status, known bool) {
	switch kind {
	case 'A':
		return Added, true
	case 'M', 'T', 'U':
		return Modified, true
	case 'D':
		return Deleted, true
	case 'R':
		return Renamed, true
	}
	return s, false
}

func (p *patchReader) rawRecord() (d Delta, kind byte, err error) {
	head, err := p.field()
	if err != nil {
		return d, 0, err
	}
	f := strings.Fields(strings.TrimPrefix(head, ":"))
	if len(f) != 5 || f[4] == "" {
		return d, 0, fmt.Errorf("%w: %.80q", errPatch, head)
	}
	kind = f[4][0]
	status, known := statusOf(kind)
	if !known {
		return d, 0, fmt.Errorf("%w: status %q", errPatch, f[4])
	}
	oldMode, err1 := strconv.ParseInt(f[0], 8, 32)
	newMode, err2 := strconv.ParseInt(f[1], 8, 32)
	if err := errors.Join(err1, err2); err != nil {
		return d, 0, fmt.Errorf("%w: %w", errPatch, err)
	}
	d = Delta{Status: status, OldMode: int(oldMode), NewMode: int(newMode), OldBlob: idOrNone(f[2]), NewBlob: idOrNone(f[3])}
	if d.Path, err = p.field(); err != nil {
		return d, 0, err
	}
	if kind == 'R' {
		d.OldPath = d.Path
		d.Path, err = p.field()
	}
	return d, kind, err
}

// field reads up to the next NUL.
func (p *patchReader) field() (string, error) {
	s, err := p.r.ReadString(0)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errPatch, err)
	}
	return s[:len(s)-1], nil
}

// idOrNone is git's id, or empty for the id of nothing.
func idOrNone(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}

// patches reads the sections of one file: usually one, two when a file became
// a link, a note for an unmerged one.
func (p *patchReader) patches(d *Delta, kind byte) error {
	sections := 1
	switch kind {
	case 'T':
		sections = 2
	case 'U':
		if bytes.HasPrefix(p.line, []byte("* Unmerged path ")) {
			return p.next()
		}
	}
	for range sections {
		if err := p.section(d); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	if kind == 'T' {
		d.Hunks = wholeFile(d.Hunks)
	}
	if d.NewBlob == "" && d.Status != Deleted && len(d.Hunks) == 0 && !d.Binary {
		d.NewBlob = d.OldBlob // only the mode or the name changed
	}
	return nil
}

// wholeFile joins the hunks of a removal and a creation into one replacement.
func wholeFile(parts []Hunk) []Hunk {
	if len(parts) < 2 {
		return parts
	}
	removed, created := parts[0], parts[len(parts)-1]
	return []Hunk{{1, removed.OldCount, 1, created.NewCount, created.Hash}}
}

var (
	diffLine   = []byte("diff --git ")
	indexLine  = []byte("index ")
	binaryLine = []byte("Binary files ")
	hunkLine   = []byte("@@ -")
)

// section reads from one "diff --git" line to before the next.
func (p *patchReader) section(d *Delta) error {
	if p.eof || !bytes.HasPrefix(p.line, diffLine) {
		return fmt.Errorf("%w: no patch, but %.80q", errPatch, p.line)
	}
	for {
		if err := p.next(); err != nil {
			return err
		}
		switch {
		case p.eof || bytes.HasPrefix(p.line, diffLine) || bytes.HasPrefix(p.line, []byte("* Unmerged path ")):
			return nil
		case bytes.HasPrefix(p.line, indexLine):
			d.readIndex(string(p.line[len(indexLine):]))
		case bytes.HasPrefix(p.line, binaryLine):
			d.Binary = true
		}
		for !p.eof && bytes.HasPrefix(p.line, hunkLine) {
			hunks, err := p.hunk()
			if err != nil {
				return err
			}
			d.Hunks = append(d.Hunks, hunks...)
		}
		if p.eof || bytes.HasPrefix(p.line, diffLine) || bytes.HasPrefix(p.line, []byte("* Unmerged path ")) {
			return nil
		}
	}
}

// readIndex takes the ids of a patch: for a file in the working tree the
// record before it has none. A file that became a link has two such lines,
// each with one side.
func (d *Delta) readIndex(s string) {
	ids, _, _ := strings.Cut(s, " ")
	before, after, ok := strings.Cut(ids, "..")
	if !ok {
		return
	}
	if id := idOrNone(before); id != "" {
		d.OldBlob = id
	}
	if id := idOrNone(after); id != "" && d.Status != Deleted {
		d.NewBlob = id
	}
}

// hunk reads a hunk's head and its lines, and returns the ranges between the
// lines that both versions have.
func (p *patchReader) hunk() ([]Hunk, error) {
	whole, err := parseHunk(p.line)
	if err != nil {
		return nil, err
	}
	c := &changes{at: whole, old: whole.OldCount, fresh: whole.NewCount}
	for {
		if err := p.next(); err != nil {
			return nil, err
		}
		if p.eof || !c.takes(p.line) {
			c.close()
			if c.old != 0 || c.fresh != 0 {
				return nil, fmt.Errorf("%w: a hunk ends early", errPatch)
			}
			return c.out, nil
		}
		if err := p.rest(c.line(p.line)); err != nil {
			return nil, err
		}
	}
}

// changes gathers the ranges of one hunk.
type changes struct {
	at         Hunk // where the next line stands; its counts are not used
	old, fresh int  // lines still to come
	open       bool // the last of out is being added to
	inNew      bool // the last line was a new one
	sum        *lineHash
	out        []Hunk
}

// takes reports whether a line belongs to the hunk. An empty one is a line
// that both versions have, for some configurations of git.
func (c *changes) takes(line []byte) bool {
	if len(line) == 0 {
		return c.old > 0 && c.fresh > 0
	}
	switch line[0] {
	case '-':
		return c.old > 0
	case '+':
		return c.fresh > 0
	case ' ':
		return c.old > 0 && c.fresh > 0
	}
	return line[0] == '\\'
}

// line counts a line and returns the hash that its content belongs to, if any.
func (c *changes) line(line []byte) *lineHash {
	switch {
	case len(line) == 0 || line[0] == ' ':
		c.close()
		c.inNew = false
		c.old--
		c.fresh--
		c.at.OldStart++
		c.at.NewStart++
	case line[0] == '\\':
		if c.inNew && c.open {
			c.sum.missingNewline()
		}
	case line[0] == '-':
		c.begin()
		c.inNew = false
		c.old--
		c.at.OldStart++
		c.out[len(c.out)-1].OldCount++
	default:
		c.begin()
		c.inNew = true
		c.fresh--
		c.at.NewStart++
		c.out[len(c.out)-1].NewCount++
		return c.sum
	}
	return nil
}

func (c *changes) begin() {
	if !c.open {
		c.open, c.sum = true, newLineHash()
		c.out = append(c.out, Hunk{OldStart: c.at.OldStart, NewStart: c.at.NewStart})
	}
}

func (c *changes) close() {
	if c.open {
		c.open = false
		c.out[len(c.out)-1].Hash = c.sum.String()
	}
}

// parseHunk reads "@@ -start[,count] +start[,count] @@". Git gives a range
// without lines the number of the line before it; ours stands before its start.
func parseHunk(line []byte) (h Hunk, err error) {
	f := bytes.Fields(line)
	if len(f) < 4 || len(f[1]) < 2 || len(f[2]) < 2 {
		return h, fmt.Errorf("%w: %.80q", errPatch, line)
	}
	if h.OldStart, h.OldCount, err = parseRange(string(f[1][1:])); err != nil {
		return h, err
	}
	h.NewStart, h.NewCount, err = parseRange(string(f[2][1:]))
	return h, err
}

func parseRange(s string) (start, count int, err error) {
	first, second, found := strings.Cut(s, ",")
	count = 1
	if start, err = strconv.Atoi(first); err != nil {
		return 0, 0, fmt.Errorf("%w: %w", errPatch, err)
	}
	if found {
		if count, err = strconv.Atoi(second); err != nil {
			return 0, 0, fmt.Errorf("%w: %w", errPatch, err)
		}
	}
	if count == 0 {
		start++
	}
	return start, count, nil
}

// next reads one line ahead. Of a line longer than the buffer it reads the
// first part; rest takes the others.
func (p *patchReader) next() error {
	for !p.full && p.line != nil { // skip what nobody wanted
		if err := p.more(); err != nil {
			return err
		}
	}
	p.line = []byte{}
	err := p.more()
	if err == io.EOF && p.stop == "" {
		p.eof = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errPatch, err)
	}
	if p.stop != "" && p.full && string(p.line) == p.stop {
		p.eof = true
	}
	return nil
}

func (p *patchReader) more() error {
	part, err := p.r.ReadSlice('\n')
	p.full = true
	switch {
	case err == bufio.ErrBufferFull:
		p.full = false
	case err == io.EOF && len(part) > 0:
	case err != nil:
		return err
	default:
		part = part[:len(part)-1]
	}
	p.line = part
	return nil
}

// rest feeds a content line, without its first byte, to sum.
func (p *patchReader) rest(sum *lineHash) error {
	if len(p.line) > 0 {
		sum.write(p.line[1:])
	}
	for !p.full {
		if err := p.more(); err != nil {
			return fmt.Errorf("%w: %w", errPatch, err)
		}
		sum.write(p.line)
	}
	sum.write([]byte{'\n'})
	return nil
}
