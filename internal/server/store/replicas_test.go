package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver called pgx

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// join makes a replica that attends until it is told to leave.
func join(t *testing.T, dsn string) (s *store.Store, leave func()) {
	t.Helper()
	s = storetest.OpenDSN(t, dsn)
	if err := s.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Attend(ctx) }()
	leave = func() { cancel(); <-done }
	t.Cleanup(leave)
	return s, leave
}

// A replica knows that it is alone, and at no moment thinks so while another
// serves.
func TestAReplicaKnowsWhetherItIsAlone(t *testing.T) {
	if s := storetest.Open(t); !s.Alone() {
		t.Error("a SQLite database has one process")
	}
	dsn := storetest.Postgres(t)
	if s := storetest.OpenDSN(t, dsn); s.Alone() {
		t.Error("one that did not join cannot know")
	}
	first, _ := join(t, dsn)
	await.True(t, "the first to be alone", first.Alone)
	second, leave := join(t, dsn)
	for range 50 {
		if first.Alone() || second.Alone() {
			t.Fatal("both serve, and one thinks it is alone")
		}
	}
	leave()
	await.True(t, "the first to be alone again", first.Alone)
}

// with returns a DSN with another setting.
func with(t *testing.T, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// A replica that stops while it holds an org's lock loses it, and when it
// comes back does what it had begun. Were the lock its own for good, others
// would be told to try again.
func TestAStoppedReplicaHoldsNobodyUp(t *testing.T) {
	dsn := storetest.Postgres(t)
	for _, tt := range []struct {
		name, dsn string
		held      bool
	}{
		{"as it is", dsn, false},
		{"with a lock that is never taken away", with(t, dsn, "idle_in_transaction_session_timeout", "0"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stopping := storetest.OpenDSN(t, tt.dsn)
			other := storetest.OpenDSN(t, with(t, dsn, "lock_timeout", "4s"))
			holds, goOn := make(chan struct{}), make(chan struct{})
			var runs atomic.Int32
			ended := make(chan error, 1)
			go func() {
				ended <- stopping.Write(context.Background(), "acme", func(tx *store.Tx) error {
					var n int // the lock comes with the first question
					if err := tx.QueryRowContext(context.Background(), `SELECT 1`).Scan(&n); err != nil {
						return err
					}
					if runs.Add(1) == 1 {
						close(holds)
						<-goOn
					}
					return tx.SetMeta(context.Background(), "stopped", "came back")
				})
			}()
			<-holds
			err := other.Write(t.Context(), "acme", func(tx *store.Tx) error { return tx.SetMeta(t.Context(), "other", "went on") })
			var p *problem.Error
			if tt.held && (!errors.As(err, &p) || p.Kind != problem.Unavailable || p.RetryAfter == 0) || !tt.held && err != nil {
				t.Errorf("the other: %v", err)
			}
			close(goOn)
			if err := <-ended; err != nil {
				t.Errorf("the one that stopped: %v", err)
			}
		})
	}
}

// Whatever happens to the connections, what a caller hears is that it may try
// again, and what was acknowledged is there.
func TestARestartOfTheDatabaseIsUnavailable(t *testing.T) {
	dsn := storetest.Postgres(t)
	s := storetest.OpenDSN(t, dsn)
	admin, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				admin.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			}
		}
	}()
	acknowledged, refused := []string{}, 0
	for end := time.Now().Add(await.Patience); len(acknowledged) < 20 || refused < 20; {
		if time.Now().After(end) {
			t.Fatalf("%d acknowledged, %d refused", len(acknowledged), refused)
		}
		key := time.Now().Format(time.RFC3339Nano)
		err := s.Write(t.Context(), "acme", func(tx *store.Tx) error { return tx.SetMeta(t.Context(), key, "v") })
		var p *problem.Error
		switch {
		case err == nil:
			acknowledged = append(acknowledged, key)
		case errors.As(err, &p) && p.Kind == problem.Unavailable && p.RetryAfter > 0:
			refused++
		default:
			t.Fatalf("neither done nor unavailable: %v", err)
		}
	}
	close(stop)
	<-done
	err = s.Read(t.Context(), func(tx *store.Tx) error {
		for _, key := range acknowledged {
			if v, err := tx.Meta(t.Context(), key); v != "v" || err != nil {
				t.Errorf("%s is lost: %v", key, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A database that only reads is not ready.
func TestReadyIsReadyToWrite(t *testing.T) {
	dsn := storetest.Postgres(t)
	if err := storetest.OpenDSN(t, dsn).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	reads := storetest.OpenDSN(t, dsn)
	admin, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, query := range []string{
		`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
	} {
		if _, err := admin.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	var p *problem.Error
	await.True(t, "writes to be refused", func() bool {
		err := reads.Ready(t.Context())
		return errors.As(err, &p) && p.Kind == problem.Unavailable
	})
	if err := reads.Read(t.Context(), func(tx *store.Tx) error { _, err := tx.Meta(t.Context(), "x"); return err }); err != nil {
		t.Errorf("reading: %v", err)
	}
}

// Writers of one org share transactions. One that fails takes nobody with it,
// and one that passed over a failed statement is not told that all is well.
func TestWritersOfOneOrgShareTransactions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		addOrg(t, s, "acme")
		const n = 200
		refused := errors.New("no")
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				err := s.Write(t.Context(), "acme", func(tx *store.Tx) error {
					if err := tx.Emit(t.Context(), coord.Event{OrgID: "acme", Type: coord.EventOrgUpdated}); err != nil {
						return err
					}
					switch i % 5 {
					case 3:
						return refused
					case 4:
						_, err := tx.ExecContext(t.Context(), `INSERT INTO meta (key, value) VALUES ('k', NULL)`)
						return err
					}
					return tx.SetMeta(t.Context(), fmt.Sprint("write ", i), "v")
				})
				if good := i%5 < 3; good != (err == nil) || i%5 == 3 && !errors.Is(err, refused) {
					t.Errorf("write %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		err := s.Read(t.Context(), func(tx *store.Tx) error {
			es, err := tx.EventsAfter(t.Context(), "acme", 0, 10*n)
			if len(es) != n*3/5 || es[len(es)-1].Seq != n*3/5 {
				t.Errorf("%d events, the last is %d", len(es), es[len(es)-1].Seq)
			}
			for i := range n {
				v, err := tx.Meta(t.Context(), fmt.Sprint("write ", i))
				if err != nil || (v == "v") != (i%5 < 3) {
					t.Errorf("write %d left %q, %v", i, v, err)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	s := storetest.OpenDSN(t, storetest.Postgres(t))
	err := s.Write(t.Context(), "acme", func(tx *store.Tx) error {
		if err := tx.SetMeta(t.Context(), "a", "v"); err != nil {
			return err
		}
		tx.ExecContext(t.Context(), `INSERT INTO meta (key, value) VALUES ('k', NULL)`)
		return nil
	})
	if err == nil {
		t.Error("what was rolled back was acknowledged")
	}
}

// Other replicas hear of what is told along with a commit, and of nothing that
// was not committed. What cannot be told undoes nothing.
func TestANoticeGoesWithItsCommit(t *testing.T) {
	s := storetest.OpenDSN(t, storetest.Postgres(t))
	ctx := t.Context()
	heard := make(chan string, 1000)
	go s.Listen(ctx, store.NewClaims, func(text string) { heard <- text }, func(err error) { t.Error(err) })
	await.True(t, "that somebody listens", func() bool {
		if err := s.Notify(ctx, store.NewClaims, "begin"); err != nil {
			t.Fatal(err)
		}
		return len(heard) > 0
	})
	write := func(slug, notice string, err error) error {
		return s.Write(ctx, slug, func(tx *store.Tx) error {
			tx.TellReplicas(store.NewClaims, notice)
			return errors.Join(err, tx.InsertOrg(ctx, coord.Org{ID: slug, Slug: slug, Name: slug, DataMode: coord.DataFull, Plan: "self_hosted"}))
		})
	}
	undone := errors.New("undone")
	if err := write("undone", "of what was undone", undone); !errors.Is(err, undone) {
		t.Error(err)
	}
	for slug, notice := range map[string]string{"silent": strings.Repeat("too long", 1000), "told": "of what was told"} {
		if err := write(slug, notice, nil); err != nil {
			t.Errorf("%s: %v", slug, err)
		}
		if err := s.Read(ctx, func(tx *store.Tx) error { _, err := tx.Org(ctx, slug); return err }); err != nil {
			t.Errorf("%s is not there: %v", slug, err)
		}
	}
	await.True(t, "what was told", func() bool {
		for len(heard) > 0 {
			if text := <-heard; text != "begin" {
				if text != "of what was told" {
					t.Errorf("heard %q", text)
				}
				return true
			}
		}
		return false
	})
}
