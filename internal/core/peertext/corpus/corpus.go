// Package corpus holds hostile texts for tests: whatever shows peer text runs
// them all through its sink. Each class is a file; each case is a quoted Go
// string, then, after "=>", what peertext.Clean makes of it. Only tests may
// import it.
package corpus

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed *.txt
var files embed.FS

// A Case is one hostile text.
type Case struct {
	Class string
	N     int // counts from 1 within the class
	Text  string
	Want  string // the cleaned text
}

// Name tells a case in test output.
func (c Case) Name() string { return fmt.Sprintf("%s/%d", c.Class, c.N) }

// Cases returns the whole corpus.
func Cases() ([]Case, error) {
	names, err := fs.Glob(files, "*.txt")
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		cases, err := parse(strings.TrimSuffix(name, ".txt"), string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, cases...)
	}
	return all, nil
}

func parse(class, text string) ([]Case, error) {
	var cases []Case
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		into := &Case{Class: class, N: len(cases) + 1}
		quoted, isWant := strings.CutPrefix(line, "=> ")
		s, err := unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if isWant {
			if len(cases) == 0 {
				return nil, fmt.Errorf("line %d: an answer without a text", i+1)
			}
			cases[len(cases)-1].Want = s
			continue
		}
		into.Text = s
		cases = append(cases, *into)
	}
	return cases, nil
}

// unquote reads "text" or "text" x 500, which repeats it.
func unquote(s string) (string, error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", fmt.Errorf("%s is not a quoted string", s)
	}
	text, err := strconv.Unquote(q)
	if err != nil {
		return "", err
	}
	times, ok := strings.CutPrefix(s[len(q):], " x ")
	if !ok {
		return text, nil
	}
	n, err := strconv.Atoi(times)
	return strings.Repeat(text, n), err
}
