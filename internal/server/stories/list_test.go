package stories

import (
	"fmt"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// What comes in between two pages neither repeats nor skips anything that was
// there before.
func TestCursorsSurviveInserts(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		s := newStory(t, daemontest.Start(t, dsn), "acme")
		for i := range 5 {
			s.tell(fmt.Sprintf("join p%d", i), fmt.Sprintf("declare p%d paths=a.go", i))
		}
		for _, tt := range []struct {
			path string
			want []string
		}{
			{"/v1/intents?limit=2", []string{"INT-5", "INT-4", "INT-3", "INT-2", "INT-1"}},
			{"/v1/conflicts?limit=2&intent=INT-5", []string{"CF-10", "CF-9", "CF-8", "CF-7"}},
		} {
			var got []string
			for cursor, n := "", 0; n < 10; n++ {
				var page struct {
					Items      []struct{ Ref string }
					NextCursor *string `json:"next_cursor"`
				}
				if failed := s.call(s.owner(), "GET", tt.path+"&cursor="+cursor, nil, &page, nil); failed != "" {
					t.Fatal(failed)
				}
				for _, i := range page.Items {
					got = append(got, i.Ref)
				}
				s.tell(fmt.Sprintf("join q%d", n), fmt.Sprintf("declare q%d paths=b.go", n))
				if page.NextCursor == nil {
					break
				}
				cursor = *page.NextCursor
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s gave %v, want %v", tt.path, got, tt.want)
			}
		}
		for _, list := range []string{"/v1/members?", "/v1/tokens?", "/v1/intents?owner=me",
			"/v1/intents?", "/v1/conflicts?", "/v1/conversations?", "/v1/events?type=member.added",
			"/v1/sessions?", "/v1/sessions?active=true", "/v1/sessions?active=false", "/v1/messages?"} {
			lastPageIsTold(t, s, list)
		}
	})
}

// lastPageIsTold reads a list with pages that its items fill exactly: the last
// one says that it is the last.
func lastPageIsTold(t *testing.T, s *story, list string) {
	t.Helper()
	type page struct {
		Items      []map[string]any
		NextCursor *string `json:"next_cursor"`
	}
	read := func(limit int, cursor string) (p page) {
		if failed := s.call(s.owner(), "GET", fmt.Sprintf("%s&limit=%d&cursor=%s", list, limit, cursor), nil, &p, nil); failed != "" {
			t.Fatal(failed)
		}
		return p
	}
	all := read(100, "")
	if n := len(all.Items); n > 1 {
		if p := read(n, ""); len(p.Items) != n || p.NextCursor != nil {
			t.Errorf("%s with a limit of %d, which are all: %d, next page %v", list, n, len(p.Items), p.NextCursor != nil)
		}
		if p := read(n-1, ""); len(p.Items) != n-1 || p.NextCursor == nil {
			t.Errorf("%s with a limit of %d of %d: %d, next page %v", list, n-1, n, len(p.Items), p.NextCursor != nil)
		} else if p = read(n-1, *p.NextCursor); len(p.Items) != 1 || p.NextCursor != nil {
			t.Errorf("%s after %d of %d: %d, next page %v", list, n-1, n, len(p.Items), p.NextCursor != nil)
		}
	}
}
