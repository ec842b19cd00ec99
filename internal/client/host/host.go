// Package host describes the agent hosts that svc works with: how each one
// tells of an event and how it wants to be answered. A host is a row of data;
// only what data cannot say is a function. Nothing here talks to the service.
package host

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Moment is a point in a session at which a host runs hooks.
type Moment string

const (
	SessionStart Moment = "session start"
	Prompt       Moment = "prompt"
	BeforeTool   Moment = "before a tool"
	AfterTool    Moment = "after a tool"
	AfterFailure Moment = "after a tool failed"
	Stop         Moment = "stop"
	Asks         Moment = "asks its person" // for permission, in the middle of a turn
	SessionEnd   Moment = "session end"
	BeforeModel  Moment = "before a model call" // only delivers what is queued
	Said         Moment = "the agent said"      // only remembered, for the stop
	TaskMade     Moment = "a team's task is there"
	TaskDone     Moment = "a team's task is done"
	Idle         Moment = "a teammate is idle" // only told what is free
)

// An Event is one of a host's hook events.
type Event struct {
	At   Moment
	Tool string // what is used, where the event itself says so
}

// An Output is what the hook process leaves behind.
type Output struct {
	Stdout string
	Stderr string
	Exit   int
}

// A Host is one coding agent.
type Host struct {
	ID      string
	Name    string // as people call it
	Surface string // cli or ide: where it usually runs

	Configs     []string // files in a repository that configure its hooks, as wildcards
	UserConfigs []string // the same in the user's home folder
	AlsoReadBy  []string // other hosts that run this host's hooks, in the order they are recognised

	Events map[string]Event // its event names
	Apart  []string         // those of another way to run us, which svc init does not set up
	Edits  []string         // its tools that write files
	Shells []string         // its tools that run commands
	Plans  []string         // its tools that end planning
	Joint  string           // what stands between a tool server and its tool in its names, if no prefix tells these

	Takes      []Moment // when it shows our context to the model
	Plugin     string   // file name of the plugin through which it runs us, if it has no command hooks
	VersionEnv string   // variable that holds its version
	Timeout    time.Duration

	shape  shape
	asking []string // kinds of notification that ask for permission
	deny   func(c *Call, reason, context string) Output
	inject func(c *Call, context string) Output
	quiet  func(c *Call) Output // what it must be told when there is nothing to say
	adjust func(c *Call, p payload, getenv func(string) string)
	// denyCarries tells that a denial has room for context too.
	denyCarries bool
}

// Editor stands for people who edit by themselves: svc watch-tree tells of it.
// It runs no hooks and is no row of svc init.
var Editor = &Host{ID: wire.EditorTool, Name: "Editor", Surface: "ide", Timeout: 5 * time.Second}

// All returns every host.
func All() (out []*Host) {
	for r := range rows {
		out = append(out, r.get())
	}
	return out
}

// ByID returns the host with the given id; dashes are as good as underscores.
func ByID(id string) (*Host, bool) {
	if r := rowOf(strings.ReplaceAll(id, "-", "_")); r != nil {
		return r.get(), true
	}
	return nil, false
}

func rowOf(id string) *row {
	for r := range rows {
		if r.id == id {
			return r
		}
	}
	return nil
}

// TakesAt reports whether the host shows context that it gets at m.
func (h *Host) TakesAt(m Moment) bool {
	for _, t := range h.Takes {
		if t == m {
			return true
		}
	}
	return false
}

// StartsSessions reports whether the host tells when a session starts. For
// the others the first event of a session has to do.
func (h *Host) StartsSessions() bool {
	for _, e := range h.Events {
		if e.At == SessionStart {
			return true
		}
	}
	return false
}

// Budget returns how long the service may take to answer event.
func (h *Host) Budget(event wire.HookEvent) time.Duration {
	switch {
	case h.Timeout != 0:
		return patience.Of(h.Timeout)
	case event == wire.HookPreEdit || event == wire.HookPreShell:
		return patience.Of(400 * time.Millisecond)
	}
	return patience.Of(1500 * time.Millisecond)
}

// CallsUs reports whether the host has a configuration of its own, in the
// repository at root or in the user's home, that runs svc hook. Files that
// other reads as its own do not count.
func (h *Host) CallsUs(root, home string, other *Host) bool {
	shared := map[string]bool{}
	for _, pattern := range other.Configs {
		shared[pattern] = true
	}
	for _, pattern := range h.Configs {
		if root != "" && !shared[pattern] && RunsUs(filepath.Join(root, filepath.FromSlash(pattern))) {
			return true
		}
	}
	for _, pattern := range h.UserConfigs {
		if home != "" && RunsUs(filepath.Join(home, filepath.FromSlash(pattern))) {
			return true
		}
	}
	return false
}

// RunsUs reports whether one of the files that a pattern selects runs svc hook.
func RunsUs(pattern string) bool {
	names := []string{pattern}
	if strings.ContainsAny(pattern, "*?[") {
		names, _ = filepath.Glob(pattern)
	}
	for _, name := range names {
		data, err := plain.Read(name, 1<<20)
		if err == nil && mentionsHook(string(data)) {
			return true
		}
	}
	return false
}

// mentionsHook finds our command in any of the ways it is written.
func mentionsHook(s string) bool {
	for _, name := range []string{`svc`, `svc.exe`} {
		for _, end := range []string{` hook`, `' hook`, `\" hook`, `", ["hook"`} {
			if strings.Contains(s, name+end) {
				return true
			}
		}
	}
	return strings.Contains(s, `"svc"`) && strings.Contains(s, `"hook"`)
}
