package doctor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/doctor"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/wire"
)

// One row says how far the server is away, who decides, and what follows.
func TestDistanceIsSaidInOneRow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	}))
	defer server.Close()
	c, err := remote.New(server.URL, "", remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	leased := []wire.EdgeFollowReport{{Repo: "acme/app", LeaseMS: 4000}, {Repo: "acme/web"}}
	for _, tt := range []struct {
		name   string
		trip   time.Duration
		edge   *wire.EdgeServerReport
		wanted bool
		level  doctor.Level
		says   string
	}{
		{"on this machine", time.Millisecond, nil, false, doctor.OK, "Server 1ms away; it decides every edit"},
		{"near, without an edge", 20 * time.Millisecond, nil, true, doctor.OK, "Server 20ms away; hooks ask it directly"},
		{"far, without an edge", 150 * time.Millisecond, nil, true, doctor.Warn,
			"Server 150ms away, and nothing on this machine answers for it: edits need 450ms and go on unchecked after 400ms"},
		{"with a lease", 0, &wire.EdgeServerReport{TripMS: 148, Repos: leased}, true, doctor.OK,
			"Server 148ms away; this machine decides edits of acme/app (lease valid), and asks it about others"},
		{"warm", 0, &wire.EdgeServerReport{TripMS: 148}, true, doctor.OK,
			"Server 148ms away; it decides every edit, over a connection that stays open"},
		{"warm, not asked yet", 30 * time.Millisecond, &wire.EdgeServerReport{}, true, doctor.OK,
			"Server 30ms away; it decides every edit, over a connection that stays open"},
		{"too far, without a lease", 0, &wire.EdgeServerReport{TripMS: 600}, true, doctor.Warn,
			"Server 600ms away, and this machine has no lease to decide: edits go on unchecked after 400ms"},
		{"cut off", 0, &wire.EdgeServerReport{TripMS: 148, Problem: "no route", Spooled: 3, Repos: leased}, true, doctor.Warn,
			"Server cannot be reached (no route); edits go on unchecked until it can, and 3 reports wait to be sent"},
	} {
		now := time.Now()
		p := &doctor.Patient{
			Now:    func() time.Time { now = now.Add(tt.trip); return now },
			Getenv: func(string) string { return "" },
			Login:  login.Login{Config: login.Config{Server: server.URL}},
			Remote: c,
			Edge:   func(context.Context) (*wire.EdgeServerReport, bool) { return tt.edge, tt.wanted },
		}
		found := false
		for _, row := range doctor.Examine(t.Context(), p, nil).Checks {
			if row.Name == "distance" {
				found = true
				if row.Level != tt.level || row.Detail != tt.says {
					t.Errorf("%s: %s %q, want %s %q", tt.name, row.Level, row.Detail, tt.level, tt.says)
				}
			}
		}
		if !found {
			t.Errorf("%s: no row", tt.name)
		}
	}
}
