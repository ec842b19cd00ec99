package local

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
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
	// Mended says what was wrong with the file when it was read, and what became
	// of it. It is told once: the file is whole again.
	Mended string `json:"-"`
}

const (
	routesName = "routes.json"
	routesCopy = "routes.json.bak" // what was kept last
	routesLock = "routes.lock"
)

// LoadRoutes reads the routes of a config folder; there may be none. A damaged
// file is kept aside and its copy put in its place: without routes the team's
// claims would hold nobody back, and nobody would be told.
func LoadRoutes(configDir string) (Routes, error) {
	r, err := readRoutes(filepath.Join(configDir, routesName))
	if err == nil {
		return r, nil
	}
	kept, noCopy := readRoutes(filepath.Join(configDir, routesCopy))
	if errors.Is(err, fs.ErrNotExist) && errors.Is(noCopy, fs.ErrNotExist) {
		return Routes{}, nil
	}
	file, where := filepath.Join(configDir, routesName), ""
	if !errors.Is(err, fs.ErrNotExist) {
		if where, err = plain.Aside(file); err != nil {
			return Routes{}, fmt.Errorf("%s is %w and cannot be moved aside (%v); remove it", file, plain.ErrDamaged, err)
		}
		where = " It is kept as " + where + "."
	}
	if noCopy == nil {
		kept.Mended = file + " was missing or damaged and has been restored." + where
	} else {
		kept.Mended = file + " was damaged and has been replaced." + where +
			" If a repository must stay on this machine, run svc share --stop in it again."
	}
	return kept, kept.save(configDir)
}

func readRoutes(file string) (r Routes, err error) {
	data, err := plain.Read(file, plain.State)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return Routes{}, err
	}
	return r, nil
}

// ChangeRoutes lets change work on the routes of a config folder and keeps what
// it made of them. Hooks and commands do so at once; each sees what the others
// kept before. It waits for them as long as wait.
func ChangeRoutes(configDir string, wait time.Duration, change func(*Routes)) (Routes, error) {
	if err := os.MkdirAll(configDir, 0o700); err != nil {
		return Routes{}, err
	}
	lock, ok := plain.LockWithin(filepath.Join(configDir, routesLock), wait)
	if !ok {
		return Routes{}, ErrBusy
	}
	defer lock.Close()
	r, err := LoadRoutes(configDir)
	if err != nil {
		return r, err
	}
	change(&r)
	return r, r.save(configDir)
}

// ErrBusy means that another process changes the routes.
var ErrBusy = errors.New("another svc is changing which repositories are shared; try again")

// save keeps the routes and a copy, for the owner alone.
func (r Routes) save(configDir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if err := plain.Write(filepath.Join(configDir, routesName), data); err != nil {
		return err
	}
	return plain.Write(filepath.Join(configDir, routesCopy), data)
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
