package hook

import (
	"context"
	"errors"

	"github.com/svc-hq/svc/internal/client/hook/post"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// unanswered counts the event of this run, if a service was to be asked and
// did not answer.
func (r *runner) unanswered() {
	if r.breaker != nil && r.spool != nil && r.call != nil && r.call.Event != "" && r.call.Event != wire.HookSessionEnd {
		r.spool.Count(spool.FailOpens, 1)
	}
}

// tells reports whether the answer to an event reaches the agent whole. Where an
// edit is refused there may be no room beside the reason.
func tells(event wire.HookEvent) bool { return event != wire.HookPreEdit && event != wire.HookPreShell }

// unchecked is what to leave when an event failed open: nothing, except where
// nobody looked at an edit. Its agent is told at that edit, or with the next
// event that the host shows it something at, and its person once.
func (r *runner) unchecked(why error) host.Output {
	if r.blind != nil {
		return r.unprotected()
	}
	if r.over != nil && r.call != nil && r.spool != nil && r.call.Host.TakesAt(r.call.At) && !r.spool.Has("over") {
		r.spool.Put("over", "")
		out, _ := r.call.Render(host.Answer{Context: "svc does not check edits in this clone any more: " + r.over.Error() + "."})
		return out
	}
	if r.call == nil || r.breaker == nil || r.spool == nil || r.login.Server == "" {
		return r.quiet()
	}
	out := r.call.Quiet()
	if !tells(r.call.Event) {
		var later string
		out, later = r.call.Render(host.Answer{Context: r.uncheckedWords(why)})
		if later != "" && len(r.call.Host.Takes) > 0 && r.breaker.Count() == 0 {
			r.spool.QueueContext(later) // of the first of them: in a long outage one is enough
		}
	}
	if line, ok := r.notice(why); ok {
		out = out.With(line)
	}
	return out
}

// decidedByNobody reports whether an answer says that nobody looked at the edit:
// the edge could not reach the server in time, or the server its database. Such
// an edit counts as unanswered, and its agent is told.
func (r *runner) decidedByNobody(replies []wire.HookReply, errs []error) bool {
	for i := range replies {
		if errs[i] != nil || replies[i].Unchecked == "" {
			continue
		}
		r.nobody = true
		r.spool.Count(spool.FailOpens, 1)
		r.breaker.Failed(context.DeadlineExceeded)
		if replies[i].InjectContext == "" {
			replies[i].InjectContext = r.uncheckedWords(context.DeadlineExceeded)
		}
	}
	return r.nobody
}

func (r *runner) uncheckedWords(why error) string {
	return uncheckedWords(r.call, r.login.Server+" "+fault(why))
}

// unprotected is what to leave where something of svc's own is broken, so that
// no service can be asked: a file, the local service, what the host told. Before
// a tool the agent is told each time, its person once.
func (r *runner) unprotected() host.Output {
	c := r.call
	switch {
	case r.host == nil:
		return host.Output{}
	case c == nil: // the host's input did not come whole
		c = host.Unread(r.host, r.event)
	}
	out := c.Quiet()
	if c.At == host.BeforeTool {
		out, _ = c.Render(host.Answer{Context: uncheckedWords(c, excerpt.Text(r.blind.Error(), maxFault))})
	}
	if r.spool == nil {
		return out
	}
	key := "blind-" + spool.Hash(r.blind.Error())[:16]
	line, ok := c.Notice("svc: " + excerpt.Text(r.blind.Error(), maxFault) + "; your agent goes on unchecked.")
	if ok && r.spool.Shared(key) == "" {
		r.spool.Share(key, "told")
		out = out.With(line)
	}
	return out
}

// maxFault is how long what is wrong may be said to be, in characters.
const maxFault = 400

// fault says what is wrong with a service that did not answer. One that is far
// away or busy is not gone.
func fault(why error) string {
	if f := (*post.Fault)(nil); errors.As(why, &f) {
		return f.Words
	}
	if spool.Slow(why) {
		return "did not answer in time"
	}
	return "does not answer"
}

// noticeAfter is how many events go unanswered before a person hears of it: one
// may be a hiccup.
const noticeAfter = 2

// notice is what a person is shown, once, when their agent goes on unchecked:
// in hosts that have a line for it.
func (r *runner) notice(why error) (host.Output, bool) {
	if r.breaker.Count() < noticeAfter {
		return host.Output{}, false
	}
	key := spool.OutageKey(r.login.Server)
	if r.spool.Shared(key) != "" {
		return host.Output{}, false
	}
	out, ok := r.call.Notice("svc: " + r.login.Server + " " + fault(why) + "; your agent goes on unchecked. svc doctor says more.")
	if ok {
		r.spool.Share(key, "told")
	}
	return out, ok
}
