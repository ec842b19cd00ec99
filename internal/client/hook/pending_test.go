package hook

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// Where others have changes in a file, the service learns before the edit
// which lines of the base it would replace, from every host's payload.
func TestTheLinesOfAnEditThatIsPending(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\nfive\nsix\n"
	cases := []struct {
		host, event string
		payload     func(repo, file string) m
	}{
		{"claude_code", "PreToolUse", func(repo, file string) m {
			return claude(repo, "PreToolUse", m{"tool_name": "Edit", "tool_use_id": "t",
				"tool_input": m{"file_path": file, "old_string": "four", "new_string": "vier"}})
		}},
		{"claude_code", "PreToolUse", func(repo, file string) m {
			return claude(repo, "PreToolUse", m{"tool_name": "MultiEdit", "tool_use_id": "t",
				"tool_input": m{"file_path": file, "edits": []m{
					{"old_string": "four", "new_string": "4"}, {"old_string": "4\n", "new_string": "vier\n"}}}})
		}},
		{"claude_code", "PreToolUse", func(repo, file string) m {
			return claude(repo, "PreToolUse", m{"tool_name": "Write", "tool_use_id": "t",
				"tool_input": m{"file_path": file, "content": "ONE\n" + strings.Replace(text[4:], "four", "vier", 1)}})
		}},
		{"codex", "PreToolUse", func(repo, file string) m {
			return claude(repo, "PreToolUse", m{"tool_name": "apply_patch", "tool_use_id": "t", "tool_input": m{"command": "*** Begin Patch\n" +
				"*** Update File: a.txt\n@@\n three\n-four\n+vier\n five\n*** End Patch\n"}})
		}},
		{"gemini_cli", "BeforeTool", func(repo, file string) m {
			return m{"session_id": "g", "cwd": repo, "hook_event_name": "BeforeTool", "tool_name": "replace",
				"tool_input": m{"file_path": file, "old_string": "four", "new_string": "vier"}}
		}},
		{"qwen_code", "PreToolUse", func(repo, file string) m {
			return claude(repo, "PreToolUse", m{"tool_name": "edit", "tool_input": m{"file_path": file, "old_string": "four", "new_string": "vier"}})
		}},
		{"copilot_cli", "preToolUse", func(repo, file string) m {
			args, _ := json.Marshal(m{"path": file, "old_str": "four", "new_str": "vier"})
			return m{"sessionId": "c", "cwd": repo, "toolName": "edit", "toolArgs": json.RawMessage(args)}
		}},
		{"claude_code", "PreToolUse", bash(`sed -i 's/four/vier/' a.txt`)},
		{"claude_code", "PreToolUse", bash(`cd . && sed -i -e '4s/.*/vier/' "$PWD/a.txt" && git status`)},
		{"claude_code", "PreToolUse", bash("cat > a.txt <<'EOF'\nONE\ntwo\nthree\nvier\nfive\nsix\nEOF")},
		{"claude_code", "PreToolUse", bash(`python3 -c "s=open('a.txt').read(); open('a.txt','w').write(s.replace('four','vier'))"`)},
		{"crush", "PreToolUse", func(repo, file string) m {
			return m{"event": "PreToolUse", "session_id": "c", "cwd": repo, "tool_name": "edit",
				"tool_input": m{"file_path": file, "old_string": "four", "new_string": "vier"}}
		}},
	}
	for _, c := range cases {
		t.Run(c.host, func(t *testing.T) {
			w := newWorld(t)
			w.base = gitrepo.Base
			repo := newRepo(t, filepath.Join(w.home, "app"))
			file := gittest.Write(t, repo, "a.txt", text)
			gittest.Run(t, repo, "commit", "-q", "-a", "-m", "text")
			gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
			gittest.Write(t, repo, "a.txt", "ONE\n"+text[4:]) // an earlier edit of ours
			w.reply = func(in wire.HookRequest) any {
				id := "s"
				reply := wire.HookReply{Decision: wire.Allow, SessionID: &id}
				switch {
				case in.Event != wire.HookPreEdit && in.Event != wire.HookPreShell:
				case in.Pending == nil:
					reply.WantLines = in.Paths
				default:
					reply.Decision, reply.Reason, reply.InjectContext = wire.Warn, "git will not merge", "git will not merge"
				}
				return reply
			}
			w.run(c.host, c.event, c.payload(repo, file))
			got := w.requests()
			last := got[len(got)-1]
			if len(last.Pending) != 1 {
				t.Fatalf("nothing is pending: %+v", last)
			}
			p := last.Pending[0]
			if p.Path != "a.txt" || len(p.Hunks) != 2 || p.Hunks[0].Start != 1 || p.Hunks[1].Start != 4 || p.Hunks[1].Count != 1 {
				t.Errorf("lines of the base: %+v", p)
			}
			if len(p.Edits) != 1 || p.Edits[0].Start != 4 || p.Edits[0].Count != 1 {
				t.Errorf("lines of the edit: %+v", p.Edits)
			}
			if p.BaseBlob != gittest.Run(t, repo, "rev-parse", "HEAD:a.txt") {
				t.Errorf("base %s", p.BaseBlob)
			}
		})
	}
}

// bash is a command that an agent is about to run.
func bash(command string) func(repo, file string) m {
	return func(repo, _ string) m {
		return claude(repo, "PreToolUse", m{"tool_name": "Bash", "tool_use_id": "t", "tool_input": m{"command": command}})
	}
}

// A file that goes away takes all its lines with it.
func TestTheLinesOfAFileThatIsAboutToGo(t *testing.T) {
	for _, command := range []string{"rm a.txt", "git rm -f a.txt && true; rm -f a.txt", "mv a.txt b.txt"} {
		w := newWorld(t)
		w.base = gitrepo.Base
		repo := newRepo(t, filepath.Join(w.home, "app"))
		gittest.Write(t, repo, "a.txt", "one\ntwo\n")
		gittest.Run(t, repo, "commit", "-q", "-a", "-m", "text")
		gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
		w.reply = func(in wire.HookRequest) any {
			id := "s"
			return wire.HookReply{Decision: wire.Allow, SessionID: &id, WantLines: in.Paths}
		}
		w.run("claude_code", "PreToolUse", bash(command)(repo, ""))
		got := w.requests()
		last := got[len(got)-1].Pending
		i := slices.IndexFunc(last, func(p wire.HookPending) bool { return p.Path == "a.txt" })
		if i < 0 || last[i].NewBlob != "" || last[i].BaseBlob == "" || len(last[i].Hunks) != 1 || last[i].Hunks[0].Count != 2 {
			t.Errorf("%s: %+v", command, last)
		}
	}
}

func TestAnOrdinaryEditIsAskedAboutOnce(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	w.run("claude_code", "PreToolUse", write(repo, filepath.Join(repo, "a.txt"), "t"))
	if got := w.one(); got.Pending != nil {
		t.Errorf("%+v", got.Pending)
	}
}
