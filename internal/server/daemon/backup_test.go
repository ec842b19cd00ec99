package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// fullOrg makes an org with something of most kinds in it.
func fullOrg(t *testing.T, w *daemontest.World) *daemontest.Org {
	o := w.Org("Acme")
	post := func(status int, token, path string, body any, to any) {
		w.Must(status, daemontest.Request{Method: "POST", Path: path, Token: token, Body: body}, to)
	}
	post(201, o.Owner(), "/v1/repos", map[string]any{"full_name": "acme/api", "provider": "github"}, nil)
	for i, role := range []coord.Role{coord.Owner, coord.Admin, coord.Member} {
		post(201, o.Tokens[role], "/v1/intents", map[string]any{"title": fmt.Sprintf("Task %d — «größer»", i), "repo": "acme/api",
			"branch": fmt.Sprint("b", i), "scope": map[string]any{"paths": []string{"src/shared.go", fmt.Sprintf("own%d/**", i)}}}, nil)
		w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: o.Tokens[role], Body: map[string]any{
			"event":   "post_edit",
			"session": map[string]any{"tool": "codex", "external_id": fmt.Sprint("s", i)},
			"paths":   []string{"src/shared.go"},
			"repo":    map[string]any{"remote_fingerprints": []string{"github.com/acme/api"}, "branch": fmt.Sprint("b", i)}}}, nil)
	}
	post(201, o.Owner(), "/v1/messages", map[string]any{"to": "user:" + o.Users[coord.Member].Email, "body": "Who is first?",
		"requires_ack": true}, nil)
	w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE repos SET ignore_case = TRUE WHERE org_id = $1`, o.ID)
		return err
	})
	var repos wire.Page[coord.Repo]
	w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/repos", Token: o.Owner()}, &repos)
	owner, member := o.Users[coord.Owner].ID, o.Users[coord.Member].ID
	storetest.Past{Org: o.ID, Repo: repos.Items[0].ID, User: owner, Other: member, Intents: 60}.Live(t, w.Store)
	seen(w, o.Owner()) // channels are made as somebody looks
	return o
}

// seen returns what a service answers about an org.
func seen(w *daemontest.World, token string) map[string]string {
	out := map[string]string{}
	for _, path := range []string{"conversations", "intents?limit=100", "conflicts?limit=100", "messages?limit=100", "sessions?limit=100",
		"events?limit=100", "members", "repos", "policies", "stats?days=30"} {
		r := w.Do(daemontest.Request{Method: "GET", Path: "/v1/" + path, Token: token})
		out[path] = fmt.Sprint(r.Status, " ", string(r.Body))
	}
	return out
}

func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	for path, text := range want {
		if !strings.HasPrefix(text, "200") {
			t.Errorf("%s = %s", path, text)
		}
		if got[path] != text {
			at := 0
			for at < min(len(text), len(got[path])) && text[at] == got[path][at] {
				at++
			}
			at = max(0, at-200)
			t.Errorf("%s differs:\n  %.300s\n  %.300s", path, text[at:], got[path][min(at, len(got[path])):])
		}
	}
}

// TestABackupHoldsEverything: a backup that is made while people write, from
// either database, brought back into either.
func TestABackupHoldsEverything(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := fullOrg(t, w)
		busy := w.Org("Busy")
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.Write(busy.ID, func(ctx context.Context, tx *store.Tx) error {
					id := uuid.NewString()
					err := tx.InsertRepo(ctx, busy.ID, coord.Repo{ID: id, FullName: fmt.Sprint("acme/r", n), Provider: coord.GitHub,
						DefaultBranch: "main"})
					if err != nil {
						return err
					}
					repo := coord.Entity{Kind: "repo", ID: id}
					return tx.Emit(ctx, coord.Event{OrgID: busy.ID, Type: coord.EventRepoRegistered, Subject: repo, RepoID: id,
						Actor: coord.Entity{Kind: "system", ID: "svc"},
						Facts: wire.RepoRegisteredPayload{FullName: fmt.Sprint("acme/r", n), Provider: coord.GitHub}})
				})
			}
		})
		file := filepath.Join(t.TempDir(), "backup.db")
		s := run(t, nil, "backup", file, "--database", dsn)
		stop()
		writers.Wait()
		if s.code != 0 {
			t.Fatalf("backup: exit %d %s", s.code, &s.err)
		}
		want := seen(w, o.Owner())
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the backup is %v, %v; want only its owner to read it", info, err)
		}
		if s := run(t, nil, "backup", file, "--database", dsn); s.code != 1 || !strings.Contains(s.err.String(), "nothing is overwritten") {
			t.Errorf("a backup onto another: exit %d %s", s.code, &s.err)
		}
		if s := run(t, nil, "restore", file, "--database", dsn); s.code != 1 || !strings.Contains(s.err.String(), "nothing is overwritten") {
			t.Errorf("a restore into a database in use: exit %d %s", s.code, &s.err)
		}
		storetest.EachEmpty(t, func(t *testing.T, to string) {
			if s := run(t, nil, "restore", file, "--database", to); s.code != 0 {
				t.Fatalf("restore: exit %d %s", s.code, &s.err)
			}
			back := daemontest.Start(t, to)
			compare(t, want, seen(back, o.Owner()))
			var counter, events, repos int
			back.Write(busy.ID, func(ctx context.Context, tx *store.Tx) error { // of one moment
				return tx.QueryRowContext(ctx, `SELECT event_seq, (SELECT COUNT(*) FROM events e WHERE e.org_id = o.id),
					(SELECT COUNT(*) FROM repos r WHERE r.org_id = o.id) FROM orgs o WHERE id = $1`, busy.ID).Scan(&counter, &events, &repos)
			})
			if counter != events || events != repos {
				t.Errorf("the busy org has %d events by its counter, %d in its log, %d repos", counter, events, repos)
			}
		})
	})
}

// A backup that is not as it was written is not restored, wherever it was
// damaged; one of before there were checksums is.
func TestADamagedBackupIsRefused(t *testing.T) {
	dir := t.TempDir()
	dsn := filepath.Join(dir, "svc.db")
	w := daemontest.Start(t, dsn)
	fullOrg(t, w)
	w.Stop()
	file := filepath.Join(dir, "backup.db")
	if s := run(t, nil, "backup", file, "--database", dsn); s.code != 0 {
		t.Fatalf("backup: exit %d %s", s.code, &s.err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	try := func(name string, content []byte) (verified, restored *svcd) {
		t.Helper()
		at := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		if err := os.WriteFile(at, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return run(t, nil, "backup", "verify", at), run(t, nil, "restore", at, "--database", at+".restored")
	}
	if v, r := try("whole", whole); v.code != 0 || r.code != 0 || !strings.Contains(v.out.String(), "checksum fits") {
		t.Errorf("a whole one: verify %d %s%s, restore %d %s", v.code, &v.out, &v.err, r.code, &r.err)
	}
	old := append([]byte{}, whole[:len(whole)-len("\nsvc backup sha256 ")-65]...)
	copy(old[68:], "\x00\x00\x00\x00")
	if v, r := try("old", old); v.code != 0 || r.code != 0 || !strings.Contains(v.out.String(), "carries no checksum") {
		t.Errorf("an old one: verify %d %s%s, restore %d %s", v.code, &v.out, &v.err, r.code, &r.err)
	}
	damaged := map[string][]byte{"cut short": whole[:len(whole)/2], "without its end": whole[:len(whole)-1],
		"old and cut short": old[:len(old)/2]}
	for i := range 12 {
		flipped := append([]byte{}, whole...)
		flipped[len(whole)*i/12+i] ^= 0x20
		damaged[fmt.Sprint("flipped ", i)] = flipped
	}
	for name, content := range damaged {
		v, r := try(name, content)
		if v.code != 1 || r.code != 1 || strings.Count(v.err.String(), "\n") != 1 {
			t.Errorf("%s: verify %d %q, restore %d %q", name, v.code, &v.err, r.code, &r.err)
		}
	}
}

func TestACopyMovesATeam(t *testing.T) {
	from := filepath.Join(t.TempDir(), "svc.db")
	w := daemontest.Start(t, from)
	o := fullOrg(t, w)
	want := seen(w, o.Owner())
	w.Stop()
	storetest.EachEmpty(t, func(t *testing.T, to string) {
		s := run(t, nil, "copy", "--from", "sqlite:"+from, "--to", to)
		if s.code != 0 || !strings.Contains(s.err.String(), "rows in all") {
			t.Fatalf("copy: exit %d %s", s.code, &s.err)
		}
		moved := daemontest.Start(t, to)
		compare(t, want, seen(moved, o.Owner()))
		moved.Must(http.StatusCreated, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: o.Owner(), // and goes on from there
			Body: map[string]any{"title": "Next", "repo": "acme/api", "branch": "next"}}, nil)
		s = run(t, nil, "copy", "--from", "sqlite:"+from, "--to", to)
		if s.code != 1 || !strings.Contains(s.err.String(), "nothing is overwritten") {
			t.Errorf("a copy into a database in use: exit %d %s", s.code, &s.err)
		}
	})
}

// TestTheAuditLogCanBeKept before it is forgotten.
func TestTheAuditLogCanBeKept(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		fullOrg(t, w)
		s := run(t, nil, "audit", "--org", "acme", "--database", dsn)
		lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
		var events, old int
		w.Write("", func(ctx context.Context, tx *store.Tx) error {
			const past = `SELECT COUNT(*), COUNT(CASE WHEN occurred_at < 1767225600000 THEN 1 END) FROM events`
			return tx.QueryRowContext(ctx, past).Scan(&events, &old)
		})
		var last coord.Event
		for i, line := range lines {
			var e coord.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil || e.Type == "" || e.OccurredAt == 0 {
				t.Fatalf("line %d is no event: %v %s", i, err, line)
			}
			last = e
		}
		if s.code != 0 || len(lines) != events || last.ID != fmt.Sprint(events) {
			t.Errorf("exit %d, %d lines to %s, want %d (%s)", s.code, len(lines), last.ID, events, &s.err)
		}
		s = run(t, nil, "audit", "--before", "2026-01-01", "--database", dsn)
		if n := strings.Count(s.out.String(), "\n"); n != old || s.code != 0 {
			t.Errorf("exit %d, %d lines of before 2026, want %d", s.code, n, old)
		}
		if s := run(t, nil, "audit", "--org", "nobody", "--database", dsn); s.code != 1 || !strings.Contains(s.err.String(), "no org") {
			t.Errorf("an unknown org: exit %d %s", s.code, &s.err)
		}
	})
}

func TestBackupsSayWhatIsWrong(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	other := filepath.Join(t.TempDir(), "other.db")
	if err := os.WriteFile(other, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"backup"}, 2, "takes one file"},
		{[]string{"backup", "verify"}, 2, "takes one file"},
		{[]string{"backup", "verify", missing}, 1, "no such file"},
		{[]string{"restore", "a", "b"}, 2, "takes one file"},
		{[]string{"copy", "--from", "sqlite:x"}, 2, "needs --from and --to"},
		{[]string{"copy", "--from", "sqlite:x", "--to", "x"}, 2, "the same database"},
		{[]string{"backup", missing + ".bak", "--database", missing}, 1, "there is no database at"},
		{[]string{"restore", missing, "--database", missing + ".new"}, 1, "no such file"},
		{[]string{"restore", other, "--database", missing + ".new"}, 1, "not a database"},
	} {
		s := run(t, nil, tt.args...)
		if s.code != tt.code || !strings.Contains(s.err.String(), tt.want) || strings.Count(s.err.String(), "\n") != 1 {
			t.Errorf("svcd %v: exit %d, %q; want %d and one line with %q", tt.args, s.code, &s.err, tt.code, tt.want)
		}
	}
	if left, _ := filepath.Glob(missing + ".bak*"); len(left) > 0 {
		t.Errorf("a backup that failed leaves %v", left)
	}
}

// TestOneServerForOneFile: two servers on one SQLite file would each answer
// from an index that knows nothing of the other's writes.
func TestOneServerForOneFile(t *testing.T) {
	data := t.TempDir()
	serve(t, "svcd", data)
	s := run(t, nil, "serve", "--addr", "127.0.0.1:0", "--data", data)
	if s.code != 1 || !strings.Contains(s.err.String(), "another svcd serves") || strings.Count(s.err.String(), "\n") != 1 {
		t.Errorf("a second server: exit %d, %q", s.code, &s.err)
	}
	s = run(t, nil, "copy", "--from", "sqlite:"+filepath.Join(data, "svc.db"), "--to", "sqlite:"+filepath.Join(t.TempDir(), "svc.db"))
	if s.code != 1 || !strings.Contains(s.err.String(), "another svcd") {
		t.Errorf("a copy of a file that is served: exit %d, %q", s.code, &s.err)
	}
	s = run(t, nil, "restore", filepath.Join(data, "svc.db"), "--data", data)
	if s.code != 1 || !strings.Contains(s.err.String(), "another svcd") {
		t.Errorf("a restore beside a server: exit %d, %q", s.code, &s.err)
	}
}
