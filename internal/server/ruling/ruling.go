// Package ruling puts what the engine decides about an edit into an answer for
// its agent. The service and the edges on people's machines give the same
// answer, word for word, because both have it from here. It records nothing.
package ruling

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Marker wraps what teammates wrote, wherever it reaches an agent.
var Marker = peertext.NewMarker(rand.Reader)

// MaxLine is how long what is said of one conflict may be.
const MaxLine = 1500

// GuardKind names what the guard of shared working copies refuses or warns
// about, in events and figures. It is no kind of conflict: no claim is hurt.
const GuardKind = "shared_clone_guard"

// A Session is who is about to edit.
type Session struct {
	ID    string
	Copy  string // its working copy
	Since coord.Time
}

// EditOf returns what an event is about to write.
func EditOf(e *wire.HookRequest, w *engine.Worker, s Session, now coord.Time) engine.Edit {
	return engine.Edit{Worker: w, Session: s.ID, Copy: s.Copy, Since: s.Since, Paths: e.Paths, Folders: e.Folders,
		Checked: e.Checked, Now: now, Pending: pendingOf(e)}
}

// pendingOf returns what files would be like after an edit, if the event tells.
func pendingOf(e *wire.HookRequest) map[string]*coord.FileFacts {
	if len(e.Pending) == 0 {
		return nil
	}
	out := make(map[string]*coord.FileFacts, len(e.Pending))
	for i := range e.Pending {
		p := &e.Pending[i]
		f := &coord.FileFacts{Path: p.Path, Status: coord.FileModified, Hunks: p.Hunks}
		switch {
		case p.BaseBlob == "":
			f.Status = coord.FileAdded
		case p.NewBlob == "":
			f.Status = coord.FileDeleted
		}
		if p.BaseBlob != "" {
			f.BaseBlob = &p.BaseBlob
		}
		if p.NewBlob != "" {
			f.NewBlob = &p.NewBlob
		}
		out[p.Path] = f
	}
	return out
}

// SweepsOf returns the git commands of an event that take hold of uncommitted
// work as a whole.
func SweepsOf(e *wire.HookRequest) []engine.Sweep {
	if e.Shell == nil || len(e.Shell.Git) == 0 {
		return nil
	}
	effects := map[wire.GitEffect]engine.SweepEffect{
		wire.GitDiscards: engine.Discards,
		wire.GitSweeps:   engine.Sweeps,
		wire.GitMoves:    engine.Moves,
		wire.GitRenames:  engine.Renames,
		wire.GitLeaves:   engine.Leaves,
		wire.GitBlinds:   engine.Blinds,
	}
	out := make([]engine.Sweep, 0, len(e.Shell.Git))
	for _, g := range e.Shell.Git {
		s := engine.Sweep{Verb: g.Verb, Effect: effects[g.Effect], All: g.All}
		for _, f := range g.Files {
			swept := engine.SweptFile{Path: f.Path}
			if f.CommittedAt != nil {
				swept.Committed = *f.CommittedAt
			}
			s.Files = append(s.Files, swept)
		}
		for _, t := range g.Stashes {
			s.Stashes = append(s.Stashes, engine.SweptStash{Name: t.Name, Session: t.SessionID})
		}
		out = append(out, s)
	}
	return out
}

// A Ruling is what the engine says about an event.
type Ruling struct {
	engine.Decision
	Guard engine.Guarded
}

// Rule decides about an edit and the git commands that come with it.
func Rule(ix *engine.Index, edit engine.Edit, sweeps []engine.Sweep) Ruling {
	return Ruling{engine.Decide(ix, edit), engine.Guard(ix, edit, sweeps)}
}

// Answer is the strictest of what was decided.
func (r *Ruling) Answer() wire.Decision {
	for _, a := range []engine.Action{engine.Block, engine.Warn} {
		if r.Action == a || r.Guard.Action == a {
			return wire.Decision(a)
		}
	}
	return wire.Allow
}

// Key is the same as long as there is nothing else to say.
func (r *Ruling) Key() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %q %v", r.Answer(), r.Guard.Key, r.Guard.Action, r.Undeclared)
	for _, f := range r.Findings {
		fmt.Fprintf(h, "\n%s %s %q", f.Fingerprint, f.Severity, f.Keys)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Allowed is the answer to what nothing stands in the way of.
func Allowed() wire.HookReply {
	return wire.HookReply{Decision: wire.Allow, Conflicts: []wire.HookConflict{}}
}

// Refuse makes an answer a refusal.
func Refuse(reply *wire.HookReply, reason string) {
	reply.Decision, reply.Reason, reply.InjectContext = wire.Block, Marker.Say(reason, MaxLine), ""
	reply.Conflicts = []wire.HookConflict{}
}

// Name adds the conflicts that a refusal rests on, where they have names.
func Name(reply *wire.HookReply, conflicts []wire.HookConflict) (refs []string) {
	refs = []string{}
	for _, c := range conflicts {
		refs = append(refs, c.Ref)
		reply.Conflicts = append(reply.Conflicts, c)
	}
	if len(refs) > 0 {
		reply.Reason += " Conflict: " + strings.Join(refs, ", ") + "."
	}
	return refs
}

// Line tells of a conflict in our own words. Names and branches in it are
// cleaned like all that teammates chose.
func Line(ref string, f *engine.Finding, text string, s coord.Suggestion) string {
	if ref != "" {
		ref += " "
	}
	return Marker.Say(fmt.Sprintf("svc %s%s (%s): %s %s", ref, f.Severity, f.Kind, text, s.Text), MaxLine)
}

// GuardLine tells of git commands that would hit others' work.
func GuardLine(g engine.Guarded) string {
	return Marker.Say("svc warn ("+GuardKind+"): "+g.Reason, MaxLine)
}

// Warning is all that a ruling warns of, for who was told nothing of it before.
func (r *Ruling) Warning(worker string, now coord.Time) string {
	var lines []string
	for i := range r.Findings {
		text, suggestion := engine.Explain(r.Findings[i], worker, now)
		lines = append(lines, Line("", &r.Findings[i], text, suggestion))
	}
	if r.Guard.Action == engine.Warn {
		lines = append(lines, GuardLine(r.Guard))
	}
	if r.Undeclared {
		lines = append(lines, engine.WantsIntent)
	}
	return strings.Join(lines, "\n")
}
