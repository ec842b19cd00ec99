package notify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/notify"
	"github.com/svc-hq/svc/internal/server/notify/slacktest"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func (h *house) connect(c *slacktest.Channel) {
	h.t.Helper()
	if _, err := h.ops.Outgoing.PutSlack(h.t.Context(), h.owner, wire.PutSlack{WebhookURL: &c.URL}); err != nil {
		h.t.Fatal(err)
	}
}

// conflict emits an event about a conflict.
func (h *house) conflict(t coord.EventType, ref, severity string) {
	h.t.Helper()
	err := h.st.Write(h.t.Context(), h.owner.OrgID, func(tx *store.Tx) error {
		return tx.Emit(h.t.Context(), coord.Event{
			OrgID:   h.owner.OrgID,
			Type:    t,
			Actor:   coord.Entity{Kind: "system", ID: "svc"},
			Subject: coord.Entity{Kind: "conflict", ID: ref},
			Payload: map[string]any{"ref": ref, "kind": "symbol_overlap", "severity": severity, "users": []string{h.owner.UserID}},
		})
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func TestAChannelHearsOfWhatMattersInOnePost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		h.cfg.Quiet = time.Hour
		c := slacktest.Start(t)
		h.connect(c)
		h.conflict(coord.EventConflictDetected, "CF-1", "block")
		h.conflict(coord.EventConflictDetected, "CF-2", "info") // no news
		h.conflict(coord.EventConflictDetected, "CF-3", "warn")
		h.conflict(coord.EventConflictStale, "CF-3", "warn") // settled before anybody was told
		h.conflict(coord.EventConflictOverrideRequested, "CF-4", "warn")
		h.start()
		await.True(t, "a post", func() bool { return len(c.Posts()) == 1 })
		got := c.Posts()[0].Text
		if !strings.Contains(got, "CF-1") || !strings.Contains(got, "CF-4") || strings.Contains(got, "CF-2") || strings.Contains(got, "CF-3") {
			t.Errorf("posted %q", got)
		}
		if b, _ := json.Marshal(c.Posts()[0].Blocks); !strings.Contains(string(b), "Ana") {
			t.Errorf("nobody is named in %s", b)
		}
		await.True(t, "the post is noted", func() bool {
			s, err := h.ops.Outgoing.GetSlack(t.Context(), h.owner, wire.None{})
			return err == nil && s.Connected && s.LastPostAt != nil && s.LastError == nil
		})
		h.conflict(coord.EventConflictDetected, "CF-5", "block") // within the quiet hour
		await.True(t, "the next post waits", func() bool {
			var due coord.Time
			h.st.Read(t.Context(), func(tx *store.Tx) error {
				j, err := tx.JobByKey(t.Context(), "slack:"+h.owner.OrgID)
				if j != nil && j.Lease == "" {
					due = j.DueAt
				}
				return err
			})
			return due.Sub(st.Now()) > 50*time.Minute
		})
		if len(c.Posts()) != 1 {
			t.Error("the channel was not left alone")
		}
	})
}

func TestChatTroubleIsShownAndPassesOrEnds(t *testing.T) {
	h := open(t, storetest.Open(t))
	c := slacktest.Start(t)
	if _, err := h.ops.Outgoing.TestSlack(t.Context(), h.owner, wire.TestSlack{}); problem.KindOf(err) != problem.Conflict {
		t.Errorf("a test without a connection = %v, want a conflict", err)
	}
	h.connect(c)
	c.Answers(404)
	h.start()
	if _, err := h.ops.Outgoing.TestSlack(t.Context(), h.owner, wire.TestSlack{}); err != nil {
		t.Fatal(err)
	}
	status := func() wire.SlackStatus { s, _ := h.ops.Outgoing.GetSlack(t.Context(), h.owner, wire.None{}); return s }
	await.True(t, "the trouble is shown", func() bool {
		s := status()
		return s.LastError != nil && strings.Contains(*s.LastError, "connect the channel again")
	})
	c.Waits(2) // for as long as its Retry-After says, not for a minute
	if _, err := h.ops.Outgoing.TestSlack(t.Context(), h.owner, wire.TestSlack{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "Slack asks to wait", func() bool {
		s := status()
		return s.LastError != nil && strings.HasSuffix(*s.LastError, "to wait 2s")
	})
	c.Answers(200)
	if _, err := h.ops.Outgoing.TestSlack(t.Context(), h.owner, wire.TestSlack{}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the trouble has passed", func() bool { s := status(); return s.LastError == nil && s.LastPostAt != nil })
	if _, err := h.ops.Outgoing.PutSlack(t.Context(), h.owner, wire.PutSlack{}); err != nil || status().Connected {
		t.Errorf("disconnecting = %v", err)
	}
	bad := "https://example.com/hook"
	plain := open(t, storetest.Open(t))
	plain.out = publicOnly
	plain.furnish(ops.Config{PublicURL: "https://svc.example"})
	if _, err := plain.ops.Outgoing.PutSlack(t.Context(), plain.owner,
		wire.PutSlack{WebhookURL: &bad}); problem.KindOf(err) != problem.Validation {
		t.Errorf("another host = %v, want a validation error", err)
	}
}

// A postOffice takes mail over SMTP; it is busy at the first try of each.
type postOffice struct {
	addr string
	mu   sync.Mutex
	got  map[string][]byte // by address
	busy map[string]int
	ids  map[string]int // by Message-ID

	always bool // busy at every try
}

func newPostOffice(t *testing.T) *postOffice {
	t.Helper()
	p := &postOffice{got: map[string][]byte{}, busy: map[string]int{}, ids: map[string]int{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &counter{office: p}, nil }))
	s.Domain = "localhost"
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return p
}

// A counter is one conversation with the post office.
type counter struct {
	office *postOffice
	to     string
}

func (c *counter) Reset()                               {}
func (c *counter) Logout() error                        { return nil }
func (c *counter) Mail(string, *smtp.MailOptions) error { return nil }

func (c *counter) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.to = to
	if strings.HasPrefix(to, "nobody@") {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
	}
	c.office.mu.Lock()
	defer c.office.mu.Unlock()
	if c.office.busy[to]++; c.office.busy[to] == 1 || c.office.always {
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "later"}
	}
	return nil
}

func (c *counter) Data(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := mail.ReadMessage(bytes.NewReader(b))
	if err != nil {
		return err
	}
	c.office.mu.Lock()
	defer c.office.mu.Unlock()
	c.office.got[c.to] = b
	c.office.ids[m.Header.Get("Message-ID")]++
	return nil
}

func (p *postOffice) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ids)
}

func (p *postOffice) letter(to string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.got[to])
}

// withMail makes a house send mail through an office, retrying at once.
func (h *house) withMail(p *postOffice) {
	h.t.Helper()
	m, err := notify.NewMailer(notify.SMTP{Addr: p.addr, From: "svc@svc.example", TLS: "none"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.cfg.Mailer = m
	h.furnish(ops.Config{PublicURL: "https://svc.example", Mail: true})
}

// hurry makes waiting jobs due.
func (h *house) hurry() {
	h.st.Write(h.t.Context(), "", func(tx *store.Tx) error {
		_, err := tx.ExecContext(h.t.Context(), `UPDATE jobs SET due_at = $1 WHERE lease IS NULL AND failed_at IS NULL AND kind <> 'digest'`,
			tx.Now)
		return err
	})
	h.st.Queued()
}

func TestAnInviteIsMailedOrSaysThatItWasNot(t *testing.T) {
	h := open(t, storetest.Open(t))
	to := "ben@example.com"
	plain, err := h.ops.People.CreateInvite(t.Context(), h.owner, wire.CreateInvite{Role: coord.Member, Email: &to})
	if err != nil || plain.EmailSent || plain.URL == nil {
		t.Errorf("without SMTP: %+v, %v; want the link and no claim to have mailed it", plain, err)
	}
	p := newPostOffice(t)
	h.withMail(p)
	to = "cleo@example.com"
	sent, err := h.ops.People.CreateInvite(t.Context(), h.owner, wire.CreateInvite{Role: coord.Member, Email: &to})
	if err != nil || sent.EmailSent || sent.Mail == nil || sent.Mail.State != coord.LetterQueued {
		t.Fatalf("with SMTP: %+v, %v; want a letter that waits", sent, err)
	}
	if text := dump(t, h.st); strings.Contains(text, strings.TrimPrefix(*sent.URL, "https://svc.example/invite#")) {
		t.Error("the link's secret can be read in the database")
	}
	h.start()
	await.True(t, "the mail after a busy moment", func() bool { h.hurry(); return p.letter(to) != "" })
	if got := p.letter(to); !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(got, "=\r\n", ""), "=3D", "="), *sent.URL) {
		t.Errorf("the mail lacks the link:\n%s", got)
	}
	await.True(t, "nothing waits", func() bool { return !strings.Contains(dump(t, h.st), "mail") })
	if l := h.letterTo(to); !l.EmailSent || l.Mail.State != coord.LetterSent || l.Mail.Detail != "" {
		t.Errorf("after it was sent: %+v %+v", l, l.Mail)
	}
	to = "nobody@example.com"
	if _, err := h.ops.People.CreateInvite(t.Context(), h.owner, wire.CreateInvite{Role: coord.Member, Email: &to}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a refused mail is given up", func() bool {
		counts, err := h.queue.Counts(t.Context())
		if err != nil {
			return false
		}
		for _, c := range counts {
			if c.Kind == "mail" && c.State == "failed" {
				return true
			}
		}
		return false
	})
	bounced := h.letterTo(to)
	if bounced.EmailSent || bounced.Mail.State != coord.LetterBounced || !strings.Contains(bounced.Mail.Detail, "no such mailbox") {
		t.Errorf("after it bounced: %+v %+v", bounced, bounced.Mail)
	}
	open, err := h.ops.People.CreateInvite(t.Context(), h.owner, wire.CreateInvite{Role: coord.Member})
	if err != nil || open.EmailSent {
		t.Errorf("an invite for nobody in particular: %+v, %v", open, err)
	}
}

// dump returns what the database keeps of mails and jobs.
func dump(t *testing.T, st *store.Store) string {
	t.Helper()
	var out []string
	err := st.Read(t.Context(), func(tx *store.Tx) error {
		for _, q := range []string{`SELECT kind || payload FROM jobs`, `SELECT 'mail ' || content FROM mails`} {
			rows, err := tx.QueryContext(t.Context(), q)
			if err != nil {
				return err
			}
			for rows.Next() {
				var s string
				if err := rows.Scan(&s); err != nil {
					return errors.Join(err, rows.Close())
				}
				out = append(out, s)
			}
			if err := rows.Close(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

func TestDigestSettingsAndSendNow(t *testing.T) {
	st := storetest.Open(t)
	h := open(t, st)
	now := time.Date(2026, 11, 18, 10, 30, 0, 0, time.UTC) // a Wednesday
	st.SetClock(func() time.Time { return now })
	ctx := t.Context()
	if _, err := h.ops.Outgoing.SendDigest(ctx, h.owner, wire.None{}); problem.KindOf(err) != problem.Conflict {
		t.Errorf("with nowhere to send = %v, want a conflict", err)
	}
	yes, hour, friday := true, 8, 5
	got, err := h.ops.Outgoing.PutDigest(ctx, h.owner, wire.PutDigest{Enabled: &yes, Day: &friday, Hour: &hour, EmailMe: &yes})
	if err != nil || !got.EmailMe || len(got.Recipients) != 1 || got.NextSendAt.String() != "2026-11-20T08:00:00.000Z" {
		t.Errorf("settings %+v, %v", got, err)
	}
	if _, err := h.ops.Outgoing.SendDigest(ctx, h.owner, wire.None{}); problem.KindOf(err) != problem.Conflict {
		t.Errorf("with a reader but no mail server = %v, want a conflict", err)
	}
	h.connect(slacktest.Start(t))
	run, err := h.ops.Outgoing.SendDigest(ctx, h.owner, wire.None{})
	if err != nil || len(run.Channels) != 1 || run.Channels[0] != wire.ToSlack {
		t.Errorf("run %+v, %v", run, err)
	}
	now = now.Add(59 * time.Second)
	_, err = h.ops.Outgoing.SendDigest(ctx, h.owner, wire.None{})
	if problem.KindOf(err) != problem.RateLimited || problem.RetryAfter(err) != 1 {
		t.Errorf("within a minute = %v, retry after %d; want rate-limited, 1", err, problem.RetryAfter(err))
	}
	now = now.Add(time.Second)
	if _, err := h.ops.Outgoing.SendDigest(ctx, h.owner, wire.None{}); err != nil {
		t.Errorf("after a minute = %v", err)
	}
	preview, err := h.ops.Outgoing.PreviewDigest(ctx, h.owner, wire.None{})
	if err != nil || preview.Email.Subject == "" || preview.Email.HTML == "" || len(preview.Slack.Blocks) == 0 {
		t.Errorf("preview %+v, %v", preview, err)
	}
	no := false
	if got, err := h.ops.Outgoing.PutDigest(ctx, h.owner, wire.PutDigest{Enabled: &no}); err != nil || got.NextSendAt != nil ||
		got.Day != 5 || got.LastRun == nil {
		t.Errorf("switched off: %+v, %v; the rest must stay", got, err)
	}
}

// Two replicas, a moment that is due on both, a digest that goes to chat and
// by mail: each gets it once. A week later, once more.
func TestReplicasSendOneDigest(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		first := storetest.OpenDSN(t, dsn)
		second := first
		if first.Name() == "postgres" {
			second = storetest.OpenDSN(t, dsn)
		}
		var now atomic.Int64
		now.Store(time.Date(2026, 11, 18, 10, 30, 0, 0, time.UTC).UnixMilli())
		clock := func() time.Time { return time.UnixMilli(now.Load()) }
		first.SetClock(clock)
		second.SetClock(clock)
		a, c, p := open(t, first), slacktest.Start(t), newPostOffice(t)
		p.busy["ana@example.com"] = 1 // not busy this time
		a.withMail(p)
		a.connect(c)
		yes, hour, friday := true, 8, 5
		if _, err := a.ops.Outgoing.PutDigest(t.Context(), a.owner, wire.PutDigest{
			Enabled: &yes,
			Day:     &friday,
			Hour:    &hour,
			EmailMe: &yes,
		}); err != nil {
			t.Fatal(err)
		}
		a.start()
		if second != first {
			b := &house{t: t, st: second, vault: a.vault, out: a.out, owner: a.owner, cfg: a.cfg}
			b.furnish(ops.Config{PublicURL: "https://svc.example", Mail: true})
			b.start()
		}
		for week := 1; week <= 2; week++ {
			now.Store(time.Date(2026, 11, 20+7*(week-1), 8, 0, 1, 0, time.UTC).UnixMilli())
			first.Queued()
			second.Queued()
			await.True(t, "the digest", func() bool { return len(c.Posts()) >= week && p.count() >= week })
			await.True(t, "the queue is empty but for the next", func() bool {
				return !strings.Contains(dump(t, first), "mail") && !strings.Contains(dump(t, first), "slack")
			})
			if n := a.events(coord.EventDigestSent); n != week || len(c.Posts()) != week || p.count() != week {
				t.Fatalf("week %d: %d digests, %d posts, %d mails", week, n, len(c.Posts()), p.count())
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		for id, n := range p.ids {
			if n != 1 {
				t.Errorf("mail %s came %d times", id, n)
			}
		}
	})
}
