package edge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ruling"
)

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:10])
}

// A memory is what is known of sessions beside their place: what the server
// said.
type memory struct {
	mu   sync.Mutex
	last map[wire.EdgeSession]wire.HookReply
	said map[string]wire.HookReply // answers to rulings, by session and key
}

const maxSaid = 4096

func newMemory() *memory {
	return &memory{last: map[wire.EdgeSession]wire.HookReply{}, said: map[string]wire.HookReply{}}
}

// hook answers an event of an agent host.
func (a *account) hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var e wire.HookRequest
	if err != nil || json.Unmarshal(body, &e) != nil || len(e.Repo.RemoteFingerprints) == 0 || e.Session.ExternalID == "" {
		a.passBody(w, r, body) // the server says what is wrong with it
		return
	}
	within := budget
	if ms, err := strconv.Atoi(r.Header.Get(wire.EdgeBudget)); err == nil && ms > 0 {
		within = time.Duration(ms) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(r.Context(), max(within-slack, slack))
	defer cancel()
	h := &hooked{account: a, HookRequest: &e, body: body, of: wire.EdgeSession{
		Tool:       e.Session.Tool,
		ExternalID: e.Session.ExternalID,
		Key:        e.Session.Key,
	}}
	var remotes []string
	for _, text := range e.Repo.RemoteFingerprints {
		if fp, ok := scope.Fingerprint(text); ok && !slices.Contains(remotes, fp) {
			remotes = append(remotes, fp)
		}
	}
	if len(remotes) == 0 {
		a.passBody(w, r, body)
		return
	}
	h.follow = a.following(remotes, h.of)
	reply, step, status := h.answer(ctx)
	if status != 0 { // the server refused the request itself
		a.passBody(w, r, body)
		return
	}
	if r.Context().Err() != nil { // nobody would hear the news
		return
	}
	if text := a.spool.takeNews(h.of); text != "" {
		if reply.InjectContext != "" {
			text = reply.InjectContext + "\n" + text
		}
		reply.InjectContext = text
	}
	w.Header().Set(wire.EdgeAnswer, string(step))
	w.Header().Set(wire.EdgeTrip, a.tripMS())
	writeJSON(w, reply)
}

// passBody hands on a request whose body was read.
func (a *account) passBody(w http.ResponseWriter, r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	a.pass(w, r)
}

// hooked is one event.
type hooked struct {
	*account
	*wire.HookRequest
	body   []byte
	of     wire.EdgeSession
	follow *follow
}

func (h *hooked) answer(ctx context.Context) (wire.HookReply, wire.EdgeStep, int) {
	switch h.Event {
	case wire.HookPrePush:
		return ruling.Allowed(), wire.EdgeDecided, 0
	case wire.HookPreEdit, wire.HookPreShell:
		return h.decide(ctx)
	case wire.HookPostEdit, wire.HookStop, wire.HookSessionEnd:
		if h.DedupeKey != "" { // without one, sending it again would be telling it twice
			if reply, ok := h.writeDown(); ok {
				return reply, wire.EdgeSpooled, 0
			}
		}
	}
	h.settle(ctx)
	reply, status, err := h.ask(ctx)
	if err != nil {
		return h.nobody(wire.UncheckedServer), wire.EdgeUnchecked, 0
	}
	return reply, wire.EdgeAsked, status
}

// settle gives reports that came before a moment to be sent first.
func (h *hooked) settle(ctx context.Context) {
	until := time.Now().Add(budget / 3)
	for h.spool.waiting(h.of) && time.Now().Before(until) && ctx.Err() == nil {
		timer := time.NewTimer(5 * time.Millisecond)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// decide answers an edit: here under a lease, else by the server, else nobody
// does, and the agent is told so.
func (h *hooked) decide(ctx context.Context) (wire.HookReply, wire.EdgeStep, int) {
	l := h.follow.decide(h.HookRequest, h.of)
	m := h.memory
	if l != nil {
		if said, known := m.recall(h.of, l); known { // the server has said this before
			said.WantLines = l.reply.WantLines
			h.decided.Add(1)
			return said, wire.EdgeDecided, 0
		}
		if l.sure {
			h.decided.Add(1)
			h.follow.beat(h.of)
			return l.reply, wire.EdgeDecided, 0
		}
	}
	reply, status, err := h.ask(ctx)
	switch {
	case err == nil && status == 0 && reply.Unchecked != "" && l == nil: // it answered, and nobody decided
		h.unchecked.Add(1)
		return reply, wire.EdgeUnchecked, 0
	case err == nil && status == 0 && reply.Unchecked == "":
		h.asked.Add(1)
		if l != nil && l.agrees(reply.Decision) {
			m.note(h.of, l.Key(), quiet(reply))
		}
		return reply, wire.EdgeAsked, 0
	case err == nil && status != 0 && status != http.StatusTooManyRequests && status < 500:
		return reply, wire.EdgeAsked, status
	case l != nil: // asked for words only: the copy decides
		h.decided.Add(1)
		told := l.Answer() != wire.Allow
		if told {
			m.note(h.of, l.Key(), quiet(l.reply))
		}
		if told || l.place.News {
			h.record(l, told)
		}
		return l.reply, wire.EdgeDecided, 0
	case err == nil:
		return h.nobody(wire.UncheckedBusy), wire.EdgeUnchecked, 0
	}
	return h.nobody(wire.UncheckedServer), wire.EdgeUnchecked, 0
}

// agrees reports whether a server's answer is one to what the copy says: to a
// warning it may be silent, since it was told before. Else one of the two knows
// more, and the next edit is asked about anew.
func (l *local) agrees(said wire.Decision) bool {
	own := l.Answer()
	return own != wire.Allow && (said == own || own == wire.Warn && said == wire.Allow)
}

// quiet is the answer to a warning that was told already.
func quiet(r wire.HookReply) wire.HookReply {
	if r.Decision == wire.Warn {
		r.Decision, r.Reason, r.InjectContext = wire.Allow, "", ""
	}
	r.InjectContext = ""
	return r
}

// beat notes that a session is at work.
func (f *follow) beat(of wire.EdgeSession) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.beats[of] = true
}

func (m *memory) note(of wire.EdgeSession, key string, r wire.HookReply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.said) >= maxSaid {
		clear(m.said)
	}
	m.said[of.Tool+" "+of.ExternalID+" "+key] = r
}

func (m *memory) recall(of wire.EdgeSession, l *local) (wire.HookReply, bool) {
	if l.Answer() == wire.Allow || l.place.News {
		return wire.HookReply{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.said[of.Tool+" "+of.ExternalID+" "+l.Key()]
	return r, ok
}

// record has the server write down what was decided here: the conflict that a
// refusal rests on, and that it happened. What it says to that the agent hears
// with its next hook, unless it was told here.
func (h *hooked) record(l *local, told bool) {
	body := h.body
	if h.DedupeKey == "" {
		body = with(body, "dedupe_key", l.place.SessionID+" "+l.Key()+" "+time.Now().Format(time.RFC3339Nano))
	}
	r := &report{Session: h.of, Repo: h.follow.key, Body: body, Record: told, Key: l.Key()}
	if err := h.spool.put(r); err != nil {
		h.edge.Log.Warn("what was decided here could not be written down", "err", err)
	}
}

// writeDown keeps a report to be sent, and answers it from what is known.
func (h *hooked) writeDown() (wire.HookReply, bool) {
	m := h.memory
	m.mu.Lock()
	last, known := m.last[h.of]
	m.mu.Unlock()
	if err := h.spool.put(&report{Session: h.of, Repo: h.follow.key, Body: h.body}); err != nil {
		h.edge.Log.Warn("a report could not be written down; it is sent at once", "err", err)
		return wire.HookReply{}, false
	}
	if h.Event == wire.HookPostEdit {
		h.follow.reported(h.HookRequest, h.of)
	}
	reply := ruling.Allowed()
	if known {
		reply = last
		reply.Decision, reply.Reason, reply.InjectContext = wire.Allow, "", ""
	}
	return reply, true
}

// with returns a JSON object with one member set, and all others as they came.
func with(body []byte, name string, value any) []byte {
	var all map[string]jsontext.Value
	text, err := json.Marshal(value)
	if err != nil || json.Unmarshal(body, &all) != nil {
		return body
	}
	all[name] = text
	if out, err := json.Marshal(all); err == nil {
		return out
	}
	return body
}

// ask has the server answer over the warm connection. A status other than 0 is
// a refusal.
func (h *hooked) ask(ctx context.Context) (reply wire.HookReply, status int, err error) {
	status, err = h.call(ctx, hooksPath, h.body, &reply)
	if err != nil || status != http.StatusOK {
		return reply, status, err
	}
	return reply, 0, nil
}

// nobody is the answer when nobody could decide: the work goes on, and that
// is said. The hook counts it, on disk, and tells the server with its next
// report.
func (h *hooked) nobody(why wire.Unchecked) wire.HookReply {
	h.unchecked.Add(1)
	reply := ruling.Allowed()
	reply.Unchecked = why
	switch {
	case h.Event != wire.HookPreEdit && h.Event != wire.HookPreShell:
	case why == wire.UncheckedBusy:
		reply.InjectContext = "svc could not check this edit: the server has too much to do. Others may be at work in the same place."
	default:
		reply.InjectContext = "svc could not check this edit: the server did not answer in time. Others may be at work in the same place."
	}
	return reply
}

// report sends one report, and says whether it has to be sent again.
func (a *account) report(ctx context.Context, r *report) (again bool) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var reply wire.HookReply
	status, err := a.call(ctx, hooksPath, r.Body, &reply)
	switch {
	case err == nil && status == http.StatusUnauthorized:
		a.revoke()
		return true
	case err != nil || status >= 500 || status == http.StatusTooManyRequests:
		return true
	case status != http.StatusOK: // it will never be taken
		a.spool.mu.Lock()
		a.spool.refused++
		a.spool.mu.Unlock()
		a.edge.Log.Warn("the server refused a report", "status", status)
		return false
	}
	m := a.memory
	if r.Record {
		if reply.Decision == wire.Block {
			m.note(r.Session, r.Key, reply)
		}
		return false
	}
	m.mu.Lock()
	m.last[r.Session] = reply
	m.mu.Unlock()
	if reply.InjectContext == "" {
		return false
	}
	var e wire.HookRequest
	_ = json.Unmarshal(r.Body, &e) // it was read before
	if err := a.spool.keepNews(r, e.DedupeKey, reply.InjectContext); err != nil {
		a.edge.Log.Warn("what the server said could not be kept", "err", err)
		return true
	}
	return false
}
