package daemon_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// startAt runs a server with a data folder of its own.
func startAt(t *testing.T, data string, args ...string) (*daemon.Daemon, error) {
	t.Helper()
	cfg, err := daemon.ParseConfig("serve", append([]string{"--addr", "127.0.0.1:0", "--data", data}, args...), nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	d, err := daemon.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(func() { d.Stop() })
	}
	return d, err
}

func TestReadinessAndMetricsShowTheBackgroundWork(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		res := w.Do(daemontest.Request{Method: "GET", Path: "/readyz"})
		var ready wire.Ready
		if err := json.Unmarshal(res.Body, &ready); err != nil || !ready.Checks["jobs"].OK ||
			!strings.Contains(ready.Checks["jobs"].Detail, "failed") {
			t.Errorf("readyz = %s, %v", res.Body, err)
		}
		w.Write("", func(ctx context.Context, tx *store.Tx) error { // one that nobody does
			return tx.AddJob(ctx, store.Job{ID: uuid.NewString(), Kind: "orphan", Payload: "{}", DueAt: tx.Now.Add(-90 * time.Second)})
		})
		if page := w.Metrics(); !regexp.MustCompile(`(?m)^svc_job_age_seconds\{kind="orphan"\} (9\d|\d{3})`).MatchString(page) {
			t.Errorf("the metrics do not show how old a job is:\n%s", about(page, "svc_job_age_seconds"))
		}
		var page string
		for deadline := time.Now().Add(await.Patience); ; time.Sleep(20 * time.Millisecond) {
			page = w.Metrics()
			if strings.Contains(page, `svc_jobs{kind="sweep",state="scheduled"} 1`) &&
				strings.Contains(page, `svc_job_seconds_count{kind="sweep",result="done"} 1`) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the metrics do not show the sweep:\n%s", page)
			}
		}
	})
}

// Readiness tells the truth while nobody can write: a lock on the log stops
// everything, though the database answers.
func TestReadinessNoticesALockedLog(t *testing.T) {
	dsn := storetest.Postgres(t)
	w := daemontest.Start(t, dsn)
	ready := func(status int) func() bool {
		return func() bool { return w.Do(daemontest.Request{Method: "GET", Path: "/readyz"}).Status == status }
	}
	await.True(t, "the service is ready", ready(200))
	admin, err := sql.Open("pgx", dsn) // without our limits: as somebody at a prompt
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	tx, err := admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `LOCK TABLE events IN SHARE MODE`); err != nil { // as making an index does
		t.Fatal(err)
	}
	await.True(t, "the service is not ready while the log is locked", ready(503))
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the service is ready again", ready(200))
}

// Who follows an org hears nothing while the log cannot be looked at, though what
// readiness reads and writes can.
func TestReadinessNoticesAnOldLog(t *testing.T) {
	dsn := storetest.Postgres(t)
	w := daemontest.Start(t, dsn)
	o := w.Org("Acme")
	log := func() (int, wire.Check) {
		res := w.Do(daemontest.Request{Method: "GET", Path: "/readyz"})
		var ready wire.Ready
		if err := json.Unmarshal(res.Body, &ready); err != nil || !ready.Checks["database"].OK {
			t.Fatalf("%v: %s", err, res.Body)
		}
		return res.Status, ready.Checks["log"]
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", w.URL+"/v1/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.Owner())
	stream, err := http.DefaultClient.Do(req)
	if err != nil || stream.StatusCode != 200 {
		t.Fatal(stream, err)
	}
	defer stream.Body.Close()
	if status, c := log(); status != 200 || !c.OK || !strings.Contains(c.Detail, "read") {
		t.Fatalf("%d, %+v", status, c)
	}
	admin, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	tx, err := admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `LOCK TABLE orgs IN ACCESS EXCLUSIVE MODE`); err != nil { // as a change of the table does
		t.Fatal(err)
	}
	is := func(want int, ok bool) func() bool {
		return func() bool { status, c := log(); return status == want && c.OK == ok }
	}
	await.True(t, "the service is not ready while the log is not read", is(503, false))
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the service is ready again", is(200, true))
}

// A page that cannot be read is noticed by whoever wants it, while all that
// readiness tries works: it tells of it, says what and since when, and is ready
// again once nobody has met it for a while.
func TestReadinessNoticesADamagedPage(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		began := time.Now().Add(-time.Second)
		database := func(status int) wire.Check {
			t.Helper()
			var ready wire.Ready
			w.Must(status, daemontest.Request{Method: "GET", Path: "/readyz"}, &ready)
			return ready.Checks["database"]
		}
		projects := func() int {
			return w.Do(daemontest.Request{Method: "GET", Path: "/v1/projects", Token: o.Owner()}).Status
		}
		database(200)
		mend := damage(t, dsn, "projects")
		if status := projects(); status < 500 {
			t.Fatalf("damaged projects are answered with %d", status)
		}
		for range 2 { // what it tries itself works
			what, since, _ := strings.Cut(database(503).Detail, ", since ")
			since, _, _ = strings.Cut(since, ";")
			at, err := time.Parse(time.RFC3339, since)
			if !strings.Contains(what, "damaged") || err != nil || at.Before(began.Truncate(time.Second)) || at.After(time.Now()) {
				t.Errorf("it says %q, since %q: %v", what, since, err)
			}
			w.Advance(5 * time.Second)
		}
		projects()
		w.Advance(29 * time.Second) // since it was last met
		database(503)
		mend()
		w.Token(o, nil) // SQLite reads again what it had read once somebody wrote
		if status := projects(); status != 200 {
			t.Fatalf("mended projects are answered with %d", status)
		}
		w.Advance(2 * time.Second)
		await.True(t, "that it is ready again", func() bool {
			return w.Do(daemontest.Request{Method: "GET", Path: "/readyz"}).Status == 200
		})
	})
}

// damage makes a table's page one that its database finds damaged: for SQLite by
// writing over it, for PostgreSQL by having it say so.
func damage(t *testing.T, dsn, table string) (mend func()) {
	t.Helper()
	if strings.HasPrefix(dsn, "postgres") {
		change(t, dsn, `CREATE FUNCTION damaged() RETURNS BOOLEAN LANGUAGE plpgsql AS
			$$ BEGIN RAISE 'invalid page in block 0 of relation base/1/2' USING ERRCODE = 'XX001'; END $$`,
			`ALTER TABLE `+table+` RENAME TO kept`,
			`CREATE VIEW `+table+` AS SELECT kept.* FROM (SELECT damaged() AS row) d LEFT JOIN kept ON d.row`)
		return func() {
			change(t, dsn, `DROP VIEW `+table, `ALTER TABLE kept RENAME TO `+table, `DROP FUNCTION damaged()`)
		}
	}
	var roots string
	st := storetest.OpenDSN(t, dsn)
	if err := st.Ask(t.Context(), &roots, `SELECT group_concat(rootpage) FROM sqlite_schema WHERE tbl_name = $1`, table); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(dsn, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	const size = 4096
	whole := map[int64][]byte{}
	for root := range strings.SplitSeq(roots, ",") {
		n, err := strconv.ParseInt(root, 10, 64)
		page := make([]byte, size)
		if err == nil {
			_, err = f.ReadAt(page, (n-1)*size)
		}
		if err == nil {
			_, err = f.WriteAt(bytes.Repeat([]byte{0xAA}, size), (n-1)*size)
		}
		if err != nil {
			t.Fatal(err)
		}
		whole[(n-1)*size] = page
	}
	return func() {
		for at, page := range whole {
			if _, err := f.WriteAt(page, at); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A key is replaced while the server runs: what it sealed before and after
// still opens, and the database holds nothing of the old key.
func TestRotatingTheKeyOfARunningServer(t *testing.T) {
	data := t.TempDir()
	d, err := startAt(t, data, "--outbound-allow", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan http.Header, 10)
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		got <- r.Header
	}))
	t.Cleanup(srv.Close)
	made, err := d.Ops.People.Bootstrap(t.Context(), "Acme", "ana@example.com", "Ana")
	if err != nil {
		t.Fatal(err)
	}
	own := auth.NewToken() // for a person's own use: what Bootstrap prints, agents can use
	if err := d.Ops.People.Store.Write(t.Context(), made.Org.ID, func(tx *store.Tx) error {
		return tx.InsertToken(t.Context(), coord.Token{ID: uuid.NewString(), OrgID: made.Org.ID, Name: "own", Kind: coord.PersonalToken,
			Prefix: own.Prefix, UserID: &made.User.ID, Scopes: coord.ServiceScopes(), CreatedAt: tx.Now}, own.Hash)
	}); err != nil {
		t.Fatal(err)
	}
	call := func(method, path string, in, out any, header ...string) {
		t.Helper()
		text, _ := json.Marshal(in)
		req, _ := http.NewRequest(method, d.URL+path, bytes.NewReader(text))
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		req.Header.Set("Authorization", "Bearer "+own.Text)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(out); err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s %s = %s, %v", method, path, res.Status, err)
		}
	}
	post := func(path string, in, out any) { t.Helper(); call(http.MethodPost, path, in, out) }
	var hook struct{ ID, Secret string }
	post("/v1/webhooks", map[string]any{"url": srv.URL, "event_types": []string{"intent.declared"}}, &hook)
	var rotated wire.RotatedSecret
	post("/v1/webhooks/"+hook.ID+"/rotate", map[string]any{}, &rotated) // for a day both sign
	var gitlab wire.HostStatus
	call(http.MethodPut, "/v1/integrations/gitlab", map[string]any{}, &gitlab)
	before, err := os.ReadFile(filepath.Join(data, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	if code := daemon.Main(t.Context(), daemon.Env{
		Args:   []string{"rotate-key", "--data", data},
		Stdout: &out,
		Stderr: &problems,
	}); code != 0 || !strings.HasPrefix(out.String(), "sealed 3 secrets with the key ") {
		t.Fatalf("rotate-key = %d %q %q", code, out.String(), problems.String())
	}
	after, _ := os.ReadFile(filepath.Join(data, "secret.key"))
	if bytes.Equal(before, after) || !bytes.HasSuffix(after, before) {
		t.Errorf("key file %q became %q: want a new key in front", before, after)
	}
	post("/v1/webhooks/"+hook.ID+"/test", map[string]any{}, &struct{}{})
	header := <-got
	wh, err := standardwebhooks.NewWebhook(hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := wh.Verify(body, header); err != nil {
		t.Errorf("after the rotation the signature is wrong: %v", err)
	}
	_, path, _ := strings.Cut(*gitlab.WebhookURL, "/v1/")
	call(http.MethodPost, "/v1/"+path, map[string]any{"object_kind": "note"}, &struct{}{}, "X-Gitlab-Token", *gitlab.Secret)
}

func TestAServerWithoutTheDatabasesKeySaysWhatToDo(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		if _, err := startAt(t, t.TempDir(), "--database", dsn); err != nil {
			t.Fatal(err)
		}
		_, err := startAt(t, t.TempDir(), "--database", dsn)
		if err == nil || !strings.Contains(err.Error(), "SVC_SECRET_KEY") {
			t.Errorf("starting with another key = %v, want advice", err)
		}
		_, err = startAt(t, t.TempDir(), "--database", dsn, "--secret-key", "short")
		if err == nil || !strings.Contains(err.Error(), "openssl rand") {
			t.Errorf("a bad key = %v, want advice", err)
		}
	})
}
