package hook

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A status line is asked for at every prompt of a shell, so it may ask nobody:
// hooks leave what they were told last in a small file, for the folder and for
// the session, and svc prompt reads it.

// A workState is what hooks were told last, as it is kept.
type workState struct {
	Server    string           `json:"server"`
	At        int64            `json:"at"`
	Intent    string           `json:"intent"`
	Status    string           `json:"status"`
	Conflicts map[string]clash `json:"conflicts,omitempty"`
}

type clash struct {
	Severity coord.Severity `json:"severity"`
	At       int64          `json:"at"`
}

const (
	workStateAge = 12 * time.Hour   // after which nobody works here any more
	clashAge     = 20 * time.Minute // after which a conflict that no hook spoke of again is not shown
)

func workStateKey(parts ...string) string { return "glance-" + spool.Hash(parts...)[:24] }

// keepStatusLine keeps what the service said about a folder's and a session's work.
func (r *runner) keepStatusLine(s send, reply wire.HookReply) {
	if s.as != nil || reply.SessionID == nil {
		return
	}
	asks := s.event == wire.HookPreEdit || s.event == wire.HookPreShell
	if asks && reply.Decision == wire.Allow && len(reply.Conflicts) == 0 {
		return // nothing to show that was not so before, and an agent waits
	}
	for _, key := range []string{workStateKey(s.at.Root), workStateKey("session", r.call.Session)} {
		if s.event == wire.HookSessionEnd {
			r.spool.Unshare(key)
			continue
		}
		was := r.spool.Shared(key)
		now := time.Now()
		if len(reply.Conflicts) == 0 && s.event != wire.HookSessionStart && saysAlready(was, r.login.Server, reply.Intent, now) {
			continue
		}
		g := readWorkState(was)
		if s.event == wire.HookSessionStart {
			g.Conflicts = nil
		}
		g.take(r.login.Server, reply, now)
		if text, err := json.Marshal(g); err == nil && string(text) != was {
			r.spool.Share(key, string(text))
		}
	}
}

// saysAlready reports, without reading JSON, that a text has no conflict in it
// and holds for the minute: most edits change nothing of it.
func saysAlready(text, server string, intent *wire.HookIntent, now time.Time) bool {
	begins := workState{Server: server, At: now.Truncate(time.Minute).Unix()}.head()
	if begins == "" || strings.Contains(text, `"conflicts":`) || !strings.HasPrefix(text, begins) {
		return false
	}
	return intent == nil || text == begins+`"intent":"`+intent.Ref+`","status":"`+string(intent.Status)+`"}`
}

// head is how the JSON of it begins; "" where that is not plain.
func (g workState) head() string {
	if strings.ContainsFunc(g.Server, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\\<>&`, r) }) {
		return ""
	}
	return `{"server":"` + g.Server + `","at":` + strconv.FormatInt(g.At, 10) + ","
}

func (g *workState) take(server string, reply wire.HookReply, now time.Time) {
	if g.Conflicts == nil {
		g.Conflicts = map[string]clash{}
	}
	for ref, c := range g.Conflicts {
		if now.Sub(time.Unix(c.At, 0)) > clashAge {
			delete(g.Conflicts, ref)
		}
	}
	for _, c := range reply.Conflicts {
		if c.Severity == coord.SeverityWarn || c.Severity == coord.SeverityBlock {
			g.Conflicts[c.Ref] = clash{c.Severity, now.Unix()}
		} else {
			delete(g.Conflicts, c.Ref)
		}
	}
	for line := range strings.Lines(reply.InjectContext) {
		if ref, over := overIn(line); over {
			delete(g.Conflicts, ref)
		}
	}
	g.Server, g.At = server, now.Truncate(time.Minute).Unix() // unchanged, nothing is written
	if reply.Intent != nil {
		g.Intent, g.Status = reply.Intent.Ref, string(reply.Intent.Status)
	}
}

// overIn returns the conflict of which a line of a briefing says that it is over.
func overIn(line string) (ref string, over bool) {
	rest, ok := strings.CutPrefix(line, "svc ")
	ref, rest, named := strings.Cut(rest, " (")
	_, rest, closed := strings.Cut(rest, ") ")
	return ref, ok && named && closed && strings.HasPrefix(rest, "is over: ")
}

func readWorkState(text string) (g workState) {
	if json.Unmarshal([]byte(text), &g) != nil {
		return workState{}
	}
	return g
}

// A StatusLine is what svc prompt shows.
type StatusLine struct {
	Intent    string   `json:"intent"`
	Status    string   `json:"status"`
	Blocked   []string `json:"blocked"`    // conflicts that stop an edit
	Conflicts []string `json:"conflicts"`  // those that warn
	Unchecked int      `json:"unanswered"` // events that went unanswered
	Line      string   `json:"line"`
}

// StatusLineAt returns what hooks were told last about a session, or else about the
// repository of a folder. temp is "" for the system's temporary folder.
func StatusLineAt(temp, dir, session string, now time.Time) StatusLine {
	s := spool.Open(temp, "", "")
	text := ""
	if session != "" {
		text = s.Shared(workStateKey("session", session))
	}
	if text == "" {
		if repo, ok := gitrepo.Find(dir); ok {
			text = s.Shared(workStateKey(repo.Root))
		} else if real, err := filepath.EvalSymlinks(dir); err == nil {
			text = s.Shared(workStateKey(real))
		}
	}
	g := readWorkState(text)
	if now.Sub(time.Unix(g.At, 0)) > workStateAge {
		return StatusLine{Blocked: []string{}, Conflicts: []string{}}
	}
	out := StatusLine{Intent: peertext.Line(g.Intent, 20), Status: peertext.Line(g.Status, 20), Blocked: []string{}, Conflicts: []string{}}
	for ref, c := range g.Conflicts {
		switch {
		case now.Sub(time.Unix(c.At, 0)) > clashAge:
		case c.Severity == coord.SeverityBlock:
			out.Blocked = append(out.Blocked, peertext.Line(ref, 20))
		default:
			out.Conflicts = append(out.Conflicts, peertext.Line(ref, 20))
		}
	}
	byNumber := func(a, b string) int { return number(a) - number(b) }
	slices.SortFunc(out.Blocked, byNumber)
	slices.SortFunc(out.Conflicts, byNumber)
	if g.Server != "" {
		if n := s.Breaker(g.Server, "").Count(); n >= noticeAfter {
			out.Unchecked = n
		}
	}
	out.Line = out.line()
	return out
}

func number(ref string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(ref, "CF-"))
	return n
}

// line is the one short line; empty where there is nothing to say.
func (g StatusLine) line() string {
	var parts []string
	if g.Intent != "" {
		part := g.Intent
		if g.Status != "" && g.Status != string(coord.IntentActive) {
			part += " " + strings.ReplaceAll(g.Status, "_", " ")
		}
		parts = append(parts, part)
	}
	if len(g.Blocked) > 0 {
		parts = append(parts, "✗ "+few(g.Blocked))
	}
	if len(g.Conflicts) > 0 {
		parts = append(parts, "! "+few(g.Conflicts))
	}
	if g.Unchecked > 0 {
		parts = append(parts, "unchecked")
	}
	if len(parts) == 0 {
		return ""
	}
	return "svc " + strings.Join(parts, " · ")
}

// few names two and counts the rest.
func few(refs []string) string {
	if len(refs) > 2 {
		return strings.Join(refs[:2], " ") + " +" + strconv.Itoa(len(refs)-2)
	}
	return strings.Join(refs, " ")
}
