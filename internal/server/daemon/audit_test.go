package daemon_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// change runs statements on a database that nobody serves.
func change(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	st, err := store.Existing(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Write(t.Context(), "", func(tx *store.Tx) error {
		for _, s := range statements {
			if _, err := tx.ExecContext(t.Context(), s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

var headLine = regexp.MustCompile(`(?m)^Head (\d+:[0-9a-f]{64})$`)

// headOf has svcd verify a log and returns its head.
func headOf(t *testing.T, dsn string) string {
	t.Helper()
	said := must(t, dsn, "audit", "verify")
	m := headLine.FindStringSubmatch(said)
	if m == nil || !strings.Contains(said, "0 are not sealed yet") {
		t.Fatalf("said %s", said)
	}
	return m[1]
}

// Whoever changes the audit log in the database, by whichever way, is found out:
// by the chain alone, or with a head that was kept elsewhere.
func TestTheAuditLogTellsOfTampering(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
		zelda(t, x)
		x.W.Stop()
		head := headOf(t, dsn)
		digest := regexp.MustCompile(`"seq":5,.*"digest":"([0-9a-f]+)"`).FindStringSubmatch(must(t, dsn, "audit", "--chain"))[1]
		must(t, dsn, "audit", "verify", "--org", "acme", "--head", head)
		for _, c := range []struct {
			what, do, undo, want string
		}{
			{"a payload changed", `UPDATE events SET payload = payload || ' ' WHERE seq = 5`,
				`UPDATE events SET payload = RTRIM(payload) WHERE seq = 5`, "event 5 is not what was sealed"},
			{"somebody else did it", `UPDATE events SET actor_id = actor_id || 'x' WHERE seq = 5`,
				`UPDATE events SET actor_id = RTRIM(actor_id, 'x') WHERE seq = 5`, "event 5 is not what was sealed"},
			{"at another time", `UPDATE events SET occurred_at = occurred_at - 60000 WHERE seq = 5`,
				`UPDATE events SET occurred_at = occurred_at + 60000 WHERE seq = 5`, "event 5 is not what was sealed"},
			{"an event deleted", `UPDATE events SET seq = seq + 1000000 WHERE seq = 5`,
				`UPDATE events SET seq = 5 WHERE seq = 1000005`, "event 5 is gone from the log"},
			{"deleted with its seal", `UPDATE events SET seq = seq + 1000000 WHERE seq = 5; UPDATE event_seals SET seq = -5 WHERE seq = 5`,
				`UPDATE events SET seq = 5 WHERE seq = 1000005; UPDATE event_seals SET seq = 5 WHERE seq = -5`, "event 6 does not follow event 4"},
			{"an event put in", `INSERT INTO events SELECT org_id, 0, type, occurred_at, actor_kind, actor_id, subject_kind, subject_id, repo_id,
				payload FROM events WHERE seq = 1`, `DELETE FROM events WHERE seq = 0`, "event 0 was put into the log"},
			{"changed as if somebody had been erased", `UPDATE events SET payload = payload || ' ' WHERE seq = 5;
				UPDATE event_seals SET digest = '` + digest + `' WHERE seq = 5`,
				`UPDATE events SET payload = RTRIM(payload) WHERE seq = 5; UPDATE event_seals SET digest = '' WHERE seq = 5`,
				"no erasure accounts for it"},
		} {
			change(t, dsn, strings.Split(c.do, ";")...)
			if s := onDatabase(t, dsn, "audit", "verify"); s.code != 1 || !strings.Contains(s.err.String(), c.want) {
				t.Errorf("%s: exit %d %s", c.what, s.code, &s.err)
			}
			change(t, dsn, strings.Split(c.undo, ";")...)
			if now := headOf(t, dsn); now != head {
				t.Fatalf("%s, and undone: head %s, was %s", c.what, now, head)
			}
		}
		// Whoever makes the whole chain anew has one that holds, with another head.
		change(t, dsn, `DELETE FROM event_seals`, `DELETE FROM event_heads`)
		x.W.Restart()
		x.W.Stop()
		if now := headOf(t, dsn); now == head {
			t.Error("a chain that was made anew has the same head")
		}
		if s := onDatabase(t, dsn, "audit", "verify", "--org", "acme", "--head", head); s.code != 1 ||
			!strings.Contains(s.err.String(), "not sealed with the hash that you named") {
			t.Errorf("the head from before: exit %d %s", s.code, &s.err)
		}
		for _, misuse := range [][]string{{"audit", "frob"}, {"audit", "--head", head, "--org", "acme"}, {"audit", "verify", "--head", head},
			{"audit", "verify", "--org", "acme", "--head", "5:abc"}} {
			if s := onDatabase(t, dsn, misuse...); s.code != 2 {
				t.Errorf("%v: exit %d %s", misuse, s.code, &s.err)
			}
		}
	})
}

// The export of the chain can be checked by what docs/audit.md says, without svc.
func TestTheChainCanBeCheckedByAThirdParty(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
		zelda(t, x)
		x.W.Stop()
		head, text := headOf(t, dsn), must(t, dsn, "audit", "--chain", "--org", "acme")
		if last, err := checkedElsewhere(text); err != nil || last != head {
			t.Errorf("the chain: %v, it ends with %s, want %s", err, last, head)
		}
		if n, log := strings.Count(text, "\n"), strings.Count(must(t, dsn, "audit", "--org", "acme"), "\n"); n != log {
			t.Errorf("%d events in the chain, %d in the log", n, log)
		}
		for _, forged := range []string{
			strings.Replace(text, `"actor_kind":"user"`, `"actor_kind":"system"`, 1),
			strings.Replace(text, `"payload":"{`, `"payload":"{ `, 1),
			strings.SplitAfterN(text, "\n", 3)[0] + strings.SplitAfterN(text, "\n", 3)[2],
		} {
			if _, err := checkedElsewhere(forged); forged == text || err == nil {
				t.Error("a forged export passes")
			}
		}
	})
}

// checkedElsewhere is the program of docs/audit.md in Go: it knows nothing of
// ours. It returns the last seal.
func checkedElsewhere(text string) (last string, err error) {
	sha := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	var before map[string]any
	for line := range strings.Lines(text) {
		var e map[string]any
		decode := json.NewDecoder(strings.NewReader(line))
		decode.UseNumber()
		if err := decode.Decode(&e); err != nil {
			return "", err
		}
		if before != nil && e["previous"] != before["hash"] {
			return "", fmt.Errorf("event %v does not follow", e["seq"])
		}
		if e["erased"] == false && sha(fmt.Sprint(e["salt"], "\n", e["payload"])) != e["digest"] {
			return "", fmt.Errorf("event %v has another payload", e["seq"])
		}
		parts := []string{}
		for _, f := range strings.Fields("previous org_id seq type occurred_at_ms actor_kind actor_id subject_kind subject_id digest") {
			parts = append(parts, fmt.Sprint(e[f]))
		}
		if sha(strings.Join(parts, "\n")) != e["hash"] {
			return "", fmt.Errorf("event %v is not what was sealed", e["seq"])
		}
		before, last = e, fmt.Sprint(e["seq"], ":", e["hash"])
	}
	return last, nil
}
