package notify_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func (h *house) mail() wire.MailStatus {
	h.t.Helper()
	s, err := h.ops.Outgoing.GetMail(h.t.Context(), h.owner, wire.None{})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// A test letter goes to who asks for it, through the mail server, and its end
// is told; a letter that is given up is refused, and so are further ones for a
// minute.
func TestATestLetter(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		if _, err := h.ops.Outgoing.TestMail(t.Context(), h.owner, wire.None{}); problem.KindOf(err) != problem.Conflict {
			t.Errorf("without a mail server = %v, want a conflict", err)
		}
		if m := h.mail(); m.Available || m.Test != nil {
			t.Errorf("without a mail server: %+v", m)
		}
		p := newPostOffice(t)
		p.busy["ana@example.com"] = 1 // not busy this time
		h.withMail(p)
		h.start()
		got, err := h.ops.Outgoing.TestMail(t.Context(), h.owner, wire.None{})
		if err != nil || got.To != "ana@example.com" || got.State != coord.LetterQueued {
			t.Fatalf("test = %+v, %v", got, err)
		}
		await.True(t, "the letter is sent", func() bool { m := h.mail(); return m.Available && m.Test.State == coord.LetterSent })
		letter := p.letter("ana@example.com")
		if !strings.Contains(letter, "Mail from svc works") || strings.Contains(letter, "List-Unsubscribe") {
			t.Errorf("the letter:\n%s", letter)
		}
		if _, err := h.ops.Outgoing.TestMail(t.Context(), h.owner, wire.None{}); problem.KindOf(err) != problem.RateLimited {
			t.Errorf("at once again = %v", err)
		}
	})
}

// A letter that the mail server puts off again and again is given up in the
// end, and refused then, not queued for ever.
func TestALetterThatIsGivenUpIsRefused(t *testing.T) {
	h := open(t, storetest.Open(t))
	p := newPostOffice(t)
	p.always = true
	h.withMail(p)
	h.start()
	if _, err := h.ops.Outgoing.TestMail(t.Context(), h.owner, wire.None{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a first try", func() bool { return strings.Contains(h.mail().Test.Detail, "later") })
	if s := h.mail().Test.State; s != coord.LetterQueued {
		t.Errorf("after the first try it is %s", s)
	}
	await.True(t, "it is given up", func() bool { h.hurry(); return h.mail().Test.State != coord.LetterQueued })
	if m := h.mail().Test; m.State != coord.LetterRefused || !strings.Contains(m.Detail, "later") {
		t.Errorf("in the end it is %+v", m)
	}
}

var oneClick = regexp.MustCompile(`(?s)List-Unsubscribe:\s*<(.*?)>`)

// The digest carries the two headers of RFC 8058. Looking at the link ends
// nothing; posting to it does, for its reader alone, and again as often as
// somebody likes. Another's link is not to be made up.
func TestTheDigestIsEndedByOneClick(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		p := newPostOffice(t)
		p.busy["ana@example.com"] = 1
		h.withMail(p)
		h.start()
		yes := true
		if _, err := h.ops.Outgoing.PutDigest(t.Context(), h.owner, wire.PutDigest{EmailMe: &yes}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.ops.Outgoing.SendDigest(t.Context(), h.owner, wire.None{}); err != nil {
			t.Fatal(err)
		}
		await.True(t, "the digest", func() bool { return p.letter("ana@example.com") != "" })
		letter := p.letter("ana@example.com")
		head, _, _ := strings.Cut(letter, "\r\n\r\n")
		if !strings.Contains(head, "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n") {
			t.Fatalf("the head lacks the second header:\n%s", head)
		}
		found := oneClick.FindStringSubmatch(head)
		if found == nil {
			t.Fatalf("the head lacks the link:\n%s", head)
		}
		link, err := url.Parse(strings.NewReplacer("\r\n", "", " ", "", "\t", "").Replace(found[1])) // unfolded
		if err != nil || link.Scheme != "https" || link.Path != "/v1/unsubscribe" {
			t.Fatalf("link %v, %v", link, err)
		}
		token := link.Query().Get("token")
		reads := func() int {
			d, err := h.ops.Outgoing.GetDigest(t.Context(), h.owner, wire.None{})
			if err != nil {
				t.Fatal(err)
			}
			return len(d.Recipients)
		}
		for _, bad := range []string{"", "x", token[:len(token)-2], token + "A", strings.ToLower(token)} {
			_, err := h.ops.Outgoing.DoUnsubscribe(t.Context(), coord.Caller{}, wire.DoUnsubscribe{Token: bad})
			if problem.KindOf(err) != problem.NotFound {
				t.Errorf("%q = %v, want not found", bad, err)
			}
		}
		look := wire.Unsubscribe{Token: token, Format: link.Query().Get("format")}
		asked, err := h.ops.Outgoing.AskUnsubscribe(t.Context(), coord.Caller{}, look)
		if err != nil || asked.Done || reads() != 1 || !strings.Contains(asked.HTML, `method="post"`) {
			t.Fatalf("looking at it: %+v, %v, %d readers", asked, err, reads())
		}
		for range 2 {
			done, err := h.ops.Outgoing.DoUnsubscribe(t.Context(), coord.Caller{}, wire.DoUnsubscribe{Token: token})
			if err != nil || !done.Done || reads() != 0 {
				t.Fatalf("done: %+v, %v, %d readers", done, err, reads())
			}
		}
	})
}
