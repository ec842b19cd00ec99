package hook

import (
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/core/wire"
)

// unanswered counts the event of this run, if a service was to be asked and
// did not answer.
func (r *runner) unanswered() {
	if r.breaker != nil && r.spool != nil && r.call != nil && r.call.Event != "" && r.call.Event != wire.HookSessionEnd {
		r.spool.Miss(1)
	}
}

// tells reports whether the answer to an event reaches the agent whole. Where an
// edit is refused there may be no room beside the reason.
func tells(event wire.HookEvent) bool { return event != wire.HookPreEdit && event != wire.HookPreShell }

// noticeAfter is how many events go unanswered before a person hears of it: one
// may be a hiccup.
const noticeAfter = 2

// notice is what a person is shown, once, when their agent goes on unchecked:
// in hosts that have a line for it.
func (r *runner) notice() (host.Output, bool) {
	if r.call == nil || r.breaker == nil || r.breaker.Count() < noticeAfter || r.login.Server == "" {
		return host.Output{}, false
	}
	key := spool.OutageKey(r.login.Server)
	if r.spool.Shared(key) != "" {
		return host.Output{}, false
	}
	out, ok := r.call.Notice("svc: " + r.login.Server + " does not answer; your agent goes on unchecked. svc doctor says more.")
	if ok {
		r.spool.Share(key, "told")
	}
	return out, ok
}
