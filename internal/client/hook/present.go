package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/core/wire"
)

// An owner is a session of this machine that is not the one that speaks: what
// it wrote is told in its name.
type owner struct{ tool, session, parent string }

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
	known := map[owner]bool{}
	n := 0
	for _, s := range book.All() {
		who := owner{s.Tool, s.ID, s.Parent}
		known[who] = true
		if n == maxReaped || s.Tool == r.call.Host.ID && s.ID == r.call.Session || !s.Gone() {
			continue
		}
		n++
		if r.endOther(ctx, who, s.At) {
			book.Remove(s.Tool, s.ID)
			openSpool(r.TempDir, s.Tool, s.ID).removeSession()
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
func (r *runner) endOther(ctx context.Context, who owner, at []presence.Where) bool {
	done := true
	missed := openSpool(r.TempDir, who.tool, who.session).takeMissed()
	for _, w := range at {
		if w.Server != r.login.Server || len(w.Remotes) == 0 {
			done = false
			continue
		}
		_, err := r.evaluate(ctx, wire.HookRequest{
			Event:   wire.HookSessionEnd,
			Session: wire.HookSession{ExternalID: clip(who.session, 200), Tool: who.tool, ParentExternalID: clip(who.parent, 200), Deaf: true},
			Client:  wire.HookClient{CLIVersion: clip(r.Version, 40), MachineIDHash: r.machineHash()},
			Repo:    wire.HookRepo{RemoteFingerprints: w.Remotes, KnownOnly: true},

			FailOpens: missed,
		})
		missed = 0
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

// owedTo returns who wrote the files of a working copy whose events did not get
// through, by path.
func (rec *record) owedTo() map[string]owner {
	out := map[string]owner{}
	data, err := os.ReadFile(rec.owedFile())
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 4 {
			out[f[3]] = owner{f[0], f[1], f[2]}
		}
	}
	return out
}

// owes is the line that says who wrote a file.
func (o owner) owes(path string) string {
	return o.tool + "\t" + o.session + "\t" + o.parent + "\t" + path + "\n"
}

// owe notes that the service missed what a session wrote.
func (r *runner) owe(s send) {
	rec := r.record(s.at)
	if rec.file == "" {
		return
	}
	who := r.self()
	if s.as != nil {
		who = *s.as
	}
	_ = rec.owe(who, s.paths)
}

func (rec *record) owe(who owner, paths []string) error {
	var b strings.Builder
	for _, p := range paths {
		if line := who.owes(p); strings.Count(line, "\t") == 3 && strings.Count(line, "\n") == 1 {
			b.WriteString(line)
		}
	}
	return appendTo(rec.owedFile(), b.String())
}

// Owe has the next hook in a working copy tell a server what a session wrote
// there, in that session's name.
func Owe(config, temp, server, root string, s presence.Session) error {
	rec := record{file: recordFile(config, server, root)}
	if err := os.MkdirAll(filepath.Dir(rec.file), 0o700); err != nil {
		return err
	}
	return rec.owe(owner{s.Tool, s.ID, s.Parent}, openSpool(temp, s.Tool, s.ID).touched(false)[root])
}

// settle forgets who wrote the files that the service was told of now.
func (rec *record) settle(paths []string) {
	owed := rec.owedTo()
	if len(owed) == 0 {
		return
	}
	for _, p := range paths {
		delete(owed, p)
	}
	var b strings.Builder
	for p, who := range owed {
		b.WriteString(who.owes(p))
	}
	_ = replaceFile(rec.owedFile(), []byte(b.String()))
}

// refusedKey marks a call that was refused, for hosts that tell of its end all
// the same.
func (r *runner) refusedKey() string { return "refused-" + hashed(r.call.CallID)[:24] }

// neverRan reports whether the call whose end is told was refused: then nothing
// happened, and there is nothing to tell.
func (r *runner) neverRan() bool {
	c := r.call
	if c.CallID == "" || c.At != host.AfterTool && c.At != host.AfterFailure || !r.spool.knows(r.refusedKey()) {
		return false
	}
	r.spool.take(r.refusedKey())
	return true
}
