// Package demo plays svc demo: four scripted agents that collide. It never touches
// the person's own service, login or repositories.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/share"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

func Command(a *app.Run) *cobra.Command {
	var slow bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch four scripted agents collide, and what svc does about it",
		Long: "Start a service in a temporary folder and play four agents: two in one clone,\n" +
			"two of different people in two clones. Each step is a hook or call as real\n" +
			"agents make it. It needs no network and leaves nothing behind.",
		Example: "  svc demo\n  svc demo --slow",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), a, slow) },
	}
	cmd.Flags().BoolVar(&slow, "slow", false, "wait for Enter between steps, with the dashboard open beside")
	return cmd
}

// A stage is where the demo plays: a folder that is removed at the end.
type stage struct {
	*app.Run
	ctx     context.Context
	dir     string
	slow    bool
	service local.Service
	ann     *remote.Client
	bo      *remote.Client
	boToken string
	err     error // the first failure; nothing is played after it
	edits   int
}

func runDemo(ctx context.Context, a *app.Run, slow bool) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "svc-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	place := local.Place{Dir: filepath.Join(dir, "service"), Cache: filepath.Join(dir, "cache")}
	s := &stage{Run: a, ctx: ctx, dir: dir, slow: slow}
	var told bytes.Buffer
	if a.JSON {
		quiet, env := *a, *a.Env
		env.Stdout, quiet.Env = &told, &env
		s.Run = &quiet
	}
	if s.service, _, err = place.Up(ctx, "ann@example.com", version.Version); err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		_, _ = place.Down(stop)
	}()
	s.set()
	s.inOneClone()
	s.inTwoClones()
	s.afterwards()
	if a.JSON && s.err == nil {
		return a.PrintJSON(map[string]any{"told": strings.Split(strings.TrimSpace(told.String()), "\n")})
	}
	return s.err
}

// set makes the two people and their clones.
func (s *stage) set() {
	s.do(func() (err error) {
		if s.ann, err = remote.New(s.service.Server, s.service.Token, remote.Options{}); err != nil {
			return err
		}
		if err := share.Register(s.ctx, s.ann, []string{"github.com/acme/shop"}); err != nil {
			return err
		}
		if s.boToken, err = s.ann.AddMember(s.ctx, "bo@example.com"); err != nil {
			return err
		}
		s.bo, err = remote.New(s.service.Server, s.boToken, remote.Options{})
		return err
	})
	s.do(func() error { return s.git("", "init", "-q", "-b", "main", s.clone("ann")) })
	s.do(func() error { return s.git("ann", "remote", "add", "origin", "https://github.com/acme/shop") })
	s.do(func() error {
		return s.write("ann", "price.py", "def total(items):\n    return sum(i.price for i in items)\n")
	})
	s.do(func() error { return s.git("ann", "add", ".") })
	s.do(func() error { return s.git("ann", "commit", "-qm", "one") })
	s.do(func() error { return s.git("", "clone", "-q", s.clone("ann"), s.clone("bo")) })
	s.do(func() error { return s.git("bo", "remote", "set-url", "origin", "https://github.com/acme/shop") })
	if s.err == nil && (s.slow || s.Terminal.Out && !s.EnvSet("SVC_NO_BROWSER")) {
		s.dashboard()
	}
}

// dashboard names the pages, and opens them for who has the time to look.
func (s *stage) dashboard() {
	link, err := s.service.Link(s.ctx, "/")
	switch {
	case err != nil:
	case s.slow && !s.EnvSet("SVC_NO_BROWSER") && s.OpenBrowser != nil && s.OpenBrowser(link) == nil:
		s.say("Dashboard", "is open in your browser")
	default:
		s.say("Dashboard", "%s", link)
	}
}

func (s *stage) inOneClone() {
	s.scene("Two agents of Ann in one clone")
	s.hook("ann", "first", "SessionStart")
	s.hook("ann", "second", "SessionStart")
	s.say("first agent", "edits price.py")
	s.hook("ann", "first", "PreToolUse")
	s.do(func() error {
		return s.write("ann", "price.py", "def total(items, discount=0):\n    return sum(i.price for i in items) - discount\n")
	})
	s.hook("ann", "first", "PostToolUse")
	s.say("second agent", "is about to write the same file from memory, and is told before it does:")
	s.expect(s.hook("ann", "second", "PreToolUse"), "price.py")
}

func (s *stage) inTwoClones() {
	s.scene("Ann and Bo in two clones")
	var in wire.Declared
	ann := s.agent("ann", "second")
	s.do(func() (err error) {
		repo := "acme/shop"
		in, err = ann.Declare(s.ctx, wire.DeclareIntent{Title: "Discounts in every total", Mode: coord.Exclusive, Repo: &repo,
			Scope: &coord.ScopeSet{Paths: []string{"price.py"}}})
		return err
	})
	s.say("Ann's agent", "claims price.py for itself: %s", in.Intent.Ref)
	s.hook("bo", "third", "SessionStart")
	s.say("Bo's agent", "is about to write price.py in his clone, and is refused:")
	refused := s.hook("bo", "third", "PreToolUse")
	s.expect(refused, in.Intent.Ref)
	conflict := conflictNamed.Get().FindString(refused)
	s.say("Bo's agent", "asks: can I have it when you are done?")
	s.do(func() error {
		_, err := s.bo.SendMessage(s.ctx, "user:ann@example.com", "I need total() too: can I have price.py when you are done?")
		return err
	})
	s.say("Bo's agent", "waits for the end of %s", conflict)
	s.waits("bo", conflict, func() {
		s.say("Ann's agent", "reads the question at its next step, and hands the work over; so Bo's wait ends:")
		s.do(func() error {
			_, err := ann.Handoff(s.ctx, in.Intent.Ref, "bo@example.com", "discount is in; tests are yours")
			return err
		})
	})
	s.say("Bo's agent", "restarts, and hears that the work is now his:")
	if out := s.hook("bo", "fourth", "SessionStart"); s.err == nil {
		s.quote(out, "Your intent is", "│ ")
	}
	if out := s.hook("bo", "fourth", "PreToolUse"); s.err == nil && strings.Contains(out, `"deny"`) {
		s.err = fmt.Errorf("the demo did not go as it should: the edit was still refused: %s", out)
	}
	s.say("Bo's agent", "edits, and lands it")
	bo := s.agent("bo", "fourth")
	s.do(func() error { return bo.CloseIntent(s.ctx, in.Intent.Ref, coord.OutcomeMerged, "") })
}

func (s *stage) afterwards() {
	s.scene("What is known of it")
	s.do(func() error {
		page, err := s.ann.Conflicts(s.ctx, remote.Filter{Limit: 20})
		for _, c := range page.Items {
			s.say(c.Ref, "%s, %s", c.Kind, demoStatus(c.Status))
		}
		return err
	})
	if s.err == nil {
		fmt.Fprintln(s.Stdout, "\nThat was svc: nothing of it is left on this machine. Your own agents: svc up")
	}
}

// demoStatus is a status for who has read nothing yet.
func demoStatus(s coord.ConflictStatus) string {
	if s == coord.ConflictStale {
		return "over: the work that collided has moved on"
	}
	return string(s)
}

// do goes on with the play unless it failed.
func (s *stage) do(step func() error) {
	if s.err == nil {
		s.err = step()
	}
}

func (s *stage) clone(whose string) string { return filepath.Join(s.dir, whose) }

func (s *stage) git(whose string, args ...string) error {
	cmd := exec.CommandContext(s.ctx, "git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...)
	cmd.Dir = s.dir
	if whose != "" {
		cmd.Dir = s.clone(whose)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}

func (s *stage) write(whose, name, text string) error {
	return os.WriteFile(filepath.Join(s.clone(whose), name), []byte(text), 0o644)
}

// hook runs svc as Claude Code does, and returns what Claude would read.
func (s *stage) hook(whose, session, event string) (out string) {
	s.do(func() error {
		s.edits++
		payload, err := json.Marshal(map[string]any{"session_id": session, "cwd": s.clone(whose), "hook_event_name": event,
			"tool_name": "Write", "tool_use_id": fmt.Sprint("t", s.edits), "tool_response": map[string]any{},
			"tool_input": map[string]any{"file_path": filepath.Join(s.clone(whose), "price.py"), "content": "x"}})
		if err != nil {
			return err
		}
		cmd, err := s.svc(whose, "hook", "--tool", "claude_code", "--event", event)
		if err != nil {
			return err
		}
		cmd.Stdin = bytes.NewReader(payload)
		text, err := cmd.Output()
		out = string(text)
		return err
	})
	return out
}

// agent is a person's client that speaks as one of their agents, as svc mcp does:
// what a live agent holds exclusively, only it can give away.
func (s *stage) agent(whose, session string) (as *remote.Client) {
	s.do(func() error {
		store := login.Store{Dir: s.config(whose)}
		known, ok := presence.Open(store.Dir).Load("claude_code", session)
		if !ok || len(known.At) == 0 {
			return fmt.Errorf("the demo did not go as it should: %s's %s agent is not known", whose, session)
		}
		as = s.ann
		if whose == "bo" {
			as = s.bo
		}
		as = as.As(known.At[0].Session, presence.Key(store.Machine(), known.Tool, known.ID))
		return nil
	})
	return as
}

func (s *stage) config(whose string) string { return filepath.Join(s.dir, "config-"+whose) }

// svc is the program itself, as one of the two people would start it.
func (s *stage) svc(whose string, args ...string) (*exec.Cmd, error) {
	self, err := companion.Self()
	if err != nil {
		return nil, err
	}
	token := s.service.Token
	if whose == "bo" {
		token = s.boToken
	}
	cmd := exec.CommandContext(s.ctx, self, args...)
	cmd.Dir = s.clone(whose)
	cache := filepath.Join(s.dir, "cache")
	cmd.Env = append(os.Environ(), "SVC_SERVER="+s.service.Server, "SVC_TOKEN="+token, "HOME="+filepath.Join(s.dir, "home-"+whose),
		"SVC_CONFIG_DIR="+s.config(whose), "TMPDIR="+s.dir, "XDG_CACHE_HOME="+cache, "LOCALAPPDATA="+cache,
		"SVC_NO_UPDATE_CHECK=1")
	return cmd, nil
}

var conflictNamed = lazy.Regexp(`CF-\d+`)

// waits has somebody's agent wait for a conflict's end while something is done
// about it, and shows what the wait ended with.
func (s *stage) waits(whose, conflict string, meanwhile func()) {
	var out bytes.Buffer
	var cmd *exec.Cmd
	s.do(func() (err error) {
		if cmd, err = s.svc(whose, "wait", conflict); err != nil {
			return err
		}
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd.Start()
	})
	meanwhile()
	if cmd == nil || cmd.Process == nil {
		return
	}
	if s.err != nil {
		_ = cmd.Process.Kill()
	}
	err := cmd.Wait()
	s.do(func() error {
		if err != nil {
			return fmt.Errorf("the demo did not go as it should: svc wait: %w: %s", err, out.Bytes())
		}
		s.quote(out.String())
		return nil
	})
}

// expect shows what a hook answered, which must speak of something.
func (s *stage) expect(out, about string) {
	s.do(func() error {
		if !strings.Contains(out, about) {
			return fmt.Errorf("the demo did not go as it should: the hook said %q", out)
		}
		s.quote(out)
		return nil
	})
}

// quote prints the words of a hook's answer; only the lines with one of these
// in them, if any are given.
func (s *stage) quote(out string, only ...string) {
	var answer struct {
		Hook struct {
			Context string `json:"additionalContext"`
			Reason  string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(out), &answer) == nil {
		out = answer.Hook.Reason + answer.Hook.Context
	}
	for line := range strings.Lines(strings.TrimSpace(out)) {
		if len(only) > 0 && !slices.ContainsFunc(only, func(w string) bool { return strings.Contains(line, w) }) {
			continue
		}
		fmt.Fprintln(s.Stdout, "    "+s.Paint(term.Yellow, peertext.Line(line, 400)))
	}
}

func (s *stage) scene(title string) {
	if s.err == nil {
		fmt.Fprintf(s.Stdout, "\n%s\n", s.Paint(term.Bold, title))
	}
}

func (s *stage) say(who, format string, args ...any) {
	if s.err != nil {
		return
	}
	fmt.Fprintf(s.Stdout, "  %-13s %s\n", who, fmt.Sprintf(format, args...))
	if s.slow {
		fmt.Fprint(s.Stderr, "  [Enter]")
		var line string
		_, _ = fmt.Fscanln(s.Stdin, &line)
	}
}
