package edge

import (
	"context"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ruling"
)

const (
	answerIn   = 10 * time.Second // longer than any answer is held
	unknownFor = 30 * time.Second // how long a repository that the server does not know is left alone
	quietAfter = time.Minute      // without a hook, the copy waits for the next
	idleAfter  = 10 * time.Minute // without a hook, nobody works there
)

// A follow is a copy of one repository's live work.
type follow struct {
	account *account
	key     string
	remotes []string
	name    string
	poke    chan struct{} // a session came
	wake    chan struct{} // a hook came

	mu       sync.RWMutex
	copy     live.Copy
	places   map[wire.EdgeSession]wire.EdgePlace
	sessions map[wire.EdgeSession]time.Time // when each was last heard of
	beats    map[wire.EdgeSession]bool      // those that edited since the server was told
	own      map[string]*engine.Change      // edits that were reported and are not in the copy yet
	mark     string
	now      coord.Time // the server's clock when it answered
	at       time.Time  // when that was
	asked    moment     // when the lease was asked for
	lease    time.Duration
	used     time.Time
}

// following returns the copy of a repository, and begins one.
func (a *account) following(remotes []string, of wire.EdgeSession) *follow {
	key := strings.Join(remotes, " ")
	a.mu.Lock()
	f := a.follows[key]
	if f == nil {
		f = &follow{account: a, key: key, remotes: remotes, name: uuid.NewString(), poke: make(chan struct{}, 1),
			wake: make(chan struct{}, 1), places: map[wire.EdgeSession]wire.EdgePlace{}, sessions: map[wire.EdgeSession]time.Time{},
			beats: map[wire.EdgeSession]bool{}, own: map[string]*engine.Change{}, used: time.Now()}
		a.follows[key] = f
		a.edge.work.Go(func() { f.run(a.edge.ctx) })
	}
	a.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used = time.Now()
	signal(f.wake)
	if _, known := f.sessions[of]; !known {
		signal(f.poke)
	}
	f.sessions[of] = f.used
	return f
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is signalled
	}
}

// run asks until nobody works here any more.
func (f *follow) run(ctx context.Context) {
	pause := time.Duration(0)
	for ctx.Err() == nil {
		if pause > 0 {
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
			case <-timer.C:
			}
			timer.Stop()
		}
		f.rest(ctx)
		if f.idle() {
			break
		}
		status, err := f.ask(ctx)
		switch {
		case err == nil && status == http.StatusOK:
			pause = 0
			continue
		case err == nil && status < 500 && status != http.StatusTooManyRequests:
			f.forget() // the server refuses: no token, no member, no such repository
			pause = unknownFor
		default:
			pause = min(2*pause+50*time.Millisecond, 2*time.Second) + f.account.edge.Jitter()
		}
	}
	f.release()
}

// rest waits for a hook where there was none for a while: nobody's claim has to
// wait for a lease that nobody uses. The copy is kept, and brought forward when
// a prompt or an edit comes.
func (f *follow) rest(ctx context.Context) {
	f.mu.RLock()
	quiet := time.Since(f.used) >= f.account.edge.Quiet
	f.mu.RUnlock()
	if !quiet {
		return
	}
	f.giveBack()
	timer := time.NewTimer(idleAfter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-f.wake:
	case <-timer.C:
	}
}

// idle reports whether nobody has worked here for long, and ends the copy.
func (f *follow) idle() bool {
	a := f.account
	a.mu.Lock()
	defer a.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	for of, heard := range f.sessions {
		if time.Since(heard) > idleAfter {
			delete(f.sessions, of)
		}
	}
	if time.Since(f.used) < idleAfter {
		return false
	}
	delete(a.follows, f.key)
	return true
}

func (f *follow) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.copy, f.lease, f.mark = live.Copy{}, 0, ""
	clear(f.places)
}

// release ends the copy.
func (f *follow) release() {
	f.giveBack()
	f.forget()
}

// giveBack ends the lease here and, if the server is there to hear of it, there.
func (f *follow) giveBack() {
	f.mu.Lock()
	f.lease = 0
	q := f.question()
	f.mu.Unlock()
	q.Release = true
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	body, err := json.Marshal(q)
	if err == nil {
		_, _ = f.account.call(ctx, followPath, body, &wire.WorkFrame{}) // else it runs out
	}
}

// question is what is asked next. f is locked.
func (f *follow) question() wire.FollowWork {
	q := wire.FollowWork{Edge: f.name, Remotes: f.remotes, Epoch: f.copy.Epoch, Seen: f.copy.At, Next: f.copy.Next, Mark: f.mark}
	for of := range f.sessions {
		if len(q.Sessions) < 100 {
			of.Beat = f.beats[of]
			q.Sessions = append(q.Sessions, of)
		}
	}
	return q
}

// ask brings the copy forward by one answer.
func (f *follow) ask(ctx context.Context) (int, error) {
	f.mu.Lock()
	for _, c := range []chan struct{}{f.poke, f.wake} {
		select {
		case <-c:
		default:
		}
	}
	q := f.question()
	clear(f.beats)
	f.mu.Unlock()
	body, err := json.Marshal(q)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	answered := make(chan struct{})
	defer close(answered)
	go func() {
		select {
		case <-f.poke: // a session came: ask for it, too
			signal(f.poke)
			cancel()
		case <-answered:
		}
	}()
	asked := f.account.edge.moment()
	var frame wire.WorkFrame
	status, err := f.account.call(ctx, followPath, body, &frame)
	if err != nil || status != http.StatusOK {
		return status, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.copy.Epoch != q.Epoch || f.copy.At != q.Seen { // it was forgotten meanwhile
		return status, nil
	}
	if err := f.copy.Take(frame); err != nil {
		f.copy, f.lease = live.Copy{}, 0
		return 0, err
	}
	f.overlay(frame)
	f.asked, f.lease = asked, time.Duration(frame.LeaseMS)*time.Millisecond
	f.now, f.at = frame.Now, time.Now()
	if f.mark = frame.Mark; frame.Places != nil {
		clear(f.places)
		for _, p := range frame.Places {
			of := p.EdgeSession
			of.Beat = false
			f.places[of] = p
		}
	}
	return status, nil
}

// overlay keeps edits that were reported in the copy until the server tells of
// them itself. f is locked.
func (f *follow) overlay(frame wire.WorkFrame) {
	for _, item := range frame.Items {
		if item.Kind == string(engine.NoteChange) {
			delete(f.own, item.Key)
		}
	}
	if frame.Reset {
		for _, c := range f.own {
			c.RepoID = f.copy.Repo.ID
			f.copy.Index.PutChange(c)
		}
	}
}

// valid reports whether the edge may still decide by itself. f is locked.
func (f *follow) valid() bool {
	if !f.copy.Complete() {
		return false
	}
	if f.account.edge.Careless {
		return true
	}
	span := f.lease - f.account.edge.Margin
	return span > 0 && f.account.edge.passed(f.asked) < span
}

// A moment by three clocks. The monotonic one stops while a machine sleeps; the
// one since the machine was started goes on, but a virtual machine that is
// halted from outside stops it, too; the one on the wall tells of that when it
// is set right, and may be set wrong. None of them alone can be relied on.
type moment struct {
	awake time.Time
	boot  time.Duration
	wall  time.Time
}

func (e *Edge) moment() moment {
	// Without Round the two times would be compared by the monotonic clock.
	return moment{awake: time.Now(), boot: e.Boot(), wall: e.Wall().Round(0)}
}

// passed is how much time has passed since then by the clock that says the most.
// A clock on the wall that was set back says nothing: for ever is assumed.
func (e *Edge) passed(since moment) time.Duration {
	now := e.moment()
	wall := now.wall.Sub(since.wall)
	if wall < -time.Second {
		return math.MaxInt64
	}
	return max(now.awake.Sub(since.awake), now.boot-since.boot, wall)
}

// A local is what the copy says of an event.
type local struct {
	ruling.Ruling
	place  wire.EdgePlace
	reply  wire.HookReply
	worker string
	now    coord.Time
	sure   bool // the reply may be given without asking
}

// decide looks an event up in the copy; nil means that the server has to be
// asked.
func (f *follow) decide(e *wire.HookRequest, of wire.EdgeSession) *local {
	f.mu.RLock()
	defer f.mu.RUnlock()
	p, known := f.places[of]
	if !f.valid() || !known || p.Other || e.FailOpens > 0 || e.StaleWrites > 0 ||
		e.Repo.Branch != "" && e.Repo.Branch != p.Branch || e.Repo.WorktreeHash != "" && e.Repo.WorktreeHash != p.WorktreeHash {
		return nil
	}
	ix, repo := f.copy.Index, f.copy.Repo.ID
	rules, _ := ix.Rules(repo)
	w := ix.Worker(p.Worker)
	if w == nil || rules.CrossRepoContracts == coord.SeverityBlock && len(ix.Links(repo)) > 0 {
		return nil // what linked repositories do is not in the copy
	}
	l := &local{place: p, reply: ruling.Allowed(), worker: w.ID, now: f.now.Add(time.Since(f.at))}
	l.reply.SessionID, l.reply.IndexVersion, l.reply.Intent = &p.SessionID, f.copy.Repo.IndexVersion, p.Intent
	if l.Action, l.Guard.Action = engine.Allow, engine.Allow; len(e.Paths)+len(e.Folders) == 0 && (e.Shell == nil || len(e.Shell.Git) == 0) {
		l.sure = true
		return l
	}
	l.rule(ix, rules, w, e)
	l.sure = l.sure && (!p.News || e.Session.Deaf)
	return l
}

// rule decides. Only a plain allow is sure without a word from the server. What
// an agent has been warned of before only the server knows, it gives the
// conflict behind a refusal its name, and whose work a git command of a shared
// working copy would hit it knows first. If it does not answer in time, what
// was decided here holds.
func (l *local) rule(ix *engine.Index, rules *policy.Effective, w *engine.Worker, e *wire.HookRequest) {
	copy := l.place.WorktreeHash
	if copy == "" {
		copy = l.place.SessionID
	}
	edit := ruling.EditOf(e, w, ruling.Session{ID: l.place.SessionID, Copy: copy, Since: l.place.StartedAt}, l.now)
	sweeps := ruling.SweepsOf(e)
	l.Ruling = ruling.Rule(ix, edit, sweeps)
	l.reply.WantLines = l.WantLines
	switch l.Answer() {
	case wire.Block:
		reason := l.Reason
		if l.Action != engine.Block {
			reason = l.Guard.Reason
		}
		ruling.Refuse(&l.reply, reason)
		l.reply.WantLines = nil
	case wire.Warn:
		l.reply.Decision = wire.Warn
		l.reply.Reason = l.Warning(l.worker, l.now)
		l.reply.InjectContext = l.reply.Reason
	default:
		l.sure = len(sweeps) == 0 || rules.SharedCloneGuard == coord.SeverityOff
	}
	l.reply.Reason, l.reply.InjectContext = ruling.Marker.Text(l.reply.Reason), ruling.Marker.Text(l.reply.InjectContext)
}

// reported puts an edit into the copy that the server has not been told of yet.
func (f *follow) reported(e *wire.HookRequest, of wire.EdgeSession) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, known := f.places[of]
	if !known || f.copy.Index == nil {
		return
	}
	f.beats[of] = true
	copy := p.WorktreeHash
	if copy == "" {
		copy = p.SessionID
	}
	facts := map[string]coord.FileFacts{}
	for _, path := range e.Paths {
		facts[path] = coord.FileFacts{Path: path, Status: coord.FileModified}
	}
	if e.Analysis != nil {
		for _, file := range e.Analysis.Files {
			facts[file.Path] = file
		}
	}
	touch := engine.Touch{Worker: p.Worker, Session: p.SessionID, At: f.now.Add(time.Since(f.at))}
	for path, file := range facts {
		c := &engine.Change{RepoID: f.copy.Repo.ID, Copy: copy, Facts: file}
		if old := f.copy.Index.Change(c.RepoID, copy, path); old != nil {
			for _, t := range old.By {
				if t.Session != touch.Session {
					c.By = append(c.By, t)
				}
			}
		}
		c.By = append(c.By, touch)
		f.copy.Index.PutChange(c)
		f.own[engine.ChangeKey(copy, path)] = c
	}
}

func (f *follow) describe() wire.EdgeFollowReport {
	f.mu.RLock()
	defer f.mu.RUnlock()
	out := wire.EdgeFollowReport{Repo: f.remotes[0], At: f.copy.At}
	if f.valid() {
		out.LeaseMS = max(0, (f.lease - f.account.edge.Margin - f.account.edge.passed(f.asked)).Milliseconds())
	}
	if f.copy.Repo.FullName != "" {
		out.Repo = f.copy.Repo.FullName
	}
	if f.copy.Index != nil {
		out.Items = len(f.copy.Index.Notes(f.copy.Repo.ID))
	}
	return out
}
