package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/post"
	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// answer asks the service about the call and renders what it says.
func (r *runner) answer(ctx context.Context) (host.Output, error) {
	c := r.call
	if r.neverRan() {
		return c.Quiet(), nil
	}
	sends, err := r.plan(ctx)
	if err != nil {
		return host.Output{}, err
	}
	var a host.Answer
	if len(sends) > 0 {
		r.stale = r.overwrites(sends)
		a, err = r.ask(ctx, sends)
		r.stop(&a)
		r.movedHead(sends, &a)
		r.noteFan(sends)
		r.forecast(ctx, sends, &a)
		if r.begin(sends, a.Block); err != nil {
			if !a.Block {
				return host.Output{}, err
			}
			r.log(err)
			r.unanswered()
		}
		if sends[0].event == wire.HookSessionStart && !c.Host.StartsSessions() {
			r.spool.Put("begun", "")
		}
	}
	r.tellMerged(sends)
	r.tellLanded(ctx, sends)
	if c.Host.TakesAt(c.At) && !a.Block {
		a.Context = r.spool.TakeContext(a.Context, wire.MaxHookContext)
	}
	if r.mended != "" {
		a.Context = spool.JoinContexts("svc: "+r.mended+" Tell the user.", a.Context)
	}
	a.Context = excerpt.Text(a.Context, wire.MaxHookContext)
	// A second configuration may have run us for the same call. The service
	// evaluates it once, by its key; here it is kept from being said twice.
	if a.Context != "" && c.CallID != "" && r.spool.Seen(spool.Hash(string(c.Event), c.CallID, c.Turn, c.Native)) {
		a.Context = ""
	}
	out, later := c.Render(a)
	if later != "" && len(c.Host.Takes) > 0 && c.Event != wire.HookSessionEnd {
		r.spool.QueueContext(later)
	}
	if a.Block && c.IsShell() {
		r.spool.Take(spool.ShellPrefix + r.commandKey()) // it will not run
	}
	if a.Block && c.CallID != "" {
		r.spool.Put(r.refusedKey(), "")
	}
	if a.Block || c.Event == wire.HookStop {
		r.notWriting()
	}
	r.finish()
	if r.nobody {
		if line, ok := r.notice(context.DeadlineExceeded); ok {
			out = out.With(line)
		}
	}
	return out, nil
}

// tellAsks tells that a dialog waits for the session's person. The turn goes on, so
// nothing of what the end of one looks at is looked at.
func (r *runner) tellAsks(ctx context.Context) error {
	repo, ok := r.findRepo(r.call.Cwd)
	if !ok {
		return nil
	}
	targets, err := r.route(r.places(repo))
	if err != nil || len(targets) == 0 {
		return err
	}
	a, err := r.ask(ctx, []send{{event: r.call.Event, at: targets[0].at}})
	if a.Context != "" && len(r.call.Host.Takes) > 0 {
		r.spool.QueueContext(a.Context)
	}
	return err
}

// finish tidies up what the session leaves on disk.
func (r *runner) finish() {
	switch r.call.Event {
	case wire.HookSessionEnd:
		r.leave(!r.unheard)
		r.spool.RemoveSession()
		r.prune()
	case wire.HookSessionStart:
		r.prune()
	}
}

// A send is one event for one repository.
type send struct {
	event  wire.HookEvent
	at     *place
	paths  []string
	under  []string      // selectors of what more is about to be written
	as     *record.Owner // in whose name, if not that of the session that speaks
	untold bool          // no hook told of the edit
	// lead tells that it must be answered before the others are sent.
	lead bool
}

// plan says what to send, in order. Nothing is sent outside of repositories
// with a remote.
func (r *runner) plan(ctx context.Context) ([]send, error) {
	c := r.call
	targets, err := r.targets(ctx)
	if err != nil {
		return nil, err
	}
	if targets, err = r.route(targets); err != nil || len(targets) == 0 {
		return nil, err
	}
	var sends []send
	first := c.Event == wire.HookSessionStart
	if !c.Host.StartsSessions() && !r.spool.Has("begun") {
		first = true
		sends = append(sends, send{event: wire.HookSessionStart, at: targets[0].at, lead: true})
	}
	late := r.missing(ctx, targets)
	if c.Event == wire.HookStop {
		commands, err := r.route(r.unreported(ctx, targets))
		if err != nil {
			r.log(err)
		}
		late = join(late, commands)
	}
	for _, t := range late {
		sends = append(sends, send{event: wire.HookPostEdit, at: t.at, paths: t.paths, as: t.as, untold: t.untold, lead: true})
	}
	if c.Event != "" && c.Tool != host.Foreign && !(first && c.At == host.BeforeModel) {
		for _, t := range targets {
			sends = append(sends, send{event: c.Event, at: t.at, paths: t.paths, under: t.under})
		}
	}
	return sends, nil
}

// join adds targets to a list that may have the same repositories.
func join(list, more []target) []target {
	for _, t := range more {
		for i := range list { // a hook told of the command that changed them
			if l := &list[i]; l.untold && l.at.Root == t.at.Root {
				l.paths = slices.DeleteFunc(l.paths, func(p string) bool { return slices.Contains(t.paths, p) })
			}
		}
		list = slices.DeleteFunc(list, func(l target) bool { return l.untold && len(l.paths) == 0 })
		i := slices.IndexFunc(list, func(l target) bool { return l.at.Root == t.at.Root && l.as == nil && !l.untold })
		if i < 0 {
			list = append(list, t)
		} else {
			list[i].paths = appendNew(list[i].paths, t.paths)
		}
	}
	return list
}

// route finds the login of each target and leaves out those that nobody is to
// be told of.
func (r *runner) route(targets []target) ([]target, error) {
	var out []target
	var failed error
	for _, t := range targets {
		login, err := r.Login(Identity{Fingerprints: t.at.now, Was: t.at.was})
		if login.Mended != "" {
			r.mended, login.Mended = login.Mended, ""
			r.log(errors.New(r.mended))
		}
		switch {
		case !login.Local && local.OwnOf(t.at.now[0]) && !t.at.stays(login): // a team cannot know it
		case err != nil:
			failed = err
			said := errors.Is(err, local.ErrOff) || errors.Is(err, local.ErrNone) || errors.Is(err, ErrLeft) // by the person
			if !said {
				r.blind = err
			} else if t.at.was != nil {
				r.over = err
			}
		case login.Leave == Never, login.Leave == IfAsked && !r.asked(t.at.Root): // to ask about it would be to tell
			if left := t.at.left(); left != nil {
				r.over, failed = left, left
			}
		case login.Local || t.at.stays(login) || !r.unknown(t.at):
			t.at.settle(login)
			out = append(out, t)
		}
	}
	if len(out) > 0 && failed != nil {
		r.log(failed)
		failed = nil
	}
	return out, failed
}

// ask sends events, to each service its own, and merges the answers: one block
// is a block of all.
func (r *runner) ask(ctx context.Context, sends []send) (host.Answer, error) {
	var all host.Answer
	var failed error
	asked := 0
	for len(sends) > 0 {
		login := sends[0].at.login
		var these, others []send
		for _, s := range sends {
			if s.at.login == login {
				these = append(these, s)
			} else {
				others = append(others, s)
			}
		}
		sends = others
		a, err := r.askOne(ctx, login, these)
		if err != nil {
			r.lost(these)
			failed = err
			continue
		}
		asked++
		all.Block = all.Block || a.Block
		all.Reason = strings.TrimPrefix(all.Reason+"\n"+a.Reason, "\n")
		all.Context = spool.JoinContexts(all.Context, a.Context)
	}
	if asked == 0 {
		return host.Answer{}, failed
	}
	if failed != nil {
		r.log(failed)
	}
	all.Reason = strings.TrimSuffix(all.Reason, "\n")
	return all, nil
}

// askOne asks one service.
func (r *runner) askOne(ctx context.Context, login Login, sends []send) (host.Answer, error) {
	if err := r.connect(login); err != nil {
		return host.Answer{}, err
	}
	replies := make([]wire.HookReply, len(sends))
	errs := make([]error, len(sends))
	requests := make([]wire.HookRequest, len(sends))
	own := slices.IndexFunc(sends, func(s send) bool { return s.as == nil })
	missed, stale := 0, 0
	if login.Edge == "" || own >= 0 && tells(sends[own].event) { // what the edge decides, the server does not hear
		missed, stale = r.spool.TakeCount(spool.FailOpens), r.spool.TakeCount(spool.StaleWrites)
	}
	if own >= 0 {
		errs[own] = errUnsent
	}
	var unheard []string
	if own >= 0 && tells(sends[own].event) {
		unheard = r.spool.TakeUnheard(login.Server)
	}
	lost := func(i int) bool { return errs[i] != nil || replies[i].Unchecked != "" } // the service may have answered all the same
	defer func() {
		if own < 0 || lost(own) {
			r.spool.Count(spool.FailOpens, missed) // still to be told
			r.spool.Count(spool.StaleWrites, stale)
			r.spool.KeepUnheard(login.Server, unheard...)
		}
		for i, req := range requests {
			if lost(i) && sends[i].as == nil && req.DedupeKey != "" {
				r.spool.KeepUnheard(login.Server, req.DedupeKey)
			}
		}
	}()
	r.writing(sends)
	var wait sync.WaitGroup
	stamps := make([]map[string]string, len(sends))
	for i, s := range sends {
		stamps[i] = stampsOf(s)
		req := r.request(ctx, s)
		requests[i] = req
		if i == own {
			req.FailOpens, req.StaleWrites, req.Unheard = missed, stale, unheard
		}
		if s.lead || i == len(sends)-1 {
			if replies[i], errs[i] = r.evaluate(ctx, req); errs[i] != nil && s.lead {
				r.breaker.Failed(errs[i]) // what follows would fail too, and an agent waits
				return host.Answer{}, errs[i]
			}
			if errs[i] == nil && len(replies[i].WantLines) > 0 && replies[i].Decision != wire.Block {
				replies[i] = r.askAgain(ctx, s, req, replies[i])
			}
			continue
		}
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil { // a panic here would end the process with 2
					errs[i] = fmt.Errorf("panic: %v", p)
				}
			}()
			replies[i], errs[i] = r.evaluate(ctx, req)
		})
	}
	wait.Wait()
	failures := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(failures) == len(sends) {
		r.breaker.Failed(failures[0])
		return host.Answer{}, failures[0]
	}
	for _, err := range failures {
		r.log(err)
	}
	if !r.decidedByNobody(replies, errs) {
		if r.breaker.Count() > 0 {
			r.spool.Unshare(spool.OutageKey(r.login.Server))
		}
		r.breaker.Succeeded()
	}
	r.enrol(sends, replies, errs)
	for i, s := range sends {
		if errs[i] != nil {
			r.lost(sends[i : i+1])
			continue
		}
		r.takeIn(s, requests[i], replies[i], stamps[i])
	}
	r.reap(ctx, sends)
	return merge(sends, replies, errs), nil
}

// takeIn keeps what an answer asks for or tells.
func (r *runner) takeIn(s send, req wire.HookRequest, reply wire.HookReply, stamps map[string]string) {
	r.keepWants(s.at.Root, reply.Wants)
	r.startChecks(s, reply.MergeChecks)
	r.endChecks(s, reply)
	r.keepStatusLine(s, reply)
	r.keepStalePolicy(s, reply)
	r.keepStash(s, reply)
	if s.event == wire.HookPostEdit {
		r.noteSent(s, req.Repo.BaseSHA, req.Analysis, stamps)
		r.keepRecheck(s, req.Analysis)
		r.written(s)
	}
	r.remember(s, reply)
	r.startWatcher(s)
	r.keepWatch(s, reply.Watch)
	if s.event != wire.HookSessionStart {
		return
	}
	if reply.SessionID == nil && !r.asked(s.at.Root) {
		r.spool.Share(unknownKey(s.at), strconv.FormatInt(time.Now().Unix(), 10))
	}
	if r.Unindexed != nil && reply.SessionID != nil && reply.IndexVersion == 0 {
		r.Unindexed(s.at.Root)
	}
}

// errUnsent stands for the answer to an event that has not been sent yet.
var errUnsent = errors.New("not sent")

// unknownPause is how long a repository that the service does not know is left
// in peace, where only the user's own hooks speak for it.
const unknownPause = 10 * time.Minute

func unknownKey(at *place) string { return "unknown-" + spool.Hash(at.fingerprints...)[:24] }

// unknown reports whether the service said a moment ago that it does not know
// a repository in which nobody asked for it.
func (r *runner) unknown(at *place) bool {
	since, err := strconv.ParseInt(r.spool.Shared(unknownKey(at)), 10, 64)
	return err == nil && time.Since(time.Unix(since, 0)) < unknownPause && !r.asked(at.Root)
}

// merge makes one answer of the replies that came.
func merge(sends []send, replies []wire.HookReply, errs []error) host.Answer {
	var a host.Answer
	var reasons, contexts []string
	several := map[*place]bool{}
	for _, s := range sends {
		several[s.at] = true
	}
	for i, reply := range replies {
		if errs[i] != nil || sends[i].as != nil {
			continue
		}
		if reply.Decision == wire.Block && sends[i].event == sends[len(sends)-1].event {
			a.Block = true
			reasons = append(reasons, reply.Reason)
		}
		text := reply.InjectContext
		if reply.Decision == wire.Warn && reply.Reason != "" && !strings.Contains(text, reply.Reason) {
			text = spool.JoinContexts(reply.Reason, text)
		}
		if text != "" && len(several) > 1 {
			text = "[" + sends[i].at.name() + "]\n" + text
		}
		if text != "" {
			contexts = append(contexts, text)
		}
	}
	a.Reason = strings.Join(reasons, "\n")
	a.Context = strings.Join(contexts, "\n\n")
	return a
}

// connect gets ready to talk to the service, or says why it cannot.
func (r *runner) connect(login Login) error {
	if login.Server == "" || login.Token == "" {
		return fmt.Errorf("not logged in: run svc login")
	}
	r.login = login
	r.client = &post.Client{Server: login.Server, Token: login.Token, Agent: "svc/" + r.Version, Getenv: r.Getenv, ConfigDir: r.ConfigDir,
		Edge: login.Edge, EdgeKey: login.EdgeKey}
	r.breaker = r.spool.Breaker(login.Server, login.MachineID)
	r.client.Brief = r.breaker.Brief()
	return nil
}

// evaluate sends one request within the host's budget. What an agent waits for
// before it edits has one budget for all that is asked.
func (r *runner) evaluate(ctx context.Context, req wire.HookRequest) (wire.HookReply, error) {
	budget := r.call.Host.Budget(req.Event)
	if !tells(req.Event) {
		r.begun.Do(func() { r.asking = time.Now() })
		budget -= time.Since(r.asking)
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return r.client.Evaluate(ctx, req)
}

// analysis returns the facts about changed files, or nil.
func (r *runner) analysis(ctx context.Context, root, base string, paths, along []string) *coord.Analysis {
	if r.Analyze == nil || len(paths) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(analyzeTimeout))
	defer cancel()
	type read struct {
		facts *coord.Analysis
		err   error
	}
	done := make(chan read, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil { // here nobody else would, and hosts read the exit as a block
				done <- read{nil, fmt.Errorf("panic: %v", p)}
			}
		}()
		a, err := r.Analyze(ctx, root, base, paths, along, r.login.DataMode == coord.DataMetadataOnly)
		done <- read{a, err}
	}()
	var got read
	select {
	case got = <-done:
	case <-after(ctx, patience.Of(analyzeGrace)):
		// A reader that got lost in a file does not hear of it. It ends with the process.
		got.err = fmt.Errorf("reading %d files took too long", len(paths)+len(along))
	}
	if got.err != nil {
		r.log(fmt.Errorf("analyze: %w", got.err))
		return nil
	}
	return got.facts
}

// after is closed a while after ctx has ended.
func after(ctx context.Context, d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	context.AfterFunc(ctx, func() { time.AfterFunc(d, func() { close(over) }) })
	return over
}
