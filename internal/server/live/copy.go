package live

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Copy is the live work of one repository on another machine, as frames told
// it. It has no lock.
type Copy struct {
	Index *engine.Index
	Repo  wire.EdgeRepo
	Epoch string
	At    int64  // the position in the log, once complete
	Next  string // where its snapshot goes on; empty once it is complete
}

// Take brings the copy forward by a frame. A copy that could not take one is
// of no use any more.
func (c *Copy) Take(f wire.WorkFrame) error {
	if c.Index == nil || f.Reset || f.Epoch != c.Epoch {
		if !f.Reset {
			return fmt.Errorf("a frame of epoch %q, without its beginning", f.Epoch)
		}
		*c = Copy{Index: engine.New(), Epoch: f.Epoch}
	}
	c.Repo = f.Repo
	for _, item := range f.Items {
		if err := c.put(item); err != nil {
			c.Index = nil
			return fmt.Errorf("%s %q: %w", item.Kind, item.Key, err)
		}
	}
	c.At, c.Next = f.At, f.Next
	return nil
}

// Complete reports whether the copy is whole.
func (c *Copy) Complete() bool { return c.Index != nil && c.Next == "" }

func (c *Copy) put(item wire.WorkItem) error {
	gone := item.Value == ""
	switch engine.NoteKind(item.Kind) {
	case engine.NoteWorker:
		if gone {
			c.Index.RemoveWorker(item.Key)
			return nil
		}
		return take(item, c.Index.PutWorker)
	case engine.NoteChange:
		if gone {
			copy, path := engine.CutKey(item.Key)
			c.Index.RemoveChange(c.Repo.ID, copy, path)
			return nil
		}
		return take(item, c.Index.PutChange)
	case engine.NoteLines:
		if gone {
			from, to := engine.CutKey(item.Key)
			c.Index.RemoveLineMap(c.Repo.ID, from, to)
			return nil
		}
		return take(item, func(m *coord.LineMap) { c.Index.PutLineMap(c.Repo.ID, *m) })
	case engine.NoteAccepted:
		c.Index.RemoveSuppression(item.Key)
		if gone {
			return nil
		}
		return take(item, func(s *engine.Suppression) { c.Index.Suppress(*s) })
	case engine.NoteRules:
		return take(item, func(r *rulesItem) {
			c.Index.SetPolicy(c.Repo.ID, policy.Restore(r.Policy))
			c.Index.SetDemoted(c.Repo.ID, r.Demoted)
			c.Index.SetLinks(c.Repo.ID, r.Linked)
		})
	}
	return fmt.Errorf("this svc does not know what that is; update it")
}

func take[T any](item wire.WorkItem, put func(*T)) error {
	v := new(T)
	if err := json.Unmarshal([]byte(item.Value), v); err != nil {
		return err
	}
	put(v)
	return nil
}
