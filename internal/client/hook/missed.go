package hook

import (
	"time"

	"github.com/svc-hq/svc/internal/client/host"
)

// Missed tells how many events of this machine a service has not answered
// since it last did, and when the last of them was. temp is "" for the
// system's temporary folder.
func Missed(temp, server string) (count int, last time.Time) {
	b := openSpool(temp, "", "").breaker(server)
	return b.count, b.last
}

// outageKey marks that a person was told of an outage.
func (r *runner) outageKey() string { return "outage-" + hashed(r.login.Server)[:16] }

// noticeAfter is how many events go unanswered before a person hears of it: one
// may be a hiccup.
const noticeAfter = 2

// notice is what a person is shown, once, when their agent goes on unchecked:
// in hosts that have a line for it.
func (r *runner) notice() (host.Output, bool) {
	if r.call == nil || r.state == nil || r.state.count < noticeAfter || r.login.Server == "" || r.spool.shared(r.outageKey()) != "" {
		return host.Output{}, false
	}
	out, ok := r.call.Notice("svc: " + r.login.Server + " does not answer; your agent goes on unchecked. svc doctor says more.")
	if ok {
		r.spool.share(r.outageKey(), "told")
	}
	return out, ok
}
