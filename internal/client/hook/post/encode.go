package post

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A process that lives for one request pays for all that encoding/json finds
// out about its types, the facts about code above all, and uses it once. So
// requests are written by hand, and of an answer only the part is read that is
// used. Tests hold both against the real thing.

// Digest names what a request asks: two with the same one may share an answer.
func Digest(req wire.HookRequest) string {
	req.DedupeKey, req.Client, req.FailOpens, req.Unheard = "", wire.HookClient{}, 0, nil
	body, err := encode(req)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// encode returns req as JSON.
func encode(req wire.HookRequest) ([]byte, error) {
	if len(req.LineMaps) > 0 {
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
		w.text("key", s.Key, false)
		w.text("parent_external_id", s.ParentExternalID, false)
		w.text("parent_key", s.ParentKey, false)
		w.mark("deaf", s.Deaf)
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
	w.texts("checked", req.Checked, false)
	if req.Shell != nil {
		w.object("shell", func() { w.shell(req.Shell) })
	}
	w.analysis(req.Analysis)
	if req.Status != nil {
		w.object("status", func() {
			w.text("excerpt", req.Status.Excerpt, false)
			w.texts("files", req.Status.Files, false)
		})
	}
	if len(req.Pending) > 0 {
		w.list("pending", len(req.Pending), func(i int) { w.pending(&req.Pending[i]) })
	}
	w.number("stale_writes", req.StaleWrites, false)
	w.number("fail_opens", req.FailOpens, false)
	w.texts("unheard", req.Unheard, false)
	w.close('}')
	return w.b, nil
}

func (w *writer) pending(p *wire.HookPending) {
	w.text("path", p.Path, true)
	w.text("base_blob", p.BaseBlob, false)
	w.text("new_blob", p.NewBlob, false)
	w.text("now_blob", p.NowBlob, false)
	w.hunks("hunks", p.Hunks, false)
	w.hunks("edits", p.Edits, false)
}

func (w *writer) hunks(name string, hunks []coord.Hunk, always bool) {
	if len(hunks) == 0 && !always {
		return
	}
	w.list(name, len(hunks), func(i int) {
		w.number("start", hunks[i].Start, true)
		w.number("count", hunks[i].Count, true)
		w.text("lines_hash", hunks[i].LinesHash, true)
	})
}

func (w *writer) shell(s *wire.HookShell) {
	w.text("command", s.Command, true)
	if len(s.Git) == 0 {
		return
	}
	w.list("git", len(s.Git), func(i int) {
		g := &s.Git[i]
		w.text("verb", g.Verb, true)
		w.text("effect", string(g.Effect), true)
		w.gitFiles(g.Files)
		w.mark("all", g.All)
		if len(g.Stashes) > 0 {
			w.list("stashes", len(g.Stashes), func(i int) {
				w.text("name", g.Stashes[i].Name, true)
				w.text("session_id", g.Stashes[i].SessionID, true)
			})
		}
	})
}

func (w *writer) gitFiles(files []wire.GitFile) {
	if len(files) == 0 {
		return
	}
	w.list("files", len(files), func(i int) {
		w.text("path", files[i].Path, true)
		if files[i].CommittedAt != nil {
			w.text("committed_at", files[i].CommittedAt.String(), true)
		}
	})
}

func (w *writer) repo(r wire.HookRepo) {
	w.texts("remote_fingerprints", r.RemoteFingerprints, true)
	w.text("branch", r.Branch, false)
	w.text("default_branch", r.DefaultBranch, false)
	w.text("head_sha", r.HeadSHA, false)
	w.text("base_sha", r.BaseSHA, false)
	w.text("worktree_hash", r.WorktreeHash, false)
	w.text("cwd_path", r.CwdPath, false)
	w.mark("ignore_case", r.IgnoreCase)
	w.mark("known_only", r.KnownOnly)
	w.texts("root_commits", r.RootCommits, false)
	if len(r.Packages) == 0 {
		return
	}
	w.list("packages", len(r.Packages), func(i int) {
		w.text("name", r.Packages[i].Name, true)
		w.text("path", r.Packages[i].Path, true)
		w.text("language", r.Packages[i].Language, false)
	})
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

// list writes a list of n objects, each filled by its number.
func (w *writer) list(name string, n int, fill func(i int)) {
	w.key(name)
	w.items(n, fill)
}

func (w *writer) items(n int, fill func(i int)) {
	w.open('[')
	for i := range n {
		w.comma()
		w.open('{')
		fill(i)
		w.close('}')
	}
	w.close(']')
}

func (w *writer) flag(name string, yes bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, yes)
}

// mark writes a field that is there only if it is true.
func (w *writer) mark(name string, yes bool) {
	if yes {
		w.flag(name, true)
	}
}

// optional writes a text that may be null.
func (w *writer) optional(name string, s *string) {
	if s != nil {
		w.text(name, *s, true)
		return
	}
	w.null(name)
}

func (w *writer) null(name string) {
	w.key(name)
	w.b = append(w.b, "null"...)
}

// number writes a field; zero only if it always has to be there.
func (w *writer) number(name string, n int, always bool) {
	if n == 0 && !always {
		return
	}
	w.key(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
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
		return out, fmt.Errorf("the service answered with decision %q", excerpt.Text(decision, 20))
	}
	for key, to := range map[string]*string{"reason": &out.Reason, "inject_context": &out.InjectContext} {
		if v, there := m[key]; there && v != nil {
			if *to, ok = v.(string); !ok {
				return out, errors.New("the service answered with a " + key + " that is no text")
			}
		}
	}
	if why, ok := m["unchecked"].(string); ok {
		out.Unchecked = wire.Unchecked(why)
	}
	if id, ok := m["session_id"].(string); ok {
		out.SessionID = &id
	}
	if n, ok := m["index_version"].(float64); ok {
		out.IndexVersion = int(n)
	}
	if list, ok := m["wants"].([]any); ok {
		for _, v := range list {
			w, _ := v.(map[string]any)
			path, _ := w["path"].(string)
			ours, _ := w["ours"].(string)
			theirs, _ := w["theirs"].(string)
			out.Wants = append(out.Wants, wire.WantedMap{Path: path, Ours: ours, Theirs: theirs})
		}
	}
	out.StaleWrite, _ = m["stale_write"].(string)
	unchecked, _ := m["unchecked"].(string)
	out.Unchecked = wire.Unchecked(unchecked)
	out.Watch = decodeWatch(m["watch"])
	out.MergeChecks = decodeChecks(m["merge_checks"])
	if list, ok := m["want_lines"].([]any); ok {
		for _, v := range list {
			if path, ok := v.(string); ok {
				out.WantLines = append(out.WantLines, path)
			}
		}
	}
	decodeWork(m, &out)
	return out, nil
}

// decodeWatch reads the names that a client is to look for.
func decodeWatch(v any) (out []coord.WatchedName) {
	list, _ := v.([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		w := coord.WatchedName{}
		w.Family, _ = m["family"].(string)
		w.Name, _ = m["name"].(string)
		form, _ := m["form"].(string)
		w.Form = coord.NameForm(form)
		files, _ := m["files"].([]any)
		for _, f := range files {
			if file, ok := f.(string); ok {
				w.Files = append(w.Files, file)
			}
		}
		out = append(out, w)
	}
	return out
}

// decodeChecks reads the work that is worth merging with the session's.
func decodeChecks(v any) (out []wire.WantedCheck) {
	list, _ := v.([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		var c wire.WantedCheck
		c.Copy, _ = m["copy"].(string)
		c.Branch, _ = m["branch"].(string)
		pull, _ := m["pull"].(float64)
		c.Pull = int(pull)
		c.Who, _ = m["who"].(string)
		out = append(out, c)
	}
	return out
}

// decodeWork reads what a status line shows: the intent and the conflicts.
func decodeWork(m map[string]any, out *wire.HookReply) {
	if in, ok := m["intent"].(map[string]any); ok {
		ref, _ := in["ref"].(string)
		status, _ := in["status"].(string)
		out.Intent = &wire.HookIntent{Ref: ref, Status: coord.IntentStatus(status)}
	}
	list, _ := m["conflicts"].([]any)
	for _, v := range list {
		c, _ := v.(map[string]any)
		ref, _ := c["ref"].(string)
		severity, _ := c["severity"].(string)
		if ref != "" {
			out.Conflicts = append(out.Conflicts, wire.HookConflict{Ref: ref, Severity: coord.Severity(severity)})
		}
	}
}
