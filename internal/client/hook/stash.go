package hook

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/wire"
)

// All working copies of a clone share one stack of stashes, and git does not
// know who made one: "git stash pop" takes whichever is on top. So it is noted
// which session made a stash, and an agent that is about to take another's is
// told, or kept from it.

// stashMakers are the sessions that made stashes, by the stash's commit.
type stashMakers map[string]string

// maxStashes is how many stashes are known by their maker.
const maxStashes = 100

func (r *runner) stashFile(repo *gitrepo.Repo) string {
	dir, err := r.ConfigDir()
	if err != nil || dir == "" {
		return ""
	}
	return filepath.Join(dir, "trees", spool.Hash("stashes", repo.CommonDir)[:32]+".stashes")
}

func (r *runner) stashMakers(repo *gitrepo.Repo) stashMakers {
	out := stashMakers{}
	data, _ := plain.ReadHere(r.stashFile(repo), plain.State)
	for line := range strings.Lines(string(data)) {
		if id, session, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			out[id] = session
		}
	}
	return out
}

// of returns the stashes that are gone after a git command, as far as it is
// known who made them.
func (m stashMakers) of(repo *gitrepo.Repo, s shellscan.Sweep) (out []wire.GitStash) {
	if len(m) == 0 || s.Verb != "stash pop" && s.Verb != "stash branch" && s.Of != shellscan.Stack {
		return nil
	}
	all, err := repo.Stashes()
	if err != nil {
		return nil
	}
	one, err := repo.Stash(s.Stash)
	for i, stash := range all {
		takes := s.Stash == shellscan.AllStashes || err == nil && stash == one
		if by, known := m[stash.ID]; known && takes && len(out) < maxStashes {
			out = append(out, wire.GitStash{Name: "stash@{" + strconv.Itoa(i) + "}", SessionID: by})
		}
	}
	return out
}

// keepStash notes that the session made the stash that is on top now, if it was
// made while the session's command ran.
func (r *runner) keepStash(s send, reply wire.HookReply) {
	if !r.shell.stashes || s.as != nil || reply.SessionID == nil || r.shell.began.IsZero() {
		return
	}
	top, err := s.at.Stash("")
	file, makers := r.stashFile(s.at.Repo), r.stashMakers(s.at.Repo)
	if err != nil || file == "" || makers[top.ID] != "" || top.Made.Before(r.shell.began.Truncate(time.Second)) {
		return
	}
	line := top.ID + "\t" + *reply.SessionID + "\n"
	if len(makers) < maxStashes {
		_ = spool.Append(file, line)
		return
	}
	all, _ := s.at.Stashes() // the others are gone
	for id, by := range makers {
		if slices.ContainsFunc(all, func(t gitrepo.Stash) bool { return t.ID == id }) {
			line += id + "\t" + by + "\n"
		}
	}
	_ = spool.Replace(file, []byte(line))
}
