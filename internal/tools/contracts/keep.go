package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// What is kept of one repository: reading it takes a hundred times as long as
// judging what was read.
type reading struct {
	Files []string
	Found []coord.ContractFacts
	Texts map[string][]coord.Candidate
}

func (s *score) keptAt(repo, commit string) string {
	return filepath.Join(s.keep, strings.ReplaceAll(repo, "/", "+")+"@"+commit+".json")
}

// kept takes what an earlier run read.
func (s *score) kept(repo, commit string) bool {
	if s.keep == "" {
		return false
	}
	data, err := os.ReadFile(s.keptAt(repo, commit))
	var r reading
	if err != nil || json.Unmarshal(data, &r) != nil {
		return false
	}
	out := []found{}
	for i, c := range r.Found {
		out = append(out, found{c, r.Files[i]})
	}
	s.read[repo+"@"+commit], s.texts[repo] = out, r.Texts
	return true
}

// save keeps what was read.
func (s *score) save(repo, commit string) error {
	if s.keep == "" {
		return nil
	}
	r := reading{Texts: s.texts[repo]}
	for _, f := range s.read[repo+"@"+commit] {
		r.Files, r.Found = append(r.Files, f.file), append(r.Found, f.ContractFacts)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(s.keptAt(repo, commit), data, 0o600)
}
