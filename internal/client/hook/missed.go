package hook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Missed tells how many events of this machine a service has not answered
// since it last did, and when the last of them was. temp is "" for the
// system's temporary folder.
func Missed(temp, server string) (count int, last time.Time) {
	b := openSpool(temp, "", "").breaker(server)
	return b.count, b.last
}

// Heard forgets the events that went unanswered, which a person was told of: the
// service answers again, so the next event need not wait for the end of a pause.
func Heard(temp, server string) {
	s := openSpool(temp, "", "")
	s.breaker(server).succeeded()
	s.unshare("outage-" + hashed(server)[:16])
}

// Memory returns the folder in which hooks remember what outlives one run, and
// why they cannot, if so.
func Memory(temp string) (folder string, err error) {
	folder = spoolFolder(temp)
	if info, err := os.Lstat(folder); err == nil && !gitrepo.Private(info) {
		return folder, fmt.Errorf("%s is not a folder of yours alone", folder)
	}
	s := openSpool(temp, "", "")
	if err := os.MkdirAll(s.base, 0o700); err != nil {
		return folder, err
	}
	try := filepath.Join(s.base, ".try-"+unique())
	if err := os.WriteFile(try, []byte("svc doctor\n"), 0o600); err != nil {
		return folder, errors.Join(err, os.RemoveAll(try))
	}
	return folder, os.Remove(try)
}

// Own reports whether what is in the place of that folder belongs to this user:
// others' is not ours to remove.
func Own(folder string) bool {
	info, err := os.Lstat(folder)
	return err == nil && gitrepo.Owned(info)
}

// ForgetAll makes the folder of Memory anew. What was in it is a convenience.
func ForgetAll(folder string) error { return os.RemoveAll(folder) }

// missedName is the entry in which a session counts, one byte each, its events
// that no service answered.
const missedName = "missed"

// miss counts events of the session that went unanswered.
func (s *spool) miss(n int) {
	if s.base != "" && n > 0 {
		_ = appendTo(filepath.Join(s.session, missedName), strings.Repeat(".", n))
	}
}

// takeMissed returns how many there were, to be told now. In good times it
// costs a look.
func (s *spool) takeMissed() int {
	if !s.knows(missedName) {
		return 0
	}
	return min(len(s.take(missedName)), maxMissed)
}

// maxMissed is as far as a session counts.
const maxMissed = 100_000

// unanswered counts the event of this run, if a service was to be asked and
// did not answer.
func (r *runner) unanswered() {
	if r.state != nil && r.spool != nil && r.call != nil && r.call.Event != "" && r.call.Event != wire.HookSessionEnd {
		r.spool.miss(1)
	}
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
