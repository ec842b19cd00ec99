//go:build unix

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// play plays an event of Claude Code about a tool in a folder, and returns what
// the hook says.
func (l *laptop) play(event, tool, dir string, input map[string]any, env ...string) string {
	l.t.Helper()
	payload, err := json.Marshal(map[string]any{"session_id": "A" + l.session, "cwd": dir, "hook_event_name": event, "tool_name": tool,
		"tool_use_id": time.Now().String(), "tool_input": input, "tool_response": map[string]any{}, "prompt": "go on"})
	if err != nil {
		l.t.Fatal(err)
	}
	kept := l.env
	defer func() { l.env = kept }()
	l.env = append(append([]string{}, l.env...), append(env, "SVC_PATIENCE=20")...)
	out, err := l.try(string(payload), "svc", "hook", "--tool", "claude_code", "--event", event)
	if err != nil {
		l.t.Errorf("%s %v: %v: %s", tool, input, err, out)
	}
	return out
}

func (l *laptop) before(command string) string {
	l.t.Helper()
	return l.play("PreToolUse", "Bash", l.clone, map[string]any{"command": command})
}

func (l *laptop) edits(file string, env ...string) string {
	l.t.Helper()
	if !filepath.IsAbs(file) {
		file = filepath.Join(l.clone, file)
	}
	return l.play("PreToolUse", "Write", l.clone, map[string]any{"file_path": file, "content": "y\n"}, env...)
}

func denied(out string) bool { return strings.Contains(out, `"deny"`) }

// Commands that would take a clone from svc's sight are refused to agents while
// others have claims there, however they are written. The person is asked to run
// them.
func TestCommandsAgainstTheCloneAreRefused(t *testing.T) {
	l, _ := claimedLaptop(t)
	l.write("hide.sh", "#!/bin/sh\necho working\ngit remote set-url origin https://github.com/me/x\n")
	l.write("hide.py", "import subprocess\nsubprocess.run(['git', 'remote', 'remove', 'origin'])\n")
	for _, command := range []string{
		"git remote set-url origin https://github.com/me/elsewhere",
		"git remote remove origin",
		"git remote rm origin && echo done",
		"git remote rename origin old",
		"cd /tmp && git -C " + l.clone + " remote set-url origin x",
		"git config remote.origin.url https://github.com/me/elsewhere",
		"git config set remote.origin.url https://github.com/me/elsewhere",
		"git config --unset remote.origin.url",
		"git config --remove-section remote.origin",
		"git config core.worktree /tmp",
		"git config --global url.https://x/.insteadOf https://github.com/",
		"git init sub",
		"cd sub && git init -q .",
		"sh -c 'git init sub'",
		"bash -lc \"eval 'git remote set-url origin x'\"",
		"env FOO=1 git remote remove origin",
		"env -S 'git remote remove origin'",
		"X=remove; git remote $X origin",
		"echo origin | xargs git remote remove",
		"timeout 5 nohup git remote remove origin",
		"python3 -c \"import os; os.system('git remote remove origin')\"",
		"python3 -c \"import subprocess as s; s.check_call(['git','remote','set-url','origin','x'])\"",
		"node -e \"require('child_process').execSync('git remote remove origin')\"",
		"sh hide.sh", "./hide.sh", ". ./hide.sh", "sh < hide.sh", "python3 hide.py",
		"rm -rf .git", "mv .git .git.old", "rm -rf ./.git/", "mv .git/config /tmp/x",
		"echo '[core]' > .git/config",
		"sed -i s/acme/me/ .git/config",
		"printf 'gitdir: /tmp/other\\n' > sub/.git",
		"cp /tmp/config .git/config",
		"python3 -c \"open('.git/config','w').write('')\"",
		"tee .git/HEAD < /dev/null",
		"svc logout", "svc logout --revoke", "svc share --stop", "svc down", "svc login --server http://127.0.0.1:9",
		l.bin + "/svc logout", "command svc logout", "svc share --yes",
		"SVC_SERVER=http://127.0.0.1:9 claude -p 'edit a.txt'",
		"export SVC_SERVER=http://127.0.0.1:9",
		"env SVC_CONFIG_DIR=/tmp/empty claude -p x",
		"rm ~/.config/svc/config.json", "rm -rf ~/.config/svc", "rm -rf $HOME/.config", "echo '{}' > ~/.config/svc/routes.json",
		"mv ~/.config/svc /tmp/away", "rm -rf \"$TMPDIR\"/svc-hook-*",
		"rm ~/.claude/settings.json", "echo '{}' > ~/.claude/settings.json", "rm -r ~/.claude",
		"echo '{\"disableAllHooks\": true}' > .claude/settings.local.json",
		"HOME=/tmp/x claude -p 'edit a.txt'", "export CODEX_HOME=/tmp/x; codex exec x", "claude --settings '{\"disableAllHooks\":true}' -p x",
		"rm " + l.bin + "/svc", "chmod -x " + l.bin + "/svc", "ln -sf /bin/true " + l.bin + "/svc", "chmod 000 ~/.config/svc/config.json",
		"pkill svcd", "killall -9 svcd",
		"git update-index --assume-unchanged a.txt",
		"git update-index --skip-worktree a.txt",
	} {
		if out := l.before(command); !denied(out) || !strings.Contains(out, "exclusively") {
			t.Errorf("%s is not refused: %s", command, out)
		}
	}
	for _, command := range []string{
		"ln a.txt free.txt && echo x > free.txt", "cp -l a.txt free.txt; echo x > free.txt", "echo x > /proc/self/cwd/a.txt",
		"mv sub sub2; git init -q sub2", "cd sub && echo x > ../a.txt",
	} {
		if out := l.before(command); !denied(out) {
			t.Errorf("%s is not refused: %s", command, out)
		}
	}
	for _, command := range []string{
		"claude -p 'say hello'", "git remote -v",
		"git remote add upstream https://github.com/other/shop", "git remote get-url origin", "git config remote.origin.url",
		"git config user.name Olga", "git config --get remote.origin.url", "git clone https://github.com/x/y /tmp/y", "git init /tmp/z",
		"cat .git/config", "rm -f .git/index.lock", "svc status", "svc who", "cat ~/.claude/settings.json", "git fetch origin", "git init",
		"echo hi > .git/info/exclude", "grep -r SVC_SERVER .", "cp b.txt ~/",
	} {
		if out := l.before(command); denied(out) {
			t.Errorf("%s is refused: %s", command, out)
		}
	}
	for _, file := range []string{".git/config", "sub/.git", filepath.Join(l.home, ".config/svc/config.json"),
		filepath.Join(l.home, ".claude/settings.json"), ".claude/settings.json"} {
		if out := l.edits(file); !denied(out) {
			t.Errorf("an edit of %s is not refused: %s", file, out)
		}
	}
}

// A trick is what an agent with a free shell can still do to a clone, without
// that a hook reads it.
type trick struct {
	do, undo string
	edit     string // the file that is edited then; a.txt if none is named
	env      []string
}

// A clone that was once a repository stays it, whatever it says of itself: what
// others have claimed there is refused, or at the least the agent is told that
// nobody looked.
func TestACloneStaysWhatItWas(t *testing.T) {
	l, folders := claimedLaptop(t)
	config := folders[0]
	shell := func(command string) {
		t.Helper()
		l.run("", "bash", "-ec", "PATH="+l.bin+":$PATH; "+command)
	}
	for _, k := range []trick{
		{do: "git remote set-url origin https://github.com/me/elsewhere", undo: "git remote set-url origin https://github.com/acme/shop"},
		{do: "git remote remove origin", undo: "git remote add origin https://github.com/acme/shop"},
		{do: "git remote rename origin o; git config --unset remote.o.url",
			undo: "git remote remove o || true; git remote add origin https://github.com/acme/shop"},
		{do: "mv .git .git.away", undo: "mv .git.away .git"},
		{do: "mv .git .git.away; git init -q", undo: "rm -rf .git; mv .git.away .git"},
		{do: "mv .git .git.away; git init -q; git remote add origin https://github.com/me/x", undo: "rm -rf .git; mv .git.away .git"},
		{do: "mv .git ../away.git; echo 'gitdir: ../away.git' > .git", undo: "rm .git; mv ../away.git .git"},
		{do: "cp .git/config ../kept; : > .git/config", undo: "mv ../kept .git/config"},
		{do: "git init -q sub", undo: "rm -rf sub/.git", edit: "sub/x.txt"},
		{do: "git init -q sub; git -C sub remote add origin https://github.com/me/x", undo: "rm -rf sub/.git", edit: "sub/x.txt"},
		{do: "git init -q sub; git -C sub remote add origin https://github.com/me/x; git -C sub add .; git -C sub commit -qm x",
			undo: "rm -rf sub/.git", edit: "sub/x.txt"},
		{do: "echo 'gitdir: ../.git' > sub/.git", undo: "rm sub/.git", edit: "sub/x.txt"},
		{do: "git init -q ../other; echo 'gitdir: ../../other/.git' > sub/.git", undo: "rm -rf sub/.git ../other", edit: "sub/x.txt"},
		{do: "ln a.txt free.txt", undo: "rm free.txt", edit: "free.txt"},
		{do: "ln a.txt ../free.txt", undo: "rm ../free.txt", edit: "../free.txt"},
		{do: "ln -s a.txt free.txt", undo: "rm free.txt", edit: "free.txt"},
		{do: "ln -s proj ../alias", undo: "rm ../alias", edit: "../alias/a.txt"},
		{do: "cp " + config + "/config.json ../kept; echo '{}' > " + config + "/config.json", undo: "mv ../kept " + config + "/config.json"},
		{do: "cp " + config + "/config.json ../kept; rm " + config + "/config.json", undo: "mv ../kept " + config + "/config.json"},
		{do: "cp -a " + config + "/config.json " + config + "/config.json.bak ..; rm " + config + "/config.json*",
			undo: "mv ../config.json ../config.json.bak " + config},
		{do: "cp " + config + "/config.json ../kept; echo '{\"server\":\"http://127.0.0.1:9\",\"token\":\"svc_" + strings.Repeat("a", 43) +
			"\"}' > " + config + "/config.json", undo: "mv ../kept " + config + "/config.json"},
		{do: "cp " + config + "/routes.json ../kept; echo '{}' > " + config + "/routes.json; cp " + config + "/routes.json " +
			config + "/routes.json.bak",
			undo: "cp ../kept " + config + "/routes.json.bak; mv ../kept " + config + "/routes.json"},
		{do: "cp " + config + "/routes.json ../kept; echo '{\"local\":[\"github.com/acme/shop\"]}' > " + config + "/routes.json",
			undo: "mv ../kept " + config + "/routes.json"},
		{do: "true", env: []string{"SVC_SERVER=http://127.0.0.1:9"}},
		{do: "true", env: []string{"SVC_SERVER=http://127.0.0.1:9", "SVC_TOKEN=svc_" + strings.Repeat("a", 43)}},
		{do: "true", env: []string{"SVC_TOKEN=svc_" + strings.Repeat("a", 43)}},
		{do: "for s in $(grep -o 'http://[^\"]*' " + config + "/config.json | head -1); do " +
			"f=$(printf '%s' \"${#s}:$s\" | sha256sum | cut -c1-16); for i in 1 2 3 4; do echo \"fail $(date +%s)000\"; done > " +
			"$(echo \"$TMPDIR\"/svc-hook-*)/failures-$f; done", undo: "rm -f \"$TMPDIR\"/svc-hook-*/failures-*"},
		{do: "cd ..; mv proj moved; ln -s moved proj", undo: "cd ..; rm proj; mv moved proj"},
		{do: "git worktree add -q ../tree; git remote set-url origin x", undo: "git worktree remove --force ../tree; git branch -qD tree; " +
			"git remote set-url origin https://github.com/acme/shop", edit: "../tree/a.txt"},
		{do: "cp -a . ../twin; git -C ../twin remote remove origin", undo: "rm -rf ../twin", edit: "../twin/a.txt"},
	} {
		file := k.edit
		if file == "" {
			file = "a.txt"
		}
		if out := l.edits(file); !strings.HasPrefix(file, "../") && file != "free.txt" && !denied(out) {
			t.Fatalf("before %s, %s is not refused: %s", k.do, file, out)
		}
		shell(k.do)
		if out := l.edits(file, k.env...); !denied(out) && !strings.Contains(out, "svc could not check this edit") {
			t.Errorf("after %s %v, %s may be edited: %q", k.do, k.env, file, out)
		}
		if k.undo != "" {
			shell(k.undo)
		}
	}
	// What svc's own commands end is said once, by whomever they were run.
	for _, command := range []string{"svc share --stop", "svc logout"} {
		shell(command)
		if out := l.edits("a.txt"); !strings.Contains(out, "svc does not check edits in this clone any more") {
			t.Errorf("after %s: %q", command, out)
		}
		if out := l.edits("a.txt"); strings.Contains(out, "any more") {
			t.Errorf("after %s it is said again: %q", command, out)
		}
		l.session += "+"
		if command == "svc share --stop" {
			shell("svc share --yes")
			if out := l.edits("a.txt"); !denied(out) {
				t.Errorf("shared again: %q", out)
			}
		}
	}
}

// What an agent writes past a claim where no hook looks is noticed: the next
// prompt says so, and so does a message to the holder.
func TestAnEditWithoutAHookIsNoticed(t *testing.T) {
	l, _ := claimedLaptop(t)
	l.write("a.txt", "written by a free shell\n")
	out := l.play("UserPromptSubmit", "", l.clone, nil)
	if !strings.Contains(out, "a.txt changed in this clone without a hook") {
		t.Errorf("the next prompt says %s", out)
	}
	if again := l.play("UserPromptSubmit", "", l.clone, nil); strings.Contains(again, "without a hook") {
		t.Errorf("it is said again: %s", again)
	}
	inbox := get[struct {
		Items []struct{ Body string }
	}](t, l.team, l.bob, "/v1/messages")
	if len(inbox.Items) != 1 || !strings.Contains(inbox.Items[0].Body, "a.txt, which you hold exclusively, changed in the working copy of") {
		t.Errorf("the holder is told %+v", inbox)
	}
	if out := l.edits("a.txt"); !denied(out) {
		t.Errorf("after it the file may be edited: %s", out)
	}
}
