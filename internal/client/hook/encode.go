package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/wire"
)

// A process that lives for one request pays for all that encoding/json finds
// out about its types, the facts about code above all, and uses it once. So
// requests without such facts are written by hand, and of an answer only the
// part is read that is used. A test holds both against the real thing.

// encode returns req as JSON.
func encode(req wire.HookRequest) ([]byte, error) {
	if req.Analysis != nil {
		return json.Marshal(req)
	}
	w := &writer{b: make([]byte, 0, 2048)}
	w.open('{')
	w.text("event", string(req.Event), true)
	w.text("dedupe_key", req.DedupeKey, false)
	w.object("session", func() {
		s := req.Session
		w.text("external_id", s.ExternalID, true)
		w.text("tool", s.Tool, true)
		w.text("model", s.Model, false)
		w.text("surface", s.Surface, false)
		w.text("parent_external_id", s.ParentExternalID, false)
		if s.Deaf {
			w.key("deaf")
			w.b = append(w.b, "true"...)
		}
	})
	w.object("client", func() {
		c := req.Client
		w.text("cli_version", c.CLIVersion, false)
		w.text("os", c.OS, false)
		w.text("tool_version", c.ToolVersion, false)
		w.text("machine_id_hash", c.MachineIDHash, false)
	})
	w.object("repo", func() { w.repo(req.Repo) })
	w.text("prompt_excerpt", req.PromptExcerpt, false)
	w.text("plan_text", req.PlanText, false)
	w.texts("paths", req.Paths, false)
	if req.Shell != nil {
		w.object("shell", func() { w.shell(req.Shell) })
	}
	if req.Status != nil {
		w.object("status", func() {
			w.text("excerpt", req.Status.Excerpt, false)
			w.texts("files", req.Status.Files, false)
		})
	}
	if req.FailOpens != 0 {
		w.key("fail_opens")
		w.b = strconv.AppendInt(w.b, int64(req.FailOpens), 10)
	}
	w.close('}')
	return w.b, nil
}

func (w *writer) shell(s *wire.HookShell) {
	w.text("command", s.Command, true)
	if len(s.Git) == 0 {
		return
	}
	w.key("git")
	w.open('[')
	for _, g := range s.Git {
		w.comma()
		w.open('{')
		w.text("verb", g.Verb, true)
		w.text("effect", string(g.Effect), true)
		w.gitFiles(g.Files)
		if g.All {
			w.key("all")
			w.b = append(w.b, "true"...)
		}
		w.close('}')
	}
	w.close(']')
}

func (w *writer) gitFiles(files []wire.GitFile) {
	if len(files) == 0 {
		return
	}
	w.key("files")
	w.open('[')
	for _, f := range files {
		w.comma()
		w.open('{')
		w.text("path", f.Path, true)
		if f.CommittedAt != nil {
			w.text("committed_at", f.CommittedAt.String(), true)
		}
		w.close('}')
	}
	w.close(']')
}

func (w *writer) repo(r wire.HookRepo) {
	w.texts("remote_fingerprints", r.RemoteFingerprints, true)
	w.text("branch", r.Branch, false)
	w.text("default_branch", r.DefaultBranch, false)
	w.text("head_sha", r.HeadSHA, false)
	w.text("base_sha", r.BaseSHA, false)
	w.text("worktree_hash", r.WorktreeHash, false)
	w.text("cwd_path", r.CwdPath, false)
	if len(r.Packages) == 0 {
		return
	}
	w.key("packages")
	w.open('[')
	for _, p := range r.Packages {
		w.comma()
		w.open('{')
		w.text("name", p.Name, true)
		w.text("path", p.Path, true)
		w.text("language", p.Language, false)
		w.close('}')
	}
	w.close(']')
}

// A writer appends JSON.
type writer struct {
	b     []byte
	later bool // something stands before in this object or list
}

func (w *writer) open(c byte) {
	w.b = append(w.b, c)
	w.later = false
}

func (w *writer) close(c byte) {
	w.b = append(w.b, c)
	w.later = true
}

func (w *writer) comma() {
	if w.later {
		w.b = append(w.b, ',')
	}
	w.later = true
}

func (w *writer) key(name string) {
	w.comma()
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

func (w *writer) object(name string, fill func()) {
	w.key(name)
	w.open('{')
	fill()
	w.close('}')
}

// text writes a field; an empty one only if it always has to be there.
func (w *writer) text(name, s string, always bool) {
	if s == "" && !always {
		return
	}
	w.key(name)
	w.quote(s)
}

func (w *writer) texts(name string, list []string, always bool) {
	if len(list) == 0 && !always {
		return
	}
	w.key(name)
	w.open('[')
	for _, s := range list {
		w.comma()
		w.quote(s)
	}
	w.close(']')
}

// quote writes a string. Bytes that are no text become the replacement
// character, as in encoding/json.
func (w *writer) quote(s string) {
	const hex = "0123456789abcdef"
	w.b = append(w.b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			w.b = append(w.b, '\\', c)
		case c == '\n':
			w.b = append(w.b, '\\', 'n')
		case c < 0x20 || c == 0x7f:
			w.b = append(w.b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			w.b = append(w.b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			w.b = utf8.AppendRune(w.b, r)
			i += n
			continue
		}
		i++
	}
	w.b = append(w.b, '"')
}

// decode reads the part of an answer that a hook uses.
func decode(data []byte) (wire.HookReply, error) {
	var out wire.HookReply
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return out, fmt.Errorf("read the answer: %w", err)
	}
	decision, ok := m["decision"].(string)
	out.Decision = wire.Decision(decision)
	if !ok || out.Decision != wire.Allow && out.Decision != wire.Warn && out.Decision != wire.Block {
		return out, fmt.Errorf("the service answered with decision %q", clip(decision, 20))
	}
	for key, to := range map[string]*string{"reason": &out.Reason, "inject_context": &out.InjectContext} {
		if v, there := m[key]; there && v != nil {
			if *to, ok = v.(string); !ok {
				return out, errors.New("the service answered with a " + key + " that is no text")
			}
		}
	}
	if id, ok := m["session_id"].(string); ok {
		out.SessionID = &id
	}
	if n, ok := m["index_version"].(float64); ok {
		out.IndexVersion = int(n)
	}
	return out, nil
}
