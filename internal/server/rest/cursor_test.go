package rest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A cursor is of one list: whoever sends it to another, or with other filters,
// would read a page of something else and not know.
func TestCursorsBelongToTheirList(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		ours, theirs := w.Org("Ours"), w.Org("Theirs")
		for _, o := range []*daemontest.Org{ours, theirs} {
			for range 3 {
				declare(w, o, coord.Owner, repo(w, o))
			}
		}
		next := func(o *daemontest.Org, path string) string {
			var page struct {
				NextCursor *string `json:"next_cursor"`
			}
			w.Must(200, daemontest.Request{Method: "GET", Path: path, Token: o.Owner()}, &page)
			if page.NextCursor == nil {
				t.Fatalf("%s has one page only", path)
			}
			return *page.NextCursor
		}
		get := func(path, cursor string) daemontest.Response {
			sep := "?"
			if strings.Contains(path, "?") {
				sep = "&"
			}
			return w.Do(daemontest.Request{Method: "GET", Path: path + sep + "cursor=" + url.QueryEscape(cursor), Token: ours.Owner()})
		}
		refused := func(what string, res daemontest.Response) {
			t.Helper()
			var b problem.Body
			res.JSON(t, &b)
			if res.Status != 400 || len(b.Errors) != 1 || b.Errors[0].Path != "cursor" {
				t.Errorf("%s: %d %s", what, res.Status, res.Body)
			}
		}
		lists := listsOf(t, w)
		from := []string{"/v1/intents", "/v1/events", "/v1/feed", "/v1/members", "/v1/tokens", "/v1/sessions"}
		for i := range 2 {
			sessionIn(w, ours, fmt.Sprintf("acme/seen-%d", i))
		}
		for _, path := range from {
			own := next(ours, path+"?limit=1")
			if res := get(path+"?limit=2", own); res.Status != 200 { // another size is the same list
				t.Errorf("%s does not take its own cursor: %s", path, res.Body)
			}
			for _, other := range lists {
				if other != path {
					refused("a cursor of "+path+" in "+other, get(other, own))
				}
			}
			refused("a cut one", get(path, own[:len(own)-1]))
			refused("a forged one", get(path, own[:8]+"WzFd.W10"))
			refused("only its head", get(path, own[:8]))
		}
		filtered := next(ours, "/v1/intents?status=live&limit=1")
		if res := get("/v1/intents?status=live", filtered); res.Status != 200 {
			t.Errorf("its own filter: %s", res.Body)
		}
		refused("no filter", get("/v1/intents", filtered))
		refused("another filter", get("/v1/intents?status=merged", filtered))
		refused("another org's", get("/v1/intents?status=live", next(theirs, "/v1/intents?status=live&limit=1")))
	})
}

// listsOf returns the paths of all lists that need no record to be read.
func listsOf(t *testing.T, w *daemontest.World) (out []string) {
	t.Helper()
	d := fetchDocument(t, w)
	for _, op := range api.Table {
		if path, method := place(op); method == "get" && !strings.Contains(path, "{") && op.Door == api.Anyone &&
			strings.Contains(fmt.Sprint(d.at("paths", path, method, "parameters")), "name:cursor") {
			out = append(out, path)
		}
	}
	if len(out) < 12 {
		t.Fatalf("only %d lists have cursors: %v", len(out), out)
	}
	return out
}
