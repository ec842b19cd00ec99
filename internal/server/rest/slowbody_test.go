package rest_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// Who announces four megabytes and sends one kilobyte takes some kilobytes.
func TestAnAnnouncedBodyTakesNoRoom(t *testing.T) {
	w := daemontest.Start(t, t.TempDir()+"/svc.db")
	o := w.Org("Acme")
	const callers = 100
	var tokens []string
	for range 4 { // a token has so many requests
		owner := o.Users[coord.Owner]
		tokens = append(tokens, w.Token(o, &owner, coord.Scopes()...))
	}
	before := memory()
	for i := range callers {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		head := []string{"POST /v1/hooks/evaluate HTTP/1.1", "Host: x", "Authorization: Bearer " + tokens[i%len(tokens)],
			"Content-Type: application/json", "Content-Length: 4000000", "", strings.Repeat(" ", 1024)}
		fmt.Fprint(c, strings.Join(head, "\r\n"))
	}
	await.True(t, "all to be read", func() bool {
		return strings.Contains(w.Metrics(), fmt.Sprintf("svc_http_requests_in_flight %d\n", callers))
	})
	if each := (int64(memory()) - int64(before)) / callers; each > 200_000 {
		t.Errorf("each takes %d bytes", each)
	}
}
