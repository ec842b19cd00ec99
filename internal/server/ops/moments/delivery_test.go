package moments_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// The test binary is svcd when a test starts it as one: a server that can be
// killed.
func TestMain(m *testing.M) {
	if args := os.Getenv("SVC_TEST_SVCD"); args != "" {
		os.Exit(daemon.Main(context.Background(), daemon.Env{Args: strings.Fields(args), Stdout: os.Stdout, Stderr: os.Stderr, Version: "1.2.3"}))
	}
	os.Exit(m.Run())
}

// A replica is a svcd process that is killed and started again.
type replica struct {
	t   testing.TB
	dsn string
	cmd *exec.Cmd
	url atomic.Value // string
}

func (r *replica) start() {
	r.t.Helper()
	r.cmd = exec.Command(os.Args[0])
	r.cmd.Env = append(os.Environ(),
		"SVC_TEST_SVCD=serve --log-level error --addr 127.0.0.1:0 --data "+filepath.Join(r.t.TempDir(),
			"data")+" --database "+r.dsn+" --secret-key "+daemontest.SecretKey)
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.cmd.Stderr = os.Stderr
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	line := bufio.NewScanner(out)
	for line.Scan() {
		if at := strings.Index(line.Text(), "http://"); at >= 0 {
			r.url.Store(strings.Fields(line.Text()[at:])[0])
			go io.Copy(io.Discard, out)
			return
		}
	}
	r.t.Fatalf("svcd did not start: %v", line.Err())
}

// kill ends the process as a power cut would.
func (r *replica) kill() {
	r.cmd.Process.Kill()
	r.cmd.Wait()
}

var impatient = &http.Client{Timeout: await.Patience}

// try sends a request to a server that may be dead.
func try(w *daemontest.World, url string, q request) ([]byte, int, error) {
	r := w.Build(q)
	r.URL.Scheme, r.URL.Host, _ = strings.Cut(url, "://")
	r.Host = r.URL.Host
	res, err := impatient.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return body, res.StatusCode, err
}

var messageID = regexp.MustCompile(`, id ([0-9a-f-]{36})`)

// No message is delivered twice to the same session or lost, with hooks in
// parallel, two replicas on PostgreSQL, and one of them killed again and
// again. A hook whose answer was lost is sent again with its dedupe key.
func TestEveryMessageReachesEverySessionOnce(t *testing.T) {
	const senders, each, agents, kills = 10, 20, 10, 6
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := newTeam(t, daemontest.Start(t, dsn), "Acme")
		mortal := &replica{t: t, dsn: dsn}
		mortal.start()
		t.Cleanup(mortal.kill)
		serving := func() string { return mortal.url.Load().(string) }
		if strings.HasPrefix(dsn, "postgres") {
			stays := x.W.URL
			serving = func() string {
				if rand.N(2) == 0 {
					return stays
				}
				return mortal.url.Load().(string)
			}
		}
		people := make([]person, agents/2)
		for i := range people {
			people[i] = x.Newcomer()
		}
		team := make([]agent, agents)
		for i := range team {
			team[i] = x.Agent(people[i/2], apiRepo)
		}
		from := make([]person, senders)
		for i := range from {
			from[i] = x.Newcomer()
		}
		if !strings.HasPrefix(dsn, "postgres") {
			x.W.Stop() // one process owns the file, and nobody writes beside it from here on
		}

		var sending sync.WaitGroup
		for _, from := range from {
			sending.Go(func() {
				for k := range each {
					post := request{
						Method: "POST",
						Path:   "/v1/messages",
						Token:  from.Token,
						Body:   map[string]any{"to": "channel:team", "body": fmt.Sprint("message ", k)},
					}
					for range 10_000 {
						_, status, err := try(x.W, serving(), post)
						if err == nil && (status == 201 || status == 429) {
							break
						}
						time.Sleep(10 * time.Millisecond) // it is being started again
					}
				}
			})
		}
		var sent atomic.Bool
		var reading sync.WaitGroup
		got := make([]map[string]int, agents)
		for i, a := range team {
			got[i] = map[string]int{}
			reading.Go(func() {
				for {
					last := sent.Load()
					text, err := x.prompt(serving, a)
					if err != nil {
						t.Error(err)
						return
					}
					ids := messageID.FindAllStringSubmatch(text, -1)
					for _, id := range ids {
						got[i][id[1]]++
					}
					if last && len(ids) == 0 {
						return
					}
				}
			})
		}
		for range kills {
			time.Sleep(rand.N(300 * time.Millisecond))
			mortal.kill()
			mortal.start()
		}
		sending.Wait()
		sent.Store(true)
		reading.Wait()

		stored := map[string]bool{}
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			ms, err := tx.Messages(ctx, x.O.ID, store.Reader{}, store.MessageFilter{Limit: 1000})
			for _, m := range ms {
				stored[m.ID] = true
			}
			return err
		})
		if len(stored) < senders*each*9/10 {
			t.Errorf("only %d messages were sent", len(stored))
		}
		for i := range team {
			for id, n := range got[i] {
				if n != 1 || !stored[id] {
					t.Errorf("session %d received %s %d times (stored: %v)", i, id, n, stored[id])
				}
			}
			if len(got[i]) != len(stored) {
				t.Errorf("session %d received %d of %d messages", i, len(got[i]), len(stored))
			}
		}
	})
}

// prompt sends a prompt event until it is answered, as one event.
func (x *team) prompt(serving func() string, a agent) (string, error) {
	event := teamtest.HookRequest(a, wire.HookPrompt, map[string]any{"dedupe_key": uuid.NewString()})
	var last error
	for range 10_000 {
		body, status, err := try(x.W, serving(), event)
		if err == nil && status == http.StatusOK {
			var reply wire.HookReply
			err := json.Unmarshal(body, &reply)
			return reply.InjectContext, err
		}
		last = fmt.Errorf("hook = %d %s: %w", status, body, errors.Join(err, errors.New("not answered")))
		time.Sleep(10 * time.Millisecond)
	}
	return "", last
}

// patient waits as long as its context.
var patient = &http.Client{}

// What was told in an answer that did not arrive is told again to who asks for
// it, and to nobody else.
func TestALostAnswerIsToldAgain(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := newTeam(t, daemontest.Start(t, dsn), "Acme")
		ada, bob := x.Agent(x.Newcomer(), apiRepo), x.Agent(x.Newcomer(), apiRepo)
		x.W.Must(201, request{Method: "POST", Path: "/v1/messages", Token: x.Newcomer().Token,
			Body: map[string]any{"to": "channel:team", "body": "the login moved"}}, nil)
		told := func(a agent, fields map[string]any) bool {
			var reply wire.HookReply
			x.W.Must(200, teamtest.HookRequest(a, wire.HookPrompt, fields), &reply)
			return strings.Contains(reply.InjectContext, "the login moved")
		}
		if !told(ada, map[string]any{"dedupe_key": "k1"}) {
			t.Fatal("a message is not told")
		}
		if told(ada, map[string]any{"dedupe_key": "k2"}) {
			t.Error("a message is told twice")
		}
		if !told(ada, map[string]any{"dedupe_key": "k3", "unheard": []string{"never", "k1"}}) {
			t.Error("what was lost is not told again")
		}
		if !told(ada, map[string]any{"dedupe_key": "k4", "unheard": []string{"k3"}}) {
			t.Error("what was lost twice is not told again")
		}
		var reply wire.HookReply
		x.W.Must(200, teamtest.HookRequest(ada, wire.HookPrompt, map[string]any{"unheard": []string{"k1", "k3", "k4"}}), &reply)
		if n := strings.Count(reply.InjectContext, "the login moved"); n != 1 {
			t.Errorf("what was lost thrice is told %d times", n)
		}
		told(bob, map[string]any{"dedupe_key": "b1"})
		if told(bob, map[string]any{"dedupe_key": "b2", "unheard": []string{"k1", "k3"}}) {
			t.Error("somebody else's answers are told")
		}
	})
}

// A key brings the answer to what was asked with it, and to nothing else: not to
// another event, another file or another session.
func TestAKeyIsBoundToWhatWasAsked(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		ada, bob := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
		x.Must(ada.Token, "intent_declare", map[string]any{"title": "Mine", "mode": "exclusive", "session_id": ada.Session,
			"scope": map[string]any{"paths": []string{"a.go"}}}, nil)
		edit := map[string]any{"dedupe_key": "k1", "paths": []string{"a.go"}}
		x.Hook(bob, wire.HookStop, map[string]any{"dedupe_key": "k1"})
		x.W.Must(409, teamtest.HookRequest(bob, wire.HookPreEdit, edit), nil)
		edit["dedupe_key"] = "k2"
		if r := x.Hook(bob, wire.HookPreEdit, edit); r.Decision != wire.Block {
			t.Errorf("with a key of its own = %+v", r)
		}
		if r := x.Hook(bob, wire.HookPreEdit, edit); r.Decision != wire.Block {
			t.Errorf("sent again = %+v", r)
		}
		edit["fail_opens"], edit["stale_writes"], edit["unheard"] = 2, 1, []string{"k0"} // what else there is to tell is no other question
		if r := x.Hook(bob, wire.HookPreEdit, edit); r.Decision != wire.Block {
			t.Errorf("sent again with what was missed meanwhile = %+v", r)
		}
		other := bob
		other.External = ada.External
		x.W.Must(409, teamtest.HookRequest(other, wire.HookPrompt, edit), nil)
		x.W.Must(409, teamtest.HookRequest(bob, wire.HookPrompt, map[string]any{"dedupe_key": "k2", "prompt_excerpt": "Go on"}), nil)
	})
}

// The policy for stale writes goes with the answers of the hooks that look it up;
// where it is the usual one nothing is said.
func TestHooksLearnTheRuleForStaleWrites(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		ada := x.Agent(x.Ada, teamtest.APIRepo)
		edit := map[string]any{"paths": []string{"a.go"}}
		if r := x.Hook(ada, wire.HookPreEdit, edit); r.StaleWrite != "" {
			t.Errorf("by default = %q", r.StaleWrite)
		}
		x.W.Must(200, request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token,
			Body: map[string]any{"rules": map[string]any{"stale_write": "warn"}}}, nil)
		for _, event := range []wire.HookEvent{wire.HookSessionStart, wire.HookPreEdit} {
			if r := x.Hook(ada, event, edit); r.StaleWrite != "warn" {
				t.Errorf("%s tells %q", event, r.StaleWrite)
			}
		}
	})
}
