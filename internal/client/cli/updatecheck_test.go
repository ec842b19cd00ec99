package cli_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

var releaseKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// publish puts a signed release of version v on the server.
func (c *contract) publish(t *testing.T, v string) selfupdate.Keys {
	t.Helper()
	r, err := selfupdate.Sign(wire.Release{Version: v, ReleasedAt: coord.TimeOf(now), NotesURL: "https://example.com/notes"}, "k1", releaseKey)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	c.set(func() { c.files[wire.ReleasePath] = data })
	return selfupdate.Keys{"k1": releaseKey.Public().(ed25519.PublicKey)}
}

func (c *contract) looked() (n int) {
	c.set(func() { n = strings.Count(strings.Join(c.requests, "\n"), wire.ReleasePath) })
	return n
}

func setVersion(t *testing.T, v string) {
	old := version.Version
	version.Version = v
	t.Cleanup(func() { version.Version = old })
}

const offer = "svc 1.2.0 is available, you have 1.1.0. Update now? [y/N]"

func TestUpdatesAreOfferedNowAndThen(t *testing.T) {
	setVersion(t, "1.1.0")
	c := newContract(t)
	r := run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken}, keys: c.publish(t, "1.2.0"),
		term: term.Terminal{In: true, Out: true, Err: true}, stdin: "n\n", now: time.Now()}
	step := func(what string, after time.Duration, looks int, offered bool) {
		t.Helper()
		r.now = r.now.Add(after)
		before := c.looked()
		code, _, errs := r.svc(t, "whoami")
		if code != 0 || c.looked()-before != looks || strings.Contains(errs, offer) != offered {
			t.Errorf("%s: exit %d, looked %d times, stderr %q", what, code, c.looked()-before, errs)
		}
	}
	step("the first time", 0, 1, true)
	step("right after", time.Minute, 0, false)
	step("declined 13 hours ago", 13*time.Hour, 1, false)
	step("declined 26 hours ago", 13*time.Hour, 1, true)
	r.keys = c.publish(t, "1.1.0")
	step("nothing newer", 13*time.Hour, 1, false)
	c.set(func() { c.files[wire.ReleasePath] = []byte(`{"version":"9.9.9"}`) })
	step("not signed", 13*time.Hour, 1, false)
}

func TestUpdateChecksCanBeSwitchedOff(t *testing.T) {
	setVersion(t, "1.1.0")
	person := term.Terminal{In: true, Out: true, Err: true}
	for _, tt := range []struct {
		name string
		env  [2]string
		term term.Terminal
		args string
		want int
	}{
		{"a person at a terminal", [2]string{}, person, "whoami", 1},
		{"the flag", [2]string{}, person, "whoami --no-update-check", 0},
		{"the variable", [2]string{"SVC_NO_UPDATE_CHECK", "1"}, person, "whoami", 0},
		{"CI", [2]string{"CI", "true"}, person, "whoami", 0},
		{"a pipe", [2]string{}, term.Terminal{}, "whoami", 0},
		{"JSON", [2]string{}, person, "whoami --json", 0},
		{"auth-header", [2]string{}, person, "auth-header", 0},
		{"mcp-headers", [2]string{}, person, "mcp-headers", 0},
		{"mcp", [2]string{}, person, "mcp", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newContract(t)
			r := run{
				env:  map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, tt.env[0]: tt.env[1]},
				keys: c.publish(t, "1.2.0"),
				term: tt.term,
			}
			if code, _, errs := r.svc(t, strings.Fields(tt.args)...); code != 0 {
				t.Fatalf("exit %d: %s", code, errs)
			}
			if got := c.looked(); got != tt.want {
				t.Errorf("looked %d times, want %d", got, tt.want)
			}
		})
	}
}

func TestUpdateCheckReportsWithoutInstalling(t *testing.T) {
	c := newContract(t)
	keys := c.publish(t, "1.2.0")
	for have, want := range map[string]string{
		"1.1.0":             "svc 1.2.0 is available, you have 1.1.0",
		"1.2.0":             "svc 1.2.0 is the newest",
		"1.3.0":             "svc 1.3.0 is the newest",
		version.Development: "development build; the newest release is 1.2.0",
	} {
		setVersion(t, have)
		r := run{env: map[string]string{"SVC_SERVER": c.URL}, keys: keys}
		if code, out, errs := r.svc(t, "update", "--check"); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s%s", have, code, out, errs)
		}
	}
	r := run{env: map[string]string{"SVC_SERVER": c.URL}}
	if code, _, errs := r.svc(t, "update", "--check"); code != 1 || !strings.Contains(errs, "holds no release key") {
		t.Errorf("without keys: exit %d: %s", code, errs)
	}
}
