package local

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// machine stands where a remote names a host, for repositories without one.
const machine = "machine.local"

// Fingerprint names a repository that has no remote. Its worktrees share the
// folder, and so the name; no other machine has it.
func Fingerprint(commonDir string) string {
	sum := sha256.Sum256([]byte(filepath.Clean(commonDir)))
	name := filepath.Base(filepath.Dir(commonDir))
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name)
	if strings.Trim(name, ".") == "" {
		name = "repository"
	}
	return machine + "/" + hex.EncodeToString(sum[:4]) + "/" + name
}

// OwnOf reports whether a fingerprint names a repository without a remote.
func OwnOf(fingerprint string) bool { return strings.HasPrefix(fingerprint, machine+"/") }

// Routes say which repositories a team's server may hear of. All others stay
// on this machine.
type Routes struct {
	Team  []string `json:"team,omitempty"`  // fingerprints or patterns, such as github.com/acme/*
	Local []string `json:"local,omitempty"` // those that stay, whatever the team knows
	// What the team's server has registered, as it said itself: to ask it
	// about a repository would be to tell it.
	Server string    `json:"server,omitempty"`
	Known  []string  `json:"known,omitempty"`
	At     time.Time `json:"at,omitzero"`
}

const routesName = "routes.json"

// LoadRoutes reads the routes of a config folder; there may be none.
func LoadRoutes(configDir string) (Routes, error) {
	var r Routes
	data, err := os.ReadFile(filepath.Join(configDir, routesName))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// Save keeps the routes, for the owner alone.
func (r Routes) Save(configDir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(configDir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(configDir, ".routes-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(configDir, routesName))
}

// ToTeam reports whether a repository's work goes to the server of a team.
func (r Routes) ToTeam(server string, fingerprints []string) bool {
	if len(fingerprints) == 0 || slices.ContainsFunc(fingerprints, OwnOf) {
		return false
	}
	if r.Kept(fingerprints) {
		return false
	}
	return matches(r.Team, fingerprints) || r.Server == server && matches(r.Known, fingerprints)
}

// Kept reports whether the person said that a repository's work stays on this
// machine.
func (r Routes) Kept(fingerprints []string) bool { return matches(r.Local, fingerprints) }

// Chosen reports whether the person said anything about a repository.
func (r Routes) Chosen(fingerprints []string) bool {
	return r.Kept(fingerprints) || matches(r.Team, fingerprints)
}

func matches(patterns, fingerprints []string) bool {
	for _, p := range patterns {
		for _, f := range fingerprints {
			if ok, err := path.Match(p, f); err == nil && ok || p == f {
				return true
			}
			if prefix, ok := strings.CutSuffix(p, "/**"); ok && strings.HasPrefix(f, prefix+"/") {
				return true
			}
		}
	}
	return false
}

// Choose puts a fingerprint or pattern on one side and takes it off the other.
func (r *Routes) Choose(pattern string, team bool) {
	off := func(list []string) []string {
		return slices.DeleteFunc(list, func(p string) bool { return p == pattern })
	}
	r.Team, r.Local = off(r.Team), off(r.Local)
	if team {
		r.Team = append(r.Team, pattern)
	} else {
		r.Local = append(r.Local, pattern)
	}
}
