package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A server that offers no release leaves svc update to the project's own, which
// is signed as the others are; nobody looks there unasked.
func TestReleasesOfTheProject(t *testing.T) {
	setVersion(t, "1.1.0")
	publisher := newContract(t)
	keys := publisher.publish(t, "1.2.0")
	signed := publisher.files[wire.ReleasePath]
	files := map[string][]byte{"/new/latest.json": signed, "/forged/latest.json": []byte(strings.Replace(string(signed), "1.2.0", "9.9.9", 1))}
	asked := 0
	place := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "" {
			t.Error("a token went along")
		}
		if r.URL.Path == "/moved/latest.json" { // as GitHub does
			http.Redirect(w, r, "/new/latest.json", http.StatusFound)
			return
		}
		if files[r.URL.Path] == nil {
			http.NotFound(w, r)
			return
		}
		w.Write(files[r.URL.Path])
	}))
	t.Cleanup(place.Close)
	c := newContract(t)
	update := func(setting string, args ...string) (int, string) {
		r := run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, "SVC_RELEASES": setting}, keys: keys}
		code, out, errs := r.svc(t, append([]string{"update"}, args...)...)
		return code, out + errs
	}
	for _, tt := range []struct {
		setting string
		code    int
		says    string
	}{
		{place.URL + "/new", term.ExitOK, "svc 1.2.0 is available, you have 1.1.0. Run svc update."},
		{place.URL + "/moved/", term.ExitOK, "svc 1.2.0 is available"},
		{place.URL + "/forged", term.ExitError, "signature is wrong"},
		{place.URL + "/none", term.ExitError, "there is no release"},
		{"off", term.ExitError, "no release here"},
		{"ftp://example.com", term.ExitError, "SVC_RELEASES must be an address, or off"},
	} {
		if code, out := update(tt.setting, "--check"); code != tt.code || !strings.Contains(out, tt.says) {
			t.Errorf("%s: exit %d: %s", tt.setting, code, out)
		}
	}
	c.set(func() { c.files[wire.ReleasePath] = []byte(`{"version":"1.1.0"}`) }) // what a server without releases says
	if code, out := update(place.URL+"/new", "--check"); code != 0 || !strings.Contains(out, "svc 1.2.0 is available") {
		t.Errorf("a server that offers nothing: exit %d: %s", code, out)
	}
	asked = 0
	r := run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, "SVC_RELEASES": place.URL + "/new"}, keys: keys,
		term: term.Terminal{In: true, Out: true, Err: true}, stdin: "n\n", now: time.Now()}
	if r.svc(t, "whoami"); asked != 0 {
		t.Error("a team's command asked the project's place by itself")
	}
	c.publish(t, "1.1.5")
	if code, out := update(place.URL+"/new", "--check"); code != 0 || !strings.Contains(out, "svc 1.1.5 is available") || asked != 0 {
		t.Errorf("the team's server decides: exit %d, asked %d: %s", code, asked, out)
	}
}
