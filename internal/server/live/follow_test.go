package live_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A step is something that happens to the records, with its event.
type step struct {
	name string
	do   func(*world, *store.Tx) error
}

// steps are one story in which every kind of record that the index holds comes
// and goes. Each must change what the index tells.
var steps = []step{
	{"a session starts", func(w *world, tx *store.Tx) error {
		return errors.Join(w.session(tx, "s1", ana), w.tell(tx, coord.EventSessionStarted, "s1", api.ID, nil))
	}},
	{"another one starts", func(w *world, tx *store.Tx) error {
		return errors.Join(w.session(tx, "s2", bob), w.tell(tx, coord.EventSessionStarted, "s2", api.ID, nil))
	}},
	{"an intent is declared for the first", func(w *world, tx *store.Tx) error {
		_, err := w.intent(tx, "int1", ana, coord.IntentActive, "docs/**")
		return errors.Join(err, tx.BindSession(w.ctx, "s1", "int1"), w.tell(tx, coord.EventIntentDeclared, "int1", api.ID, nil))
	}},
	{"its scope grows", func(w *world, tx *store.Tx) error {
		_, err := w.intent(tx, "int1", ana, coord.IntentActive, "docs/**", "a.go")
		return errors.Join(err, w.tell(tx, coord.EventIntentUpdated, "int1", api.ID, nil))
	}},
	{"a file is changed", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.SaveChange(w.ctx, org, change("s1", "a.go", "int1", "s1", coord.Hunk{Start: 1, Count: 9, LinesHash: "x"})),
			w.tell(tx, coord.EventChangeRecorded, "s1", api.ID, map[string]any{"copy": "s1"}))
	}},
	{"and by the other, in its own copy", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.SaveChange(w.ctx, org, change("s2", "a.go", "s2", "s2", coord.Hunk{Start: 5, Count: 1, LinesHash: "y"})),
			w.tell(tx, coord.EventChangeRecorded, "s2", api.ID, map[string]any{"copy": "s2"}))
	}},
	{"a policy is set", func(w *world, tx *store.Tx) error {
		most := 3
		return errors.Join(tx.SavePolicy(w.ctx, org, api.ID, policy.Rules{ExclusiveMaxFiles: &most}),
			w.tell(tx, coord.EventPolicyUpdated, api.ID, api.ID, nil))
	}},
	{"two repos are linked", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.InsertProject(w.ctx, org, coord.Project{ID: "p", Name: "P"}), tx.AddProjectRepo(w.ctx, "p", api.ID),
			tx.AddProjectRepo(w.ctx, "p", web.ID), w.tell(tx, coord.EventProjectCreated, "p", "", nil))
	}},
	{"code comes to use a contract", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.SaveContract(w.ctx, org, store.ContractRow{
			Repo: api,
			Path: "a.go",
			Key:  "http:GET /x",
			Role: coord.Uses,
			Line: 7,
		}, false),
			w.tell(tx, coord.EventContractChanged, "http:GET /x", api.ID, map[string]any{"paths": []any{"a.go"}}))
	}},
	{"and no longer uses it", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.DeleteContract(w.ctx, org, api.ID, "a.go", "http:GET /x", coord.Uses),
			w.tell(tx, coord.EventContractChanged, "http:GET /x", api.ID, map[string]any{"paths": []any{"a.go"}}))
	}},
	{"a conflict is overridden", closing("fp1", coord.ConflictOverridden, nil, coord.EventConflictOverridden)},
	{"one is called false", closing("fp2", coord.ConflictResolved, ptr(coord.ResolvedFalsePositive), coord.EventConflictResolved)},
	{"work is merged that no intent had", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.InsertMerged(w.ctx, org, store.MergedRow{
			RepoID:  api.ID,
			MergeID: "m1",
			At:      tx.Now,
			Facts:   coord.FileFacts{Path: "b.go"},
		}),
			w.tell(tx, coord.EventChangeRecorded, "m1", api.ID, map[string]any{"merge": "m1"}))
	}},
	{"a change is taken back", func(w *world, tx *store.Tx) error {
		gone := change("s2", "a.go", "s2", "s2")
		gone.Facts.Status = coord.FileUnchanged
		return errors.Join(tx.SaveChange(w.ctx, org, gone), w.tell(tx, coord.EventChangeRecorded, "s2", api.ID, map[string]any{"copy": "s2"}))
	}},
	{"a session is released", func(w *world, tx *store.Tx) error {
		_, err := w.intent(tx, "int1", bob, coord.IntentActive, "a.go")
		return errors.Join(err, tx.ReleaseSessions(w.ctx, "int1", bob.ID), w.tell(tx, coord.EventIntentHandedOff, "int1", api.ID, nil))
	}},
	{"an intent is merged", func(w *world, tx *store.Tx) error {
		_, err := w.intent(tx, "int1", bob, coord.IntentMerged, "a.go")
		merged := store.MergedRow{RepoID: api.ID, MergeID: "int1", IntentID: ptr("int1"), At: tx.Now, Facts: coord.FileFacts{Path: "a.go"}}
		return errors.Join(err, tx.InsertMerged(w.ctx, org, merged), w.tell(tx, coord.EventIntentClosed, "int1", api.ID, nil))
	}},
	{"a session ends", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.EndSession(w.ctx, "s2", tx.Now), w.tell(tx, coord.EventSessionEnded, "s2", api.ID, nil))
	}},
	{"it is told how two versions go together", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.SaveLineMap(w.ctx, org, api.ID, coord.LineMap{From: "v1", To: "v2", Shifts: []coord.LineShift{}}),
			w.tell(tx, coord.EventChangeRecorded, "s1", api.ID, map[string]any{"maps": 1}))
	}},
	{"two weeks pass", func(w *world, tx *store.Tx) error {
		tx.Now = tx.Now.Add(14*24*time.Hour + 2*time.Hour)
		return w.tell(tx, coord.EventMessageSent, "m", api.ID, nil)
	}},
	{"the repos are no longer linked", func(w *world, tx *store.Tx) error {
		return errors.Join(tx.DeleteProject(w.ctx, "p"), w.tell(tx, coord.EventProjectDeleted, "p", "", nil))
	}},
}

func ptr[T any](v T) *T { return &v }

// closing is a conflict that ends.
func closing(fp string, status coord.ConflictStatus, how *coord.Resolution, event coord.EventType) func(*world, *store.Tx) error {
	return func(w *world, tx *store.Tx) error {
		row := store.ConflictRow{Keys: []string{"path a.go"}, Conflict: coord.Conflict{
			ID:          "c-" + fp,
			OrgID:       org,
			Number:      int(fp[2] - '0'),
			Kind:        coord.EditOverlap,
			Severity:    coord.SeverityWarn,
			Status:      status,
			Resolution:  how,
			Repo:        api,
			Fingerprint: fp,
			ClosedAt:    tx.Now.Ptr(),
		}}
		return errors.Join(tx.SaveConflict(w.ctx, &row), w.tell(tx, event, row.ID, api.ID, map[string]any{"fingerprint": fp}))
	}
}

// An index that follows the log tells at every moment what one tells that was
// read anew, whether it heard of each commit or of several at once.
func TestAnIndexThatFollowsIsOneReadAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		late := live.New(st)
		before := w.seen(w.set)
		w.seen(late)
		for i, s := range steps {
			w.commit(func(tx *store.Tx) error { return s.do(w, tx) })
			got, want := w.seen(w.set), w.seen(live.New(st))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: read anew (-), followed (+):\n%s", s.name, diff)
			}
			if maps.Equal(before, want) {
				t.Errorf("%s: nothing changed", s.name)
			}
			before = want
			if i%5 == 4 {
				late.Stale([]string{org})
				if diff := cmp.Diff(want, w.seen(late)); diff != "" {
					t.Errorf("%s: read anew (-), followed late (+):\n%s", s.name, diff)
				}
			}
		}
	})
}

// However far an index has fallen behind, it misses nothing.
func TestAnIndexThatFellFarBehindMissesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		w.seen(w.set)
		w.commit(func(tx *store.Tx) error {
			for i := range 600 { // more than are read at once, and what counts comes last
				if err := w.tell(tx, coord.EventMessageSent, fmt.Sprint("m", i), api.ID, nil); err != nil {
					return err
				}
			}
			return steps[0].do(w, tx)
		})
		if diff := cmp.Diff(w.seen(live.New(st)), w.seen(w.set)); diff != "" {
			t.Errorf("read anew (-), followed (+):\n%s", diff)
		}
	})
}

// What a transaction sees, its draft knows, though nothing is committed yet;
// and once the transaction failed nobody knows it.
func TestADraftKnowsWhatItsTransactionSees(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		before := w.seen(w.set)
		failed := errors.New("no")
		err := st.Write(w.ctx, org, func(tx *store.Tx) error {
			if err := steps[0].do(w, tx); err != nil {
				return err
			}
			return w.set.Within(w.ctx, tx, org, func(d *live.Draft) error {
				if d.Worker("s1") == nil {
					t.Error("the draft does not know what its transaction wrote")
				}
				return failed
			})
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
		w.set.Stale([]string{org})
		if diff := cmp.Diff(before, w.seen(w.set)); diff != "" {
			t.Errorf("after the transaction failed:\n%s", diff)
		}
	})
}

// A reader is told of what it heard of, even if the wake-up is still on its
// way; a write that failed after all makes everybody forget.
func TestHeardAndUndone(t *testing.T) {
	st := storetest.OpenDSN(t, t.TempDir()+"/svc.db") // where one process is alone, nobody asks
	w := newWorld(t, st)
	w.seen(w.set)
	var seq int64
	err := st.Write(w.ctx, org, func(tx *store.Tx) (err error) {
		if err = steps[0].do(w, tx); err == nil {
			seq, err = tx.LastSeq(w.ctx, org)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	knows := func() (known bool) {
		err := w.set.View(w.ctx, org, func(ix *engine.Index) error {
			known = ix.Worker("s1") != nil
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	if knows() {
		t.Fatal("nobody told it")
	}
	if w.set.Heard(org, seq-1); knows() {
		t.Error("it looked again for an event that it knew")
	}
	if w.set.Heard(org, seq); !knows() {
		t.Error("it does not know an event that it was told of")
	}
	if err := st.Write(w.ctx, org, func(tx *store.Tx) error { return tx.EndSession(w.ctx, "s1", tx.Now) }); err != nil {
		t.Fatal(err) // without an event: only who reads anew can know
	}
	if !knows() {
		t.Fatal("it read the records without being told")
	}
	if w.undone(); knows() {
		t.Error("it still knows what it knew before a write was undone")
	}
	w.set.Stale([]string{"another org"}) // nobody asked for it: nothing to note
}

// A merge reads what it merged, and not all that was merged in two weeks: it
// holds the lock of its org meanwhile.
func TestAMergeReadsItselfAlone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		w.seen(w.set)
		merge := steps[slices.IndexFunc(steps, func(s step) bool { return s.name == "work is merged that no intent had" })]
		w.commit(func(tx *store.Tx) error { return merge.do(w, tx) })
		var asked []string
		st.Observed = func(statement string) {
			if strings.Contains(statement, "FROM merged_changes") {
				asked = append(asked, statement)
			}
		}
		w.seen(w.set)
		if len(asked) != 1 || !strings.Contains(asked[0], "merge_id = ") {
			t.Errorf("asked %q", asked)
		}
	})
}
