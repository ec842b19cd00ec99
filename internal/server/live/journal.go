package live

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
)

const (
	maxNotes  = 8192    // that are remembered of one org
	maxPiece  = 500     // items of one answer
	maxBytes  = 1 << 20 // of one answer, unless one item alone is larger
	maxShots  = 4       // snapshots under way in one org
	maxDeltas = 16      // encoded for more than one follower
)

// A journal remembers what changed in an index of late, so that whoever keeps a
// copy of a part of it is told no more than that. It is changed under the
// org's lock.
type journal struct {
	epoch string
	from  int64 // every change after this event is in notes
	notes []noted

	mu     sync.Mutex
	shots  []*snapshot
	deltas map[string][]wire.WorkItem
}

type noted struct {
	seq int64
	engine.Note
}

// A snapshot is the list of what a repo held at an event. Its pieces are read
// one after the other; what changes meanwhile is told once they are complete.
type snapshot struct {
	repo  string
	at    int64
	notes []engine.Note
}

// watch notes what fn changes of an index, as of an event.
func (j *journal) watch(ix *engine.Index, seq int64, fn func() error) error {
	ix.Watch(func(n engine.Note) {
		if k := len(j.notes); k == 0 || j.notes[k-1] != (noted{seq, n}) {
			j.notes = append(j.notes, noted{seq, n})
		}
	})
	defer ix.Watch(nil)
	err := fn()
	if over := len(j.notes) - maxNotes; over > 0 {
		j.from = j.notes[over-1].seq
		at := slices.IndexFunc(j.notes, func(n noted) bool { return n.seq > j.from })
		if at < 0 {
			at = len(j.notes)
		}
		j.notes = slices.Clone(j.notes[at:])
	}
	j.drop()
	return err
}

// any reports whether something that changed at an event is of a kind; if it
// cannot tell, it may be.
func (j *journal) any(at int64, is func(engine.Note) bool) bool {
	if j.from >= at {
		return true
	}
	for i := len(j.notes) - 1; i >= 0 && j.notes[i].seq == at; i-- {
		if is(j.notes[i].Note) {
			return true
		}
	}
	return false
}

// restart begins anew: what there was before cannot be compared.
func (j *journal) restart(seq int64) {
	j.epoch, j.from, j.notes = uuid.NewString(), seq, nil
	j.mu.Lock()
	j.shots = nil
	j.mu.Unlock()
	j.drop()
}

func (j *journal) drop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.deltas = nil
}

// since lists what changed of a repo after an event, each thing once.
func (j *journal) since(repo string, after int64) (out []engine.Note) {
	seen := map[engine.Note]bool{}
	for i := len(j.notes) - 1; i >= 0 && j.notes[i].seq > after; i-- {
		if n := j.notes[i].Note; (n.Repo == repo || n.Repo == "") && !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// Frame returns what a copy of a repo's live work lacks: as of an event that
// is in the log, and of all that was committed before it was asked.
func (s *Set) Frame(ctx context.Context, orgID, repo string, have wire.FollowWork) (out wire.WorkFrame, err error) {
	o := s.org(orgID)
	for {
		if err := s.current(ctx, o); err != nil {
			return out, err
		}
		if ok, err := o.frame(repo, have, &out); ok || err != nil {
			return out, err
		}
		// It knows of writes that are under way, and may be undone.
		if err := s.store.AwaitRound(ctx, o.id); err != nil {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
	}
}

func (o *org) frame(repo string, have wire.FollowWork, out *wire.WorkFrame) (ok bool, err error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	switch {
	case o.ix == nil:
		o.hear()
		return false, nil
	case o.seq > o.sure.Load():
		return false, nil
	}
	j := &o.copied
	out.Epoch, out.At = j.epoch, o.seq
	switch {
	case have.Epoch != j.epoch || have.Seen < j.from || have.Seen > o.seq:
		err = j.begin(o.ix, repo, o.seq, out)
	case have.Next != "":
		err = j.piece(o.ix, repo, have, out)
	default:
		err = j.delta(o.ix, repo, have.Seen, out)
	}
	return true, err
}

// begin starts a snapshot.
func (j *journal) begin(ix *engine.Index, repo string, at int64, out *wire.WorkFrame) error {
	j.mu.Lock()
	i := slices.IndexFunc(j.shots, func(s *snapshot) bool { return s.repo == repo && s.at == at })
	var shot *snapshot
	if i >= 0 {
		shot = j.shots[i]
	} else {
		shot = &snapshot{repo, at, ix.Notes(repo)}
		j.shots = append(j.shots, shot)
		j.shots = j.shots[max(0, len(j.shots)-maxShots):]
	}
	j.mu.Unlock()
	out.Reset = true
	return shot.write(ix, 0, out)
}

// piece goes on with a snapshot, or begins anew if it is not there any more.
func (j *journal) piece(ix *engine.Index, repo string, have wire.FollowWork, out *wire.WorkFrame) error {
	at, next, _ := strings.Cut(have.Next, " ")
	seq, err1 := strconv.ParseInt(at, 10, 64)
	from, err2 := strconv.Atoi(next)
	j.mu.Lock()
	i := slices.IndexFunc(j.shots, func(s *snapshot) bool { return s.repo == repo && s.at == seq })
	var shot *snapshot
	if i >= 0 && err1 == nil && err2 == nil && from >= 0 && from <= len(j.shots[i].notes) {
		shot = j.shots[i]
	}
	j.mu.Unlock()
	if shot == nil {
		return j.begin(ix, repo, out.At, out)
	}
	return shot.write(ix, from, out)
}

// write adds the next piece. Its position is that of the beginning: what
// changed since is told after the last piece, as it is by then.
func (s *snapshot) write(ix *engine.Index, from int, out *wire.WorkFrame) error {
	out.At = s.at
	n, err := write(ix, s.notes[from:], out)
	if from += n; from < len(s.notes) {
		out.Next = fmt.Sprintf("%d %d", s.at, from)
	}
	return err
}

// delta tells what changed since an event. All who are at the same place are
// told with one encoding.
func (j *journal) delta(ix *engine.Index, repo string, after int64, out *wire.WorkFrame) error {
	notes := j.since(repo, after)
	if len(notes) == 0 {
		return nil
	}
	if len(notes) > maxPiece {
		return j.begin(ix, repo, out.At, out)
	}
	key := repo + " " + strconv.FormatInt(after, 10)
	j.mu.Lock()
	defer j.mu.Unlock()
	items, known := j.deltas[key]
	if !known {
		if _, err := write(ix, notes, out); err != nil {
			return err
		}
		if j.deltas == nil || len(j.deltas) >= maxDeltas {
			j.deltas = map[string][]wire.WorkItem{}
		}
		j.deltas[key] = out.Items
		return nil
	}
	out.Items = items
	return nil
}

// write encodes things as they are now, and returns how many had room. A delta
// is at most one piece long and is written whole.
func write(ix *engine.Index, notes []engine.Note, out *wire.WorkFrame) (n int, err error) {
	size := 0
	for _, note := range notes {
		if n == maxPiece || size > maxBytes && out.Reset {
			break
		}
		item := wire.WorkItem{Kind: string(note.Kind), Key: note.Key}
		if v := valueOf(ix, note); v != nil {
			text, err := json.Marshal(v, json.Deterministic(true))
			if err != nil {
				return n, err
			}
			item.Value = string(text)
		}
		out.Items = append(out.Items, item)
		size += len(item.Value)
		n++
	}
	return n, nil
}

// Text returns what a note names as copies are told it, empty if it is gone.
func Text(ix *engine.Index, n engine.Note) string {
	var f wire.WorkFrame
	if _, err := write(ix, []engine.Note{n}, &f); err != nil {
		return err.Error()
	}
	return f.Items[0].Value
}

// rulesItem is what Decide and Guard have to know of a repo beside its work.
type rulesItem struct {
	Policy  *policy.Effective
	Demoted []coord.ConflictKind
	Linked  []string // repos it shares a project with
}

// valueOf returns what a note names, nil if it is gone.
func valueOf(ix *engine.Index, n engine.Note) any {
	switch n.Kind {
	case engine.NoteWorker:
		w := ix.Worker(n.Key)
		if w == nil || w.Repo.ID != n.Repo {
			return nil
		}
		if w.Intent != nil && w.Intent.Status == coord.IntentDraft { // its title is its owner's alone
			mute, intent := *w, *w.Intent
			intent.Title, intent.Task, mute.Intent = "", nil, &intent
			return &mute
		}
		return w
	case engine.NoteChange:
		copy, path := engine.CutKey(n.Key)
		if c := ix.Change(n.Repo, copy, path); c != nil {
			return c
		}
	case engine.NoteLines:
		from, to := engine.CutKey(n.Key)
		if m := ix.LineMap(n.Repo, from, to); m != nil {
			return m
		}
	case engine.NoteAccepted:
		if s, ok := ix.Suppression(n.Key); ok {
			return s
		}
	case engine.NoteRules:
		rules, demoted := ix.Rules(n.Repo)
		return rulesItem{rules, demoted, ix.Links(n.Repo)}
	}
	return nil
}
