package hook

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// book returns where the sessions of this machine are written down.
func (r *runner) book() presence.Book {
	dir, err := r.ConfigDir()
	if err != nil {
		return presence.Book{}
	}
	return presence.Open(dir)
}

// enrol writes down under which id a service knows this session, and which
// processes run it: svc mcp, which the same host starts, looks there for whom
// it speaks. It is done when a turn begins, which no edit waits for.
func (r *runner) enrol(sends []send, replies []wire.HookReply, errs []error) {
	c := r.call
	if c.Host == host.Editor {
		return // no agent, for whom svc mcp could speak
	}
	book := r.book()
	var s presence.Session
	loaded := false
	for i, sent := range sends {
		begins := sent.event == wire.HookSessionStart || sent.event == wire.HookPrompt
		if errs[i] != nil || replies[i].SessionID == nil || sent.as != nil || !begins {
			continue
		}
		if !loaded {
			loaded = true
			s, _ = book.Load(c.Host.ID, c.Session)
			s.Tool, s.ID, s.Parent = c.Host.ID, c.Session, c.Parent
			s.Single = c.Host.Surface == "cli" && c.Host.Plugin == ""
			s.Met(time.Now())
		}
		if in := replies[i].Intent; in != nil {
			s.Title = excerpt.Text(in.Title, 200)
		}
		s.Put(presence.Where{Server: r.login.Server, Root: sent.at.Root, Remotes: sent.at.fingerprints, Session: *replies[i].SessionID})
	}
	if loaded {
		book.Save(s)
	}
}

// maxReaped is how many sessions of killed hosts one hook ends: an agent waits.
const maxReaped = 3

// reap ends the sessions of this machine whose hosts are gone without a word,
// and those that ended while the service was away. Who is told that they are
// at work waits for nobody.
func (r *runner) reap(ctx context.Context, sends []send) {
	switch r.call.Event {
	case wire.HookSessionStart, wire.HookPrompt, wire.HookStop:
	default:
		return
	}
	book := r.book()
	known := map[record.Owner]bool{}
	n := 0
	for _, s := range book.All() {
		who := record.Owner{Tool: s.Tool, Session: s.ID, Parent: s.Parent}
		known[who] = true
		if n == maxReaped || s.Tool == r.call.Host.ID && s.ID == r.call.Session || !s.Gone() {
			continue
		}
		n++
		if r.endOther(ctx, who, s.At) {
			book.Remove(s.Tool, s.ID)
			spool.Open(r.TempDir, s.Tool, s.ID).RemoveSession()
		}
	}
	for _, s := range sends { // who is told of only by what it wrote ended long ago
		if s.as != nil && !known[*s.as] {
			known[*s.as] = true
			r.endOther(ctx, *s.as, []presence.Where{{Server: r.login.Server, Root: s.at.Root, Remotes: s.at.fingerprints}})
		}
	}
}

// endOther ends another session in its repositories, and reports whether that
// is done. What a service that is not asked now knows of it stays.
func (r *runner) endOther(ctx context.Context, who record.Owner, at []presence.Where) bool {
	done := true
	kept := spool.Open(r.TempDir, who.Tool, who.Session)
	missed, stale := kept.TakeCount(spool.FailOpens), kept.TakeCount(spool.StaleWrites)
	for _, w := range at {
		if w.Server != r.login.Server || len(w.Remotes) == 0 {
			done = false
			continue
		}
		session := r.named(who)
		session.Deaf = true
		_, err := r.evaluate(ctx, wire.HookRequest{
			Event:   wire.HookSessionEnd,
			Session: session,
			Client:  wire.HookClient{CLIVersion: excerpt.Text(r.Version, 40), MachineIDHash: r.machineHash()},
			Repo:    wire.HookRepo{RemoteFingerprints: w.Remotes, KnownOnly: true},

			FailOpens:   missed,
			StaleWrites: stale,
		})
		missed, stale = 0, 0
		if err != nil {
			r.log(err)
			return false
		}
	}
	return done
}

// leave forgets this session once the service knows that it has ended, or
// remembers that it still has to be told.
func (r *runner) leave(told bool) {
	c := r.call
	book := r.book()
	if told {
		book.Remove(c.Host.ID, c.Session)
		return
	}
	if s, ok := book.Load(c.Host.ID, c.Session); ok {
		s.Ended = true
		book.Save(s)
	}
}

// addUnsent notes that the service missed what a session wrote.
func (r *runner) addUnsent(s send) {
	_ = r.record(s.at).AddUnsent(s.by(r), s.paths)
}

// refusedKey marks a call that was refused, for hosts that tell of its end all
// the same.
func (r *runner) refusedKey() string { return "refused-" + spool.Hash(r.call.CallID)[:24] }

// neverRan reports whether the call whose end is told was refused: then nothing
// happened, and there is nothing to tell.
func (r *runner) neverRan() bool {
	c := r.call
	if c.CallID == "" || c.At != host.AfterTool && c.At != host.AfterFailure || !r.spool.Knows(r.refusedKey()) {
		return false
	}
	r.spool.Take(r.refusedKey())
	return true
}
