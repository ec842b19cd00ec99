package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Set is the rules that hold in a repository: those that svc brings, and
// before them those that people wrote for their own framework. A nil one is
// svc's alone.
type Set struct {
	own  map[string][]*Rule // by folder
	hash string

	mu       sync.Mutex
	matchers map[string]*Matcher
}

// A Source is a rules file that people wrote.
type Source struct {
	Name string // as messages call it
	Lang string // the folder that it lies in
	Text []byte
}

// Own reads the rules that people wrote. It is nil if there are none. What svc
// cannot understand is an error with its file and line: a rule that is ignored
// in silence is worse than none.
func Own(sources ...Source) (*Set, error) {
	s := &Set{own: map[string][]*Rule{}, matchers: map[string]*Matcher{}}
	sum := sha256.New()
	for _, f := range sources {
		if _, err := rulesFS.ReadDir(f.Lang); err != nil || f.Lang != Folder(f.Lang) {
			return nil, fmt.Errorf("%s: svc reads no language %q; the folders are %s", f.Name, f.Lang, strings.Join(Folders(), ", "))
		}
		lines := linesOf(f.Text)
		found, err := parse(f.Name, lines, true)
		if err == nil {
			err = check(f.Name, lines, found)
		}
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			r.Framework, r.own = f.Name, true // which file a contract was found by is what its author wants to know
		}
		s.own[f.Lang] = append(s.own[f.Lang], found...)
		fmt.Fprintf(sum, "%s %d\n%s", f.Lang, len(f.Text), f.Text)
	}
	if len(s.own) == 0 {
		return nil, nil
	}
	s.hash = hex.EncodeToString(sum.Sum(nil)[:8])
	return s, nil
}

// Hash tells sets apart; it is empty for svc's own rules.
func (s *Set) Hash() string {
	if s == nil {
		return ""
	}
	return s.hash
}

// Load returns the rules of a language.
func (s *Set) Load(lang string) (*Matcher, error) {
	known, err := Load(lang)
	if s == nil || err != nil {
		return known, err
	}
	own := s.own[Folder(lang)]
	if len(own) == 0 {
		return known, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.matchers[Folder(lang)]
	if m == nil {
		m = Matching(append(slices.Clone(own), known.Rules...))
		s.matchers[Folder(lang)] = m
	}
	return m, nil
}

// Folders are the folders of rules, one for each language and its dialects.
func Folders() (out []string) {
	entries, _ := rulesFS.ReadDir(".")
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// Place is what a contract is said to be found by: the framework, or the file
// and line of a rule that people wrote.
func (r *Rule) Place() string {
	if !r.own {
		return r.Framework
	}
	return r.Framework + ":" + strconv.Itoa(r.Line)
}

// Is tells whether a rule is of the framework of another one, by its place.
func (r *Rule) Is(place string) bool {
	if r.own {
		place = place[:max(strings.LastIndexByte(place, ':'), 0)]
	}
	return r.Framework == place
}

// Rules are the rules that people wrote, in order of their files.
func (s *Set) Rules() (out []*Rule) {
	if s == nil {
		return nil
	}
	for _, folder := range slices.Sorted(maps.Keys(s.own)) {
		out = append(out, s.own[folder]...)
	}
	return out
}
