package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// seen is all that the stand-ins of one command saw.
type seen struct {
	wall, all time.Duration
	compiled  sums // by package
	linked    sums // by program
	c         sums // by grammar and target
	packages  sums // tests, by package
	tests     sums // by the clock
	parts     map[string]time.Duration
}

// sums are times and how often they were spent, by what they were spent on.
type sums map[string]*sum

type sum struct {
	times int
	took  time.Duration
}

func (s sums) add(what string, took time.Duration) {
	if s[what] == nil {
		s[what] = &sum{}
	}
	s[what].times++
	s[what].took += took
}

func (s sums) total() (all time.Duration) {
	for _, x := range s {
		all += x.took
	}
	return all
}

// An action is a part of what go did, as its -debug-actiongraph tells it.
type action struct {
	Mode, Package   string
	CmdUser, CmdSys time.Duration
}

func read(dir string) (*seen, error) {
	s := &seen{compiled: sums{}, linked: sums{}, c: sums{}, packages: sums{}, tests: sums{}, parts: map[string]time.Duration{}}
	graphs, err := filepath.Glob(filepath.Join(dir, "graph-*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range graphs {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if len(text) == 0 {
			continue // it found an error before there was anything to do
		}
		var actions []action
		if err := json.Unmarshal(text, &actions); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		s.addGraph(actions)
	}
	notes, err := filepath.Glob(filepath.Join(dir, "notes-*"))
	if err != nil {
		return nil, err
	}
	for _, file := range notes {
		if err := s.addNotes(file); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addGraph counts what go compiled and linked.
func (s *seen) addGraph(actions []action) {
	for _, a := range actions {
		took := a.CmdUser + a.CmdSys
		switch {
		case took == 0:
		case strings.HasPrefix(a.Mode, "cgo compile") && strings.HasSuffix(a.Mode, ".c"):
			s.c.add(filepath.Base(a.Package)+", cgo", took)
		case strings.HasPrefix(a.Mode, "link"):
			s.linked.add(a.Package, took)
		default:
			s.compiled.add(a.Package, took)
		}
	}
}

// addNotes counts what stand-ins noted.
func (s *seen) addNotes(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		var n Note
		switch err := in.Decode(&n); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		case n.Test != "":
			s.addTest(n)
		case n.Package != "":
			s.packages.add(strings.TrimPrefix(n.Package, here+string(filepath.Separator)), n.Took)
		default:
			s.c.add(n.C+", "+n.Target, n.Took)
		}
	}
}

// addTest counts a test as what it took, or as what its parts took: while parts
// run side by side, a test counts as waiting.
func (s *seen) addTest(n Note) {
	test, part, _ := strings.Cut(n.Test, "/")
	switch key := n.Package + " " + test; {
	case part == "":
		s.tests.add(key, max(0, n.Took-s.parts[key]))
	case !strings.Contains(part, "/"): // go tells of parts first
		s.tests.add(key, n.Took)
		s.tests[key].times = 0
		s.parts[key] += n.Took
	}
}

// Most lines of each table, unless all are wanted.
const mostLines = 20

// write prints the tables, each with at most so many lines.
func (s *seen) write(to io.Writer, most int) {
	known := s.compiled.total() + s.linked.total() + s.c.total() + s.packages.total()
	fmt.Fprintf(to, "\nprocessor time %s, by the clock %s\n", minutes(s.all), minutes(s.wall))
	for _, part := range []struct {
		name string
		of   sums
	}{{"Go compiled", s.compiled}, {"linked", s.linked}, {"C compiled", s.c}, {"tests", s.packages}} {
		fmt.Fprintf(to, "  %-14s%s\n", part.name, minutes(part.of.total()))
	}
	fmt.Fprintf(to, "  %-14s%s\n", "the rest", minutes(max(0, s.all-known)))
	table(to, "Go compiled, by package", s.compiled, most)
	table(to, "Linked, by program", s.linked, most)
	table(to, "C compiled, by grammar and target", s.c, most)
	table(to, "Tests, by package", s.packages, most)
	table(to, "The dearest tests, by the clock", s.tests, most)
}

func minutes(d time.Duration) string {
	return fmt.Sprintf("%6d:%04.1f", int(d.Minutes()), (d % time.Minute).Seconds())
}

func table(to io.Writer, name string, of sums, most int) {
	if len(of) == 0 {
		return
	}
	fmt.Fprintf(to, "\n%s\n", name)
	keys := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].took, of[a].took), strings.Compare(a, b))
	})
	for i, key := range keys {
		if i == most {
			rest := time.Duration(0)
			for _, key := range keys[i:] {
				rest += of[key].took
			}
			fmt.Fprintf(to, "%9.1f s  %d more\n", rest.Seconds(), len(keys)-i)
			return
		}
		often := ""
		if of[key].times > 1 {
			often = fmt.Sprintf(" (%d times)", of[key].times)
		}
		fmt.Fprintf(to, "%9.1f s  %s%s\n", of[key].took.Seconds(), key, often)
	}
}
