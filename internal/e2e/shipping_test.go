package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/store/storetest"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// bootstrap makes an org and returns its owner's token.
func bootstrap(t *testing.T, bin, data, dsn string) string {
	t.Helper()
	var made struct{ Token string }
	out, err := exec.Command(bin, "bootstrap", "--org", "Acme", "--email", "ana@example.com", "--json", "--data", data, "--database",
		dsn).Output()
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made.Token
}

// projects are the names of the projects that a server knows, in order.
func (p *process) projects(t *testing.T, token string) (names []string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, p.url+"/v1/projects?limit=100", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var page struct{ Items []struct{ Name string } }
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res.Status, err)
	}
	for _, i := range page.Items {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names
}

// commandOf runs svcd, which must succeed, and returns what it says.
func commandOf(t *testing.T, bin string, args ...string) string {
	t.Helper()
	out, err := exec.Command(bin, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("svcd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// shippedBy waits until a server has shipped all that was written before.
func shippedBy(t *testing.T, metrics string) {
	t.Helper()
	written := time.Now()
	await.True(t, "that all is shipped", func() bool {
		asked := time.Now() // an answer may take long, and the age in it is of before
		res, err := http.Get("http://" + metrics + "/metrics")
		if err != nil {
			return false
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		m := regexp.MustCompile(`(?m)^svc_shipping_age_seconds (\S+)$`).FindSubmatch(text)
		if m == nil {
			return false
		}
		age, err := strconv.ParseFloat(string(m[1]), 64)
		return err == nil && asked.Add(-time.Duration(age*float64(time.Second))).After(written)
	})
}

// A server that is killed again and again while it ships leaves a folder that
// verifies, from which all comes back that was shipped; and it goes on there.
func TestAKilledServerHasShipped(t *testing.T) {
	bin, dir, data, ship := program(t, "svcd"), t.TempDir(), t.TempDir(), t.TempDir()
	dsn := filepath.Join(data, "svc.db")
	metrics, err := drill.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	start := func() *process {
		return runServerAt(t, "127.0.0.1:0", bin, data, dsn, "--ship-to", ship, "--metrics-addr", metrics)
	}
	p := start()
	token := bootstrap(t, bin, data, dsn) // by another process
	var want []string
	for round := range 4 {
		for n := range 5 {
			name := fmt.Sprintf("%d-%d", round, n)
			p.post(t, token, "/v1/projects", map[string]any{"name": name}, &struct{}{})
			want = append(want, name)
			if n == 3 {
				shippedBy(t, metrics)
			}
		}
		p.kill() // the last one may be under way
		commandOf(t, bin, "backup", "verify", ship)
		to := filepath.Join(dir, fmt.Sprint(round, ".db"))
		commandOf(t, bin, "restore", "--from", ship, "--database", to)
		back := runServer(t, bin, data, to)
		if got := back.projects(t, token); len(got) < len(want)-1 || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("round %d: restored %q, want %q, the last one at most missing", round, got, want)
		}
		back.kill()
		p = start()
		shippedBy(t, metrics)
	}
	p.kill()
	to := filepath.Join(dir, "last.db")
	commandOf(t, bin, "restore", "--from", ship, "--database", to)
	if got := runServer(t, bin, data, to).projects(t, token); !slices.Equal(got, want) {
		t.Errorf("restored %q, want %q", got, want)
	}
}

// The commands that docs/self-hosting.md gives for PostgreSQL's archive restore a
// moment: svcd answers with what was there then, and the audit log is whole.
func TestPostgresIsRestoredToAMoment(t *testing.T) {
	storetest.Postgres(t) // is there a PostgreSQL?
	bin, data := program(t, "svcd"), t.TempDir()
	top, err := os.MkdirTemp("", "svc-archive-")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(top) })
		err = os.Chmod(top, 0o777) // PostgreSQL is another user than root
	}
	if err != nil {
		t.Fatal(err)
	}
	folder := func(name string) string {
		dir := filepath.Join(top, name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		return dir
	}
	primary, restored := folder("primary"), folder("restored")
	addr, err := drill.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	pg, err := drill.NewPostgres(t.Context(), primary, addr, "-c", "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pg.Stop)
	moment := ""
	blocks := archiveCommands(t)
	sh := func(on *drill.Postgres, script string) string {
		t.Helper()
		out, err := on.Shell(strings.NewReplacer("/mnt/backup", filepath.Join(top, "backup"), "/var/lib/postgresql/restored",
			filepath.Join(restored, "data"), "base-20260131", "base-"+time.Now().UTC().Format("20060102"), "2026-01-31 09:30:00+00", moment).
			Replace(script)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, script, out)
		}
		return strings.TrimSpace(string(out))
	}
	sh(pg, blocks[0])
	pg.Stop()
	if err := pg.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	dsn := pg.DSN(pg.Addr)
	p := runServer(t, bin, data, dsn)
	token := bootstrap(t, bin, data, dsn)
	post := func(name string) {
		p.post(t, token, "/v1/projects", map[string]any{"name": name}, &struct{}{})
	}
	post("before the base")
	sh(pg, blocks[1])
	post("between")
	moment = time.Now().UTC().Format("2006-01-02 15:04:05.000000+00")
	post("too late")
	log := sh(pg, `psql -Atc "SELECT pg_walfile_name(pg_switch_wal())"`)
	await.True(t, "that the log is archived", func() bool {
		_, err := os.Stat(filepath.Join(top, "backup", "wal", log))
		return err == nil
	})
	p.kill()
	pg.Kill()
	sh(pg, blocks[2])
	if addr, err = drill.FreeAddr(); err != nil {
		t.Fatal(err)
	}
	again := pg.At(restored, addr)
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Stop)
	await.True(t, "that it is restored", func() bool { return sh(again, `psql -Atc "SELECT pg_is_in_recovery()"`) == "f" })
	dsn = again.DSN(again.Addr)
	if said := commandOf(t, bin, "audit", "verify", "--database", dsn); !strings.Contains(said, "acme") {
		t.Errorf("audit verify: %s", said)
	}
	p = runServer(t, bin, data, dsn)
	if got := p.projects(t, token); !slices.Equal(got, []string{"before the base", "between"}) {
		t.Errorf("restored %q", got)
	}
	post("after it") // and it goes on from there
	p.kill()
	commandOf(t, bin, "audit", "verify", "--database", dsn)
}

// archiveCommands are what the page tells to type.
func archiveCommands(t *testing.T) (out []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/self-hosting.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range readPage("self-hosting.md", string(text)).blocks {
		if b.info == "sh archive" {
			out = append(out, b.text)
		}
	}
	if len(out) != 3 {
		t.Fatalf("the page has %d blocks of commands, want 3", len(out))
	}
	return out
}
