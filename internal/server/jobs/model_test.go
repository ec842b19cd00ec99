package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A causeModel is what must be true of the queue, in memory: every cause that
// was added is seen by a run that began after it.
type causeModel struct {
	t     *rapid.T
	st    *store.Store
	ctx   context.Context
	now   time.Time
	added map[string]int      // causes added, by key
	seen  map[string]int      // causes that a finished run had before it began
	held  map[string]*holding // runs under way, by job id
	past  []*holding          // runs whose lease ran out or was ended
}

type holding struct {
	job   store.Job
	seen  int // causes of its key when it was taken
	until time.Time
}

func (m *causeModel) write(fn func(*store.Tx) error) {
	if err := m.st.Write(m.ctx, "", fn); err != nil {
		m.t.Fatal(err)
	}
}

func (m *causeModel) add(t *rapid.T) {
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	wait := time.Duration(rapid.IntRange(0, 20).Draw(t, "wait")) * time.Second
	how := rapid.SampledFrom([]func(context.Context, *store.Tx, jobs.New) error{jobs.Add, jobs.Gather, jobs.Move}).Draw(t, "how")
	m.write(func(tx *store.Tx) error {
		return how(m.ctx, tx, jobs.New{Kind: "k", Key: key, At: tx.Now.Add(wait)})
	})
	m.added[key]++
}

func (m *causeModel) take(t *rapid.T) {
	var taken []store.Job
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	const lease = 30 * time.Second
	m.write(func(tx *store.Tx) (err error) {
		taken, err = tx.TakeJobs(m.ctx, "k", fmt.Sprintf("lease-%d", m.now.UnixNano()), tx.Now.Add(lease), limit)
		return err
	})
	for _, j := range taken {
		if h := m.held[j.ID]; h != nil {
			if m.now.Before(h.until) {
				m.t.Fatalf("job %s was taken while its lease lasted", j.Key)
			}
			m.past = append(m.past, h)
		}
		for id, h := range m.held {
			if id != j.ID && h.job.Key == j.Key {
				m.t.Fatalf("two jobs with the key %s run", j.Key)
			}
		}
		m.held[j.ID] = &holding{job: j, seen: m.added[j.Key], until: m.now.Add(lease)}
	}
	m.now = m.now.Add(time.Millisecond) // leases are named after the moment
}

func (m *causeModel) end(t *rapid.T) {
	if len(m.held) == 0 {
		t.Skip("nothing runs")
	}
	ids := []string{}
	for id := range m.held {
		ids = append(ids, id)
	}
	h := m.held[rapid.SampledFrom(ids).Draw(t, "job")]
	how := rapid.SampledFrom([]string{"finish", "retry", "release"}).Draw(t, "end")
	ok := false
	m.write(func(tx *store.Tx) (err error) {
		switch how {
		case "finish":
			ok, err = tx.FinishJob(m.ctx, h.job.ID, h.job.Lease, nil)
		case "retry":
			ok, err = tx.RetryJob(m.ctx, h.job.ID, h.job.Lease, tx.Now.Add(5*time.Second), "no luck")
		default:
			ok, err = tx.ReleaseJob(m.ctx, h.job.ID, h.job.Lease)
		}
		return err
	})
	if !ok {
		m.t.Fatalf("%s of a held job had no effect", how)
	}
	if how == "finish" {
		m.seen[h.job.Key] = max(m.seen[h.job.Key], h.seen)
	}
	delete(m.held, h.job.ID)
	m.past = append(m.past, h)
}

// late lets a run that lost its lease try to end the job.
func (m *causeModel) late(t *rapid.T) {
	if len(m.past) == 0 {
		t.Skip("no run has lost its lease")
	}
	h := rapid.SampledFrom(m.past).Draw(t, "run")
	m.write(func(tx *store.Tx) error {
		for _, end := range []func() (bool, error){
			func() (bool, error) { return tx.FinishJob(m.ctx, h.job.ID, h.job.Lease, nil) },
			func() (bool, error) { return tx.FailJob(m.ctx, h.job.ID, h.job.Lease, "late") },
			func() (bool, error) { return tx.RenewJob(m.ctx, h.job.ID, h.job.Lease, tx.Now) },
		} {
			if ok, err := end(); ok || err != nil {
				m.t.Fatalf("a run without the lease changed the job: %v", err)
			}
		}
		return nil
	})
}

// drain runs everything that is left and demands that no cause was lost.
func (m *causeModel) drain() {
	for range 20 {
		m.now = m.now.Add(time.Minute) // every lease runs out, everything is due
		m.write(func(tx *store.Tx) error {
			taken, err := tx.TakeJobs(m.ctx, "k", "drain", tx.Now.Add(time.Second), 100)
			for _, j := range taken {
				m.seen[j.Key] = m.added[j.Key]
				if _, err := tx.FinishJob(m.ctx, j.ID, j.Lease, nil); err != nil {
					return err
				}
			}
			return err
		})
	}
	for key, n := range m.added {
		if m.seen[key] != n {
			m.t.Fatalf("of %d causes of %s only %d were seen by a run that began after them", n, key, m.seen[key])
		}
	}
	m.write(func(tx *store.Tx) error {
		counts, err := tx.JobCounts(m.ctx)
		if len(counts) > 0 {
			m.t.Fatalf("jobs are left over: %v", counts)
		}
		return err
	})
}

func TestNoCauseIsLostAndNoLeaseIsShared(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		rapid.Check(t, func(rt *rapid.T) {
			m := &causeModel{t: rt, st: st, ctx: ctx, now: time.UnixMilli(1_800_000_000_000),
				added: map[string]int{}, seen: map[string]int{}, held: map[string]*holding{}}
			st.SetClock(func() time.Time { return m.now })
			rt.Repeat(map[string]func(*rapid.T){
				"add":  m.add,
				"take": m.take,
				"end":  m.end,
				"late": m.late,
				"pass": func(t *rapid.T) {
					m.now = m.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds")) * time.Second)
				},
			})
			m.drain()
		})
	})
}
