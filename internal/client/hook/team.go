package hook

import (
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// maxOffered is how many tasks an idle teammate is told of at once.
const maxOffered = 3

// offer tells an idle teammate which tasks of its team are free, each once: it
// goes on working with what it is told, and must be able to stop.
func (r *runner) offer() host.Output {
	var words []string
	for _, t := range host.FreeTasks(r.call.Team, r.Getenv) {
		key := "offered-" + t.ID
		if len(words) == maxOffered || r.spool.Has(key) {
			continue
		}
		r.spool.Put(key, "")
		words = append(words, fmt.Sprintf("task %s (%s)", t.ID, peertext.QuotedText(t.Title, 80)))
	}
	if len(words) == 0 || !r.spool.Remembers() {
		return r.call.Quiet()
	}
	return host.Output{Exit: 2, Stderr: "svc: nobody has taken " + strings.Join(words, ", ") +
		" of your team. Take one with TaskUpdate (owner, status in_progress) if you can do it; otherwise stop.\n"}
}
