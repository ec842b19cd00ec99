package people_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

type device struct {
	DeviceCode      string `json:"device_code"`
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	ExpiresIn       int    `json:"expires_in"`
	Interval        int    `json:"interval"`
}

func startDevice(w *daemontest.World) (d device) {
	w.Must(200, request{Method: "POST", Path: "/v1/auth/device", Body: map[string]any{"hostname": "laptop", "cli_version": "1.0.0"}}, &d)
	return d
}

// poll returns the token, or the kind of problem.
func poll(t *testing.T, w *daemontest.World, d device) (token string, kind problem.Kind) {
	t.Helper()
	res := w.Do(request{Method: "POST", Path: "/v1/auth/device/token", Body: map[string]any{"device_code": d.DeviceCode}})
	var out struct{ Token, Type string }
	res.JSON(t, &out)
	if res.Status == 200 {
		return out.Token, ""
	}
	return "", problem.Kind(out.Type[len("urn:svc:problem:"):])
}

func TestTheDeviceFlow(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		u := o.Users[coord.Member]
		as := func(path, code string) request {
			return request{
				Method: "POST",
				Path:   "/v1/auth/device/" + path,
				Cookie: w.Cookie(u),
				Org:    o.Slug,
				Body:   map[string]any{"user_code": code},
			}
		}
		expect := func(d device, want problem.Kind) {
			t.Helper()
			if _, kind := poll(t, w, d); kind != want {
				t.Errorf("poll = %s, want %s", kind, want)
			}
		}
		d := startDevice(w)
		if d.Interval != 5 || d.ExpiresIn != 600 || d.VerificationURI != w.URL+"/device" {
			t.Errorf("started %+v", d)
		}
		expect(d, problem.AuthorizationPending)
		expect(d, problem.SlowDown)
		w.Advance(9 * time.Second)
		expect(d, problem.SlowDown) // the interval has grown to 10
		w.Advance(16 * time.Second)
		expect(d, problem.AuthorizationPending)
		expect(device{DeviceCode: "nonsense"}, problem.ExpiredToken)

		var shown struct{ Hostname, Address string }
		w.Must(200, as("lookup", d.UserCode), &shown)
		if shown.Hostname != "laptop" || shown.Address != "127.0.0.1" {
			t.Errorf("the person sees %+v", shown)
		}
		w.Must(404, as("lookup", "XXXX-XXXX"), nil)
		w.Must(204, as("approve", d.UserCode), nil)
		w.Must(404, as("approve", d.UserCode), nil) // not twice
		w.Must(404, as("deny", d.UserCode), nil)    // nor undone by another

		// However many redeem it at once, there is one token.
		var mu sync.Mutex
		var tokens []string
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				token, kind := poll(t, w, d)
				mu.Lock()
				defer mu.Unlock()
				if token != "" {
					tokens = append(tokens, token)
				} else if kind != problem.ExpiredToken {
					t.Errorf("a late redeemer gets %s", kind)
				}
			})
		}
		wg.Wait()
		if len(tokens) != 1 {
			t.Fatalf("%d tokens were handed out", len(tokens))
		}
		var me struct {
			User  coord.User
			Token struct {
				Name   string
				Scopes []coord.Scope
			}
		}
		w.Must(200, request{Method: "GET", Path: "/v1/me", Token: tokens[0]}, &me)
		if me.User.ID != u.ID || !slices.Equal(me.Token.Scopes, coord.DeviceScopes()) {
			t.Errorf("the token is %+v", me)
		}

		denied := startDevice(w)
		w.Must(204, as("deny", denied.UserCode), nil)
		expect(denied, problem.AccessDenied)

		late := startDevice(w)
		w.Advance(11 * time.Minute)
		expect(late, problem.ExpiredToken)
		w.Must(404, as("approve", late.UserCode), nil)

		// A person who left between approving and redeeming gives nothing.
		left := startDevice(w)
		w.Must(204, as("approve", left.UserCode), nil)
		w.Must(204, request{Method: "DELETE", Path: "/v1/members/" + u.ID, Token: o.Owner()}, nil)
		expect(left, problem.AccessDenied)
	})
}

func TestCodesCannotBeGuessedForLong(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	cookie := w.Cookie(o.Users[coord.Member])
	for i := range 20 {
		res := w.Do(request{
			Method: "POST",
			Path:   "/v1/auth/device/lookup",
			Cookie: cookie,
			Org:    o.Slug,
			Body:   map[string]any{"user_code": "BCDF-GHJK"},
		})
		if res.Status == http.StatusTooManyRequests {
			if i < 10 || res.Header.Get("Retry-After") == "" {
				t.Errorf("locked after %d tries, Retry-After %q", i, res.Header.Get("Retry-After"))
			}
			return
		}
	}
	t.Error("20 guesses and no end")
}

func TestDevicesPerAddressAreLimited(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	for range 40 {
		if w.Do(request{Method: "POST", Path: "/v1/auth/device", Body: map[string]any{"hostname": "x"}}).Status == 429 {
			return
		}
	}
	t.Error("40 requests and no limit")
}
