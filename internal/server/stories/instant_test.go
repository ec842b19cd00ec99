package stories

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// Of ten who claim one path at the same instant, the first hears of nobody,
// the second of one, and so on: each pair once, in some serial order.
func TestTenDeclareAtTheSameInstant(t *testing.T) {
	const n = 10
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		replicas := []*daemontest.World{w, w}
		if strings.HasPrefix(dsn, "postgres") {
			replicas[1] = w.Replica()
		}
		for _, mode := range []string{"shared", "exclusive"} {
			t.Run(mode, func(t *testing.T) {
				s := newStory(t, w, mode)
				var requests []*http.Request
				for i := range n {
					a := s.agent(fmt.Sprint("p", i))
					s.tell("join " + a.name)
					requests = append(requests, replicas[i%2].Build(daemontest.Request{
						Method: "POST",
						Path:   "/v1/intents",
						Token:  a.token,
						Body: map[string]any{
							"title":      "Task number " + fmt.Sprint(i),
							"mode":       mode,
							"session_id": a.session,
							"scope":      map[string]any{"paths": []string{"src/main.go"}},
						},
					}))
				}
				answers := atOnce(t, requests)
				heard := map[int]int{} // conflicts reported, by intent number
				granted := 0
				for _, d := range answers {
					heard[d.Intent.Number] = len(d.Conflicts)
					if d.Intent.EffectiveMode == coord.Exclusive {
						granted++
					}
				}
				for i := 1; i <= n; i++ {
					if heard[i] != i-1 {
						t.Errorf("INT-%d heard of %d others, want %d", i, heard[i], i-1)
					}
				}
				if want := map[string]int{"shared": 0, "exclusive": 1}[mode]; granted != want {
					t.Errorf("%d exclusive claims were granted, want %d", granted, want)
				}
				s.pairs(n)
			})
		}
	})
}

// pairs checks that each two of n intents share one conflict, and that no
// number is left out.
func (s *story) pairs(n int) {
	s.t.Helper()
	var page wire.Page[coord.Conflict]
	s.call(s.owner(), "GET", "/v1/conflicts?limit=200&status=live", nil, &page, nil)
	numbers, pairs := map[int]bool{}, map[string]bool{}
	for _, c := range page.Items {
		numbers[c.Number] = true
		pairs[c.Parties[0].Intent.Ref+" "+c.Parties[1].Intent.Ref] = true
		if c.Parties[0].Intent.Number > c.Parties[1].Intent.Number {
			s.t.Errorf("%s: the later one holds: %s", c.Ref, c.Explanation)
		}
	}
	want := n * (n - 1) / 2
	if len(page.Items) != want || len(pairs) != want {
		s.t.Errorf("%d conflicts of %d pairs, want %d", len(page.Items), len(pairs), want)
	}
	for i := 1; i <= want; i++ {
		if !numbers[i] {
			s.t.Errorf("CF-%d is missing", i)
		}
	}
}

// atOnce sends requests together and returns the answers in their order.
func atOnce(t *testing.T, requests []*http.Request) []wire.Declared {
	t.Helper()
	out := make([]wire.Declared, len(requests))
	errs := make([]error, len(requests))
	var start, done sync.WaitGroup
	start.Add(1)
	for i, r := range requests {
		done.Go(func() {
			start.Wait()
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				errs[i] = err
				return
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err == nil && res.StatusCode != http.StatusCreated {
				err = fmt.Errorf("%s: %s", res.Status, text)
			}
			if errs[i] = err; err == nil {
				errs[i] = json.Unmarshal(text, &out[i])
			}
		})
	}
	start.Done()
	done.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
