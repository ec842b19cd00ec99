package hook

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Work of others that is related to a session's is merged with it and shown to
// the languages' checkers in a process of its own, which no agent waits for.
// What it finds lies in a file until the next hook tells it.

// checkPause is how long after one check the edits of a turn start no other;
// the end of the turn always does.
const checkPause = 20 * time.Second

func mergedName(root string) string { return "merged-" + hashed(root)[:24] }

// startChecks begins a check of the working copy with the work of others.
func (r *runner) startChecks(s send, checks []wire.WantedCheck) {
	if r.MergeCheck == nil || len(checks) == 0 || s.as != nil || r.spool.base == "" || r.login.MachineID == "" {
		return
	}
	key := "merging-" + hashed(s.at.Root)[:24]
	began, err := strconv.ParseInt(r.spool.shared(key), 10, 64)
	if err == nil && time.Since(time.Unix(began, 0)) < checkPause && s.event != wire.HookStop {
		return
	}
	data, err := json.Marshal(checks)
	if err != nil {
		return
	}
	r.spool.share(key, strconv.FormatInt(time.Now().Unix(), 10))
	r.MergeCheck(s.at.Root, r.login.MachineID, string(data), filepath.Join(r.spool.base, mergedName(s.at.Root)))
}

// LeaveMerged leaves what a check found for the next hook; nothing takes back
// what the one before found.
func LeaveMerged(result, text string) error {
	if text != "" {
		return replaceFile(result, []byte(text))
	}
	if err := os.Remove(result); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// tellMerged queues what the checks of the repositories found, once.
func (r *runner) tellMerged(sends []send) {
	if r.MergeCheck == nil || r.spool.base == "" {
		return
	}
	for _, s := range sends {
		text := r.spool.shared(mergedName(s.at.Root))
		if text == "" || s.as != nil {
			continue
		}
		if told := "checked-" + hashed(peertext.Unmarked(text))[:24]; !r.spool.has(told) {
			r.spool.put(told, "")
			r.spool.queueContext(text)
		}
	}
}
