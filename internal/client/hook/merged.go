package hook

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Work of others that is related to a session's is merged with it and shown to
// the languages' checkers in a process of its own, which no agent waits for.
// What it finds lies in a file until the next hook tells it.

// checkPause is how long after one check the edits of a turn start no other;
// the end of the turn always does.
const checkPause = 20 * time.Second

func mergedName(root string) string { return "merged-" + spool.Hash(root)[:24] }

// startChecks begins a check of the working copy with the work of others.
func (r *runner) startChecks(s send, checks []wire.WantedCheck) {
	if r.MergeCheck == nil || len(checks) == 0 || s.as != nil || !r.spool.Remembers() || r.login.MachineID == "" {
		return
	}
	key := "merging-" + spool.Hash(s.at.Root)[:24]
	began, err := strconv.ParseInt(r.spool.Shared(key), 10, 64)
	if err == nil && time.Since(time.Unix(began, 0)) < checkPause && s.event != wire.HookStop {
		return
	}
	data, err := json.Marshal(checks)
	if err != nil {
		return
	}
	r.spool.Share(key, strconv.FormatInt(time.Now().Unix(), 10))
	r.MergeCheck(s.at.Root, r.login.MachineID, string(data), r.spool.SharedFile(mergedName(s.at.Root)))
}

// endChecks takes back what a check found where nobody's work is related to the
// session's any more: it landed, was given up, or was undone.
func (r *runner) endChecks(s send, reply wire.HookReply) {
	asked := s.event == wire.HookPostEdit || s.event == wire.HookStop
	if r.MergeCheck != nil && asked && s.as == nil && r.spool.Remembers() && reply.SessionID != nil && len(reply.MergeChecks) == 0 {
		if err := LeaveMerged(r.spool.SharedFile(mergedName(s.at.Root)), ""); err != nil {
			r.log(err)
		}
	}
}

// LeaveMerged leaves what a check found for the next hook; nothing takes back
// what the one before found.
func LeaveMerged(result, text string) error {
	if text != "" {
		return spool.Replace(result, []byte(text))
	}
	if err := os.Remove(result); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// tellMerged queues what the checks of the repositories found, once, and once
// that it is over.
func (r *runner) tellMerged(sends []send) {
	if r.MergeCheck == nil || !r.spool.Remembers() {
		return
	}
	for _, s := range sends {
		text := r.spool.Shared(mergedName(s.at.Root))
		if s.as != nil {
			continue
		}
		holds := "merged-told-" + spool.Hash(s.at.Root)[:24]
		if text == "" {
			if r.spool.Has(holds) {
				for _, told := range append(r.spool.Entries("checked-"), holds) { // should it come back, it is told again
					r.spool.Take(told)
				}
				r.spool.QueueContext("svc merge check: what it found in your work merged with that of others no longer holds.")
			}
			continue
		}
		r.spool.Put(holds, "")
		if told := "checked-" + spool.Hash(peertext.Unmarked(text))[:24]; !r.spool.Has(told) {
			r.spool.Put(told, "")
			r.spool.QueueContext(text)
		}
	}
}
