package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
)

// A stage is a running service with two people and the program that they use.
type stage struct {
	dir, svc string
	d        *daemon.Daemon
	web      *http.Client
	tokens   [2]string
	count    int
}

func newStage() (*stage, error) {
	dir, err := os.MkdirTemp("", "breaks")
	if err != nil {
		return nil, err
	}
	s := &stage{dir: dir, svc: filepath.Join(dir, "svc")}
	if out, err := exec.Command("go", "build", "-o", s.svc, "./cmd/svc").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build svc: %w: %s", err, out)
	}
	return s, s.open()
}

// open starts a service of its own for one backend.
func (s *stage) open() error {
	if s.d != nil {
		if err := s.d.Stop(); err != nil {
			return err
		}
	}
	s.count++
	data := filepath.Join(s.dir, fmt.Sprint("data", s.count))
	cfg, err := daemon.ParseConfig("serve", []string{"--addr", "127.0.0.1:0", "--data", data}, nil, io.Discard)
	if err != nil {
		return err
	}
	if s.d, err = daemon.Start(context.Background(), cfg, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	s.web = &http.Client{Jar: jar}
	code, err := s.d.Ops.People.NewSetupCode(context.Background())
	if err != nil {
		return err
	}
	setup := fmt.Sprintf(`{"code":%q,"org":"Acme","email":"olga@example.com","name":"Olga","password":"correct horse battery"}`, code)
	if err := s.post("/v1/auth/setup", setup, nil); err != nil {
		return err
	}
	if err := s.post("/v1/members", `{"email":"bob@example.com","name":"Bob"}`, nil); err != nil {
		return err
	}
	for i, email := range []string{"olga@example.com", "bob@example.com"} {
		var out struct{ Token string }
		if err := s.post("/v1/tokens", fmt.Sprintf(`{"name":"play","user_email":%q}`, email), &out); err != nil {
			return err
		}
		s.tokens[i] = out.Token
	}
	return nil
}

func (s *stage) close() {
	if s.d != nil {
		s.d.Stop()
	}
	os.RemoveAll(s.dir)
}

func (s *stage) post(path, body string, out any) error {
	req, err := http.NewRequest(http.MethodPost, s.d.URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Svc-CSRF", "1")
	res, err := s.web.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	reply, _ := io.ReadAll(res.Body)
	if res.StatusCode >= 300 {
		return fmt.Errorf("POST %s: %s: %s", path, res.Status, reply)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(reply, out)
}

// breaks are the open breaks of contracts that agents are told of: what is only
// for information is not said to anybody at work.
func (s *stage) breaks() (out []string, err error) {
	res, err := s.web.Get(s.d.URL + "/v1/conflicts?limit=100")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var page wire.Page[coord.Conflict]
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		return nil, err
	}
	for _, c := range page.Items {
		if c.Kind == coord.ContractBreak && c.Status != coord.ConflictResolved && c.Severity.Rank() >= coord.SeverityWarn.Rank() {
			out = append(out, c.Ref+" "+string(c.Severity))
		}
	}
	return out, nil
}

// settled are the breaks that are told once nothing comes or goes any more: a
// busy machine takes its time.
func (s *stage) settled() (last []string, err error) {
	for quiet := 0; quiet < 5; quiet++ {
		time.Sleep(time.Second)
		now, err := s.breaks()
		if err != nil {
			return nil, err
		}
		if !slices.Equal(now, last) {
			quiet, last = 0, now
		}
	}
	return last, nil
}

// A clone is a repository with an agent at work in it.
type clone struct {
	dir, svc, name string
	env            []string
}

// clone checks a version of a mirror out.
func (s *stage) clone(mirror, commit, name, token string) (*clone, error) {
	c := &clone{dir: filepath.Join(s.dir, fmt.Sprint(name, s.count)), svc: s.svc, name: name}
	c.env = append(os.Environ(), "SVC_SERVER="+s.d.URL, "SVC_TOKEN="+token, "SVC_CONFIG_DIR="+c.dir+".config", "SVC_NO_UPDATE_CHECK=1",
		"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.com", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.com",
		"GIT_CONFIG_GLOBAL=/dev/null")
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, err
	}
	script := fmt.Sprintf("git --git-dir=%q archive %s | tar x -C %q && git init -q -b main && "+
		"git remote add origin git@github.com:acme/%s.git && git add -A -f . && git commit -q -m start", mirror, commit, c.dir, name)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir, cmd.Env = c.dir, c.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return c, nil
}

// hook sends one of Claude Code's events.
func (c *clone) hook(event, file string) error {
	payload := map[string]any{"session_id": "s-" + c.name, "cwd": c.dir, "hook_event_name": event}
	payload["source"], payload["transcript_path"] = "startup", "none"
	if file != "" {
		full := filepath.Join(c.dir, file)
		payload["tool_name"] = "Edit"
		payload["tool_input"] = map[string]any{"file_path": full, "old_string": "a", "new_string": "b"}
		payload["tool_response"] = map[string]any{"filePath": full}
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	log := c.dir + ".config/hook.log"
	for range 20 { // a loaded machine makes hooks fail open, which is no answer
		os.Remove(log)
		cmd := exec.Command(c.svc, "hook", "--tool", "claude_code", "--event", event)
		cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.env, strings.NewReader(string(text))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("hook: %w: %s", err, out)
		}
		if _, err := os.Stat(log); err != nil {
			return nil
		}
	}
	return fmt.Errorf("the hook fails open at %s", file)
}

// apply writes a change as an agent does, one file after the other.
func (c *clone) apply(files map[string]string) error {
	names := make([]string, 0, len(files))
	for f := range files {
		names = append(names, f)
	}
	sort.Strings(names)
	for _, f := range names {
		if err := os.WriteFile(filepath.Join(c.dir, f), []byte(files[f]), 0o644); err != nil {
			return err
		}
		if err := c.hook("PostToolUse", f); err != nil {
			return err
		}
	}
	return nil
}

// backend plays the changes of one backend.
func (p *play) backend(s *stage, r, front map[string]string) (tally, error) {
	api, _, err := p.beside(s, r, front)
	if err != nil {
		return tally{}, err
	}
	all, err := sources(api.dir)
	if err != nil {
		return tally{}, err
	}
	return p.trials(s, api, all)
}

// beside opens a service for two people, one with a backend, one with a program
// that uses it.
func (p *play) beside(s *stage, r, front map[string]string) (api, web *clone, err error) {
	if err := s.open(); err != nil {
		return nil, nil, err
	}
	if api, err = s.clone(filepath.Join(p.mirrors, r["repo"]+".git"), r["commit"], "api", s.tokens[0]); err != nil {
		return nil, nil, err
	}
	if web, err = s.clone(filepath.Join(p.mirrors, front["repo"]+".git"), front["commit"], "web", s.tokens[1]); err != nil {
		return nil, nil, err
	}
	for _, c := range []*clone{api, web} {
		if err := c.hook("SessionStart", ""); err != nil {
			return nil, nil, err
		}
	}
	if err := s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil); err != nil {
		return nil, nil, err
	}
	return api, web, web.index()
}

// index tells what a repository has.
func (c *clone) index() error {
	cmd := exec.Command(c.svc, "index")
	cmd.Dir, cmd.Env = c.dir, c.env
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("index: %w: %s", err, text)
	}
	return nil
}

// trials draws changes in turn, a breaking one and a compatible one.
func (p *play) trials(s *stage, api *clone, all map[string]string) (out tally, err error) {
	for i := range 2 * p.each {
		draw, told, of := p.breaking, &out.told, &out.breaks
		if i%2 == 1 {
			draw, told, of = p.compatible, &out.alarms, &out.harmless
		}
		c, ok := draw(all)
		if !ok {
			continue
		}
		found, err := p.trial(s, api, all, c)
		if err != nil {
			return out, err
		}
		*of++
		if len(found) > 0 {
			*told++
		}
		if p.verbose {
			fmt.Printf("  %v %s (%d files): %v\n", i%2 == 0, c.what, len(c.files), found)
		}
	}
	return out, nil
}

// trial plays one change and takes it back.
func (p *play) trial(s *stage, api *clone, all map[string]string, c change) ([]string, error) {
	if err := api.apply(c.files); err != nil {
		return nil, err
	}
	if err := api.hook("Stop", ""); err != nil { // what there was no time for is told when a turn ends
		return nil, err
	}
	found, err := s.settled()
	if err != nil {
		return nil, err
	}
	back := map[string]string{}
	for f := range c.files {
		back[f] = all[f]
	}
	if err := api.apply(back); err != nil {
		return nil, err
	}
	var left []string
	for range 6 { // a turn has only so much time for what is still to be told
		if err := api.hook("Stop", ""); err != nil {
			return nil, err
		}
		if left, err = s.settled(); err != nil || len(left) == 0 {
			return found, err
		}
	}
	return nil, fmt.Errorf("%s was taken back, and is still told: %v", c.what, left)
}
