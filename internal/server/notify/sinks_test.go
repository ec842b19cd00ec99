package notify_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext/corpus"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A webhook carries a text as it was written, inside one JSON document: what
// receives it is a program. Each request verifies with the official library.
func TestHostileTextStaysTextInWebhooks(t *testing.T) {
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		h.cfg.Schedule = repeat(time.Second, 60)
		h.start()
		var mu sync.Mutex
		got := map[string]string{}
		r := listen(t, nil)
		r.told = func(e coord.Event, header http.Header) {
			mu.Lock()
			defer mu.Unlock()
			name, _ := e.Payload["case"].(string)
			got[name], _ = e.Payload["text"].(string)
			for k, vs := range header {
				if strings.ContainsAny(k+strings.Join(vs, ""), "\r\n") || corpus.Hidden(strings.Join(vs, "")) != nil {
					t.Errorf("%s: header %q: %q", name, k, vs)
				}
			}
		}
		h.webhookAt(r)
		want := map[string]string{}
		err := st.Write(t.Context(), h.owner.OrgID, func(tx *store.Tx) error {
			for _, c := range cases {
				text := strings.ReplaceAll(strings.ToValidUTF8(c.Text, "\uFFFD"), "\x00", "") // what the API lets in
				want[c.Name()] = text
				if err := tx.Emit(t.Context(), coord.Event{
					OrgID:   h.owner.OrgID,
					Type:    coord.EventMessageSent,
					Actor:   coord.Entity{Kind: "user", ID: h.owner.UserID},
					Subject: coord.Entity{Kind: "message", ID: c.Name()},
					Payload: map[string]any{"case": c.Name(), "text": text},
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		await.True(t, "all cases", func() bool {
			mu.Lock()
			defer mu.Unlock()
			delete(got, "") // the event of the webhook's own making
			return len(got) >= len(want)
		})
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s: %+q arrived as %+q", name, text, got[name])
			}
		}
	})
}
