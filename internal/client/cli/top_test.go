//go:build unix

package cli_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// A crowd is a service whose team has as many agents as a test wants.
type crowd struct {
	*httptest.Server
	mu        sync.Mutex
	sessions  []coord.Session
	intents   []coord.Intent
	conflicts []coord.Conflict
	needs     []coord.AttentionItem
	posts     []string
	refuse    bool
	wake      chan struct{} // closed and made anew at every change
}

func newCrowd(t *testing.T, n int) *crowd {
	c := &crowd{wake: make(chan struct{}), sessions: []coord.Session{}, intents: []coord.Intent{}, conflicts: []coord.Conflict{},
		needs: []coord.AttentionItem{}}
	c.fill(n)
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(func() { c.CloseClientConnections(); c.Close() })
	return c
}

func (c *crowd) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.wake)
	c.wake = make(chan struct{})
}

func (c *crowd) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	refuse, wake := c.refuse, c.wake
	c.mu.Unlock()
	if refuse {
		fail(w, problem.Unauthorized, "the token is not valid")
		return
	}
	if r.URL.Path == "/v1/stream" {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "retry: 10\n\n")
		for id := 1; ; id++ {
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-wake:
			}
			c.mu.Lock()
			wake, refuse = c.wake, c.refuse
			c.mu.Unlock()
			if refuse {
				return
			}
			fmt.Fprintf(w, "id: %d\nevent: intent.updated\ndata: {\"id\":\"%d\",\"type\":\"intent.updated\",\"version\":1}\n\n", id, id)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	role := coord.Owner
	answers := map[string]any{
		"/v1/me":       wire.Me{User: &alice, Org: org, Role: &role},
		"/v1/sessions": wire.All(c.standing()), "/v1/intents": wire.All(c.intents), "/v1/conflicts": wire.All(c.conflicts),
		"/v1/attention": wire.Attention{Items: c.needs, Total: len(c.needs)},
	}
	answers["/v1/conversations"] = wire.All([]coord.Conversation{{ID: "t1", About: &coord.About{Ref: "CF-1"}}})
	answers["/v1/conversations/t1/messages"] = wire.All([]coord.Message{{From: coord.Sender{User: &bob}, Body: "I take the lower half",
		CreatedAt: daysAgo}})
	if a, ok := answers[r.URL.Path]; ok && r.Method == http.MethodGet {
		reply(w, 200, a)
		return
	}
	body := make([]byte, 4096)
	n, _ := r.Body.Read(body)
	c.posts = append(c.posts, r.Method+" "+r.URL.Path+" "+strings.TrimSpace(string(body[:n])))
	reply(w, 200, map[string]any{})
}

// standing are the sessions with what their agents do, as the service decides it.
func (c *crowd) standing() []coord.Session {
	out := slices.Clone(c.sessions)
	for i, s := range out {
		var snags []coord.Snag
		for _, k := range c.conflicts {
			for _, p := range k.Parties {
				if *p.SessionID == s.ID {
					snags = append(snags, coord.Snag{Ref: k.Ref, Severity: k.Severity, Holds: p.Role == coord.Holder, Since: k.FirstSeenAt})
				}
			}
		}
		for _, in := range c.intents {
			if in.Ref == s.Intent.Ref && len(in.BlockedBy) > 0 {
				snags = append(snags, coord.Snag{Ref: in.BlockedBy[0].Ref, Since: in.UpdatedAt})
			}
		}
		out[i].Standing = coord.StandingOf(s, snags)
	}
	return out
}

func (c *crowd) posted() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.posts, "\n")
}

// fill makes n agents, some of them in trouble.
func (c *crowd) fill(n int) {
	names := []string{"Alice Ash", "Bob Birch", "Carla Cedar-Montgomery", "Zoë Śliwa", "Eve Elm", "Femi Fir", "Gus", "Hana Hazel"}
	repos := []coord.RepoName{shop, {ID: "r2", FullName: "acme/payments-service"}, {ID: "r3", FullName: "acme/web"}}
	files := []string{"auth/login.go", "internal/billing/invoice/render_html.go", "web/src/pages/checkout/Checkout.tsx", "cart/total.py"}
	tools := []string{"claude_code", "codex", "cursor", "gemini"}
	words := []string{"Tests pass; the invoice now rounds per line.", "",
		"Waiting for review of the schema change before I go on with the migration."}
	hours := func(h int) coord.Time { return coord.TimeOf(now.Add(-time.Duration(h+1)*time.Hour - 30*time.Minute)) }
	for i := range n {
		u := coord.User{ID: fmt.Sprintf("u%d", i%len(names)), Name: names[i%len(names)], Email: fmt.Sprintf("u%d@example.com", i%len(names))}
		title, branch := fmt.Sprintf("Task %d: make it round", i+1), fmt.Sprintf("feature/task-%d", i+1)
		in := coord.Intent{Number: i + 1, Ref: coord.IntentRef(i + 1), Status: coord.IntentActive, Title: title, Owner: u,
			Repo: repos[i%3], UpdatedAt: hours(i % 5)}
		if i%7 == 3 {
			in.Status, in.BlockedBy = coord.IntentBlocked, []coord.Blocker{{Ref: "INT-1"}}
		}
		s := coord.Session{ID: fmt.Sprintf("s%02d", i), User: u, Tool: tools[i%4], Repo: repos[i%3], Branch: &branch, Status: coord.SessionActive,
			Intent: &coord.IntentName{Ref: in.Ref, Title: &title}, File: &files[i%4], LastHeartbeatAt: hours(i)}
		if i%5 == 4 {
			s.Status = coord.SessionIdle
		}
		if w := words[i%3]; w != "" {
			s.StatusText = &w
		}
		c.intents, c.sessions = append(c.intents, in), append(c.sessions, s)
	}
	for i := 1; i < n; i += 6 {
		c.collide(i, i-1, hours(i%9))
	}
	if n > 0 {
		ref, question, thread, id := "CF-1", "0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11", "thread:t1", "m1"
		c.needs = []coord.AttentionItem{
			{ID: "n1", Kind: coord.AttentionConflict, Title: "Same lines of auth/login.go", Detail: "with INT-1", Ref: &ref,
				Repo: &shop, Since: hours(1), URL: "/conflicts/CF-1"},
			{ID: "n2", Kind: coord.AttentionQuestion, Title: "Bob asks: is the login API stable?", Ref: &question,
				Since: hours(2), URL: "/messages"},
			{ID: "n3", Kind: coord.AttentionAck, Title: "Freezing main at noon", Ref: &thread, MessageID: &id, Since: hours(3), URL: "/messages/t1"},
		}
	}
}

func (c *crowd) collide(i, j int, since coord.Time) {
	path, lines := *c.sessions[i].File, &coord.Lines{Start: 10, End: 24}
	party := func(role coord.PartyRole, n int) coord.Party {
		return coord.Party{Role: role, User: &c.sessions[n].User, Intent: c.sessions[n].Intent, SessionID: &c.sessions[n].ID, Repo: shop}
	}
	k := len(c.conflicts)
	cf := coord.Conflict{Number: k + 1, Ref: coord.ConflictRef(k + 1), Kind: coord.EditOverlap, Severity: coord.SeverityWarn,
		Status: coord.ConflictOpen, Repo: shop, Parties: []coord.Party{party(coord.Holder, j), party(coord.Challenger, i)}, FirstSeenAt: since,
		Evidence:    []coord.Evidence{{Party: coord.Holder, Path: &path, Lines: lines}, {Party: coord.Challenger, Path: &path, Lines: lines}},
		Explanation: "Both change lines 10 to 24; git will not merge the two."}
	if k%2 == 0 {
		cf.Severity = coord.SeverityBlock
	}
	c.conflicts = append(c.conflicts, cf)
}

// A tube is svc in a pseudo-terminal, with what a person would see.
type tube struct {
	t        *testing.T
	cmd      *exec.Cmd
	file     *os.File
	terminal vt10x.Terminal
	mu       sync.Mutex
	raw      strings.Builder
}

func startTube(t *testing.T, columns, rows int, server string, extra []string, args ...string) *tube {
	t.Helper()
	x := &tube{t: t, terminal: vt10x.New(vt10x.WithSize(columns, rows))}
	x.cmd = exec.Command("svc", args...)
	x.cmd.Dir = t.TempDir()
	x.cmd.Env = append(os.Environ(), append([]string{"HOME=" + t.TempDir(), "SVC_SERVER=" + server, "SVC_TOKEN=" + aliceToken,
		"TERM=xterm-256color",
		"SVC_CONFIG_DIR=" + t.TempDir(), "SVC_NO_UPDATE_CHECK=1", "SVC_NO_BROWSER=1", "NO_COLOR="}, extra...)...)
	var err error
	if x.file, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.file.Close(); x.cmd.Process.Kill(); x.cmd.Wait() })
	go func() {
		var rest []byte
		buf := make([]byte, 8192)
		for {
			n, err := x.file.Read(buf)
			x.mu.Lock()
			x.raw.Write(buf[:n])
			x.mu.Unlock()
			whole := append(rest, buf[:n]...)
			rest = nil
			if cut := cutRune(whole); cut < len(whole) { // the terminal drops half a character
				whole, rest = whole[:cut], slices.Clone(whole[cut:])
			}
			x.terminal.Write(whole)
			if err != nil {
				return
			}
		}
	}()
	return x
}

// cutRune is where a text ends before a character of which it has the first
// bytes only.
func cutRune(text []byte) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRune(text[i:]) {
				return len(text)
			}
			return i
		}
	}
	return len(text)
}

// text is the screen without blanks at the ends of lines.
func (x *tube) text() string {
	lines := strings.Split(x.terminal.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(strings.ReplaceAll(lines[i], "\x00", ""), " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

func (x *tube) sees(text string) {
	x.t.Helper()
	await.True(x.t, "the screen to show "+text, func() bool { return strings.Contains(x.text(), text) })
}

func (x *tube) types(keys string) {
	x.t.Helper()
	if _, err := x.file.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

func (x *tube) ends(code int) {
	x.t.Helper()
	err := x.cmd.Wait()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if got != code {
		x.t.Errorf("it ended with %d, not %d:\n%s", got, code, x.text())
	}
}

// What svc top shows, for teams and terminals of every size.
func TestTopScreens(t *testing.T) {
	for team, n := range map[string]int{"empty": 0, "small": 4, "crowd": 40} {
		for _, columns := range []int{80, 120, 200} {
			rows := map[int]int{80: 24, 120: 40, 200: 50}[columns]
			name := fmt.Sprintf("%s-%d", team, columns)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				x := startTube(t, columns, rows, newCrowd(t, n).URL, nil, "top")
				x.sees("live")
				last := map[string]string{"empty": "Nobody is in anybody's way.", "small": "CF-1  block", "crowd": "CF-2  warn",
					"crowd-80": "CF-3  block"}
				x.sees(cmp.Or(last[name], last[team])) // it is drawn from top to bottom
				golden := filepath.Join("testdata", "top", name+".txt")
				if *update {
					if err := os.WriteFile(golden, []byte(x.text()), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("it shows\n%s\nnot\n%s", x.text(), want)
					}
				})
				await.True(t, "the screen of "+golden, func() bool { return x.text() == string(want) })
				x.types("q")
				x.ends(term.ExitOK)
			})
		}
	}
}

func TestTopActs(t *testing.T) {
	c := newCrowd(t, 4)
	x := startTube(t, 100, 30, c.URL, nil, "top")
	x.sees("▸ AGENTS 4")
	x.types("m")
	x.sees("To Bob Birch and the agents of INT-2:")
	x.types("Let us split the file\r")
	x.sees("Sent.")
	x.types("a")
	x.sees("Acknowledged CF-1.")
	x.types("w")
	x.sees("You hear when CF-1 is free.")
	c.change(func() { c.conflicts = nil })
	x.sees("\nCF-1 is free.") // not the promise above, which ends like it
	x.types("\x1b[Z")         // shift+tab
	x.sees("▸ NEEDS YOU 3")
	x.types("j")
	x.types("m")
	x.sees("Answer:")
	x.types("Yes, it is\r")
	x.sees("Sent.")
	x.types("j")
	x.types("a")
	x.sees("Acknowledged the message.")
	x.types("d")
	x.sees("Dismissed until it changes.")
	x.types("o")
	x.sees(c.URL + "/messages/t1")
	x.types("/carla")
	x.sees("filter: carla")
	x.types("\r")
	x.sees("AGENTS 1")
	x.types("\x1b")
	x.sees("AGENTS 4")
	x.types("?")
	x.sees("any key goes back")
	x.types("q")
	x.sees("AGENTS 4")
	x.types("\x03")
	x.ends(term.ExitCancelled)
	for _, want := range []string{
		`POST /v1/messages {"body":"Let us split the file","to":"intent:INT-2"}`,
		`POST /v1/conflicts/CF-1/actions {"action":"ack"}`,
		`POST /v1/questions/0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11/answers {"answer":"Yes, it is"}`,
		`POST /v1/messages/m1/ack`,
		`POST /v1/attention/dismiss {"ids":["n3"]}`,
	} {
		if !strings.Contains(c.posted(), want) {
			t.Errorf("%s was not sent:\n%s", want, c.posted())
		}
	}
}

// A server that restarts is found again, and what happened meanwhile is shown;
// a sign-in that has ended is said, and one comes back from it.
func TestTopComesBack(t *testing.T) {
	c := newCrowd(t, 1)
	x := startTube(t, 80, 24, c.URL, nil, "top")
	x.sees("live")
	address := c.Listener.Addr().String()
	c.CloseClientConnections()
	c.Server.Close()
	x.sees("reconnecting…")
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(c.serve))
	c.Server.Listener.Close()
	c.Server.Listener = listenAt(t, address)
	c.change(func() { c.fill(3) })
	c.Server.Start()
	x.sees("Acme: 4 agents")
	x.sees("live")
	c.change(func() { c.refuse = true })
	x.sees("signed out")
	x.sees("Run svc login in another terminal, then press r.")
	c.change(func() { c.refuse = false })
	x.types("r")
	x.sees("live")
	c.change(func() { c.refuse = true })
	x.sees("signed out")
	x.types("q")
	x.ends(term.ExitNotLoggedIn)
}

// Without colours the mark and the words say it all; with them, only the
// terminal's own are used, which are right in light and dark ones.
func TestTopColours(t *testing.T) {
	for _, tt := range []struct {
		name, env string
		want      bool
	}{{"colours", "COLORTERM=", true}, {"none", "NO_COLOR=1", false}} {
		x := startTube(t, 80, 24, newCrowd(t, 4).URL, []string{tt.env}, "top")
		x.sees("> blocked")
		x.types("q")
		x.ends(term.ExitOK)
		x.mu.Lock()
		raw := x.raw.String()
		x.mu.Unlock()
		if coloured := strings.Contains(raw, "\x1b[7m"); coloured != tt.want {
			t.Errorf("%s: %q", tt.name, raw)
		}
		if strings.Contains(raw, "38;5;") || strings.Contains(raw, "38;2;") || strings.Contains(raw, "48;") {
			t.Errorf("%s: a colour of our own: %q", tt.name, raw)
		}
	}
}

func TestTopFollowsTheWindow(t *testing.T) {
	x := startTube(t, 80, 24, newCrowd(t, 40).URL, nil, "top")
	x.sees("▸ AGENTS 40, 1–")
	x.terminal.Resize(120, 40)
	if err := pty.Setsize(x.file, &pty.Winsize{Cols: 120, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	x.sees("INT-26")
	x.types("G")
	x.sees("–40")
	x.types("q")
	x.ends(term.ExitOK)
}

func TestTopInAPipe(t *testing.T) {
	c := newCrowd(t, 4)
	r := run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken}}
	code, out, errs := r.svc(t, "top")
	if code != 0 || !strings.Contains(out, "AGENTS 4") || !strings.Contains(out, "auth/login.go") || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = r.svc(t, "top", "--json")
	if code != 0 || !strings.Contains(out, `"state": "blocked"`) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	r = run{env: map[string]string{"SVC_SERVER": c.URL, "SVC_TOKEN": aliceToken, "TERM": "dumb"},
		term: term.Terminal{In: true, Out: true, Columns: 80}}
	if code, _, errs = r.svc(t, "top"); code != term.ExitError || !strings.Contains(errs, "svc top --once") {
		t.Errorf("a dumb terminal: exit %d: %s", code, errs)
	}
}

// listenAt takes an address again that was just given back.
func listenAt(t *testing.T, address string) net.Listener {
	t.Helper()
	var l net.Listener
	await.True(t, "the address to be free", func() (ok bool) {
		var err error
		l, err = net.Listen("tcp", address)
		return err == nil
	})
	return l
}
