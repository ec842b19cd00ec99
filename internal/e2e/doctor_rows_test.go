//go:build unix

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// release makes a svc of another version, once for all rows, and returns it.
func (m *machine) release() string {
	m.t.Helper()
	const version = "-ldflags=-X github.com/svc-hq/svc/internal/core/version.Version=1.2.0"
	file := filepath.Join(filepath.Dir(program(m.t, "svc")), "release", "svc")
	builds.Lock()
	defer builds.Unlock()
	if _, err := os.Stat(file); err == nil {
		return file
	}
	if out, err := exec.Command("go", "build", version, "-o", file, "../../cmd/svc").CombinedOutput(); err != nil {
		m.t.Fatalf("%v\n%s", err, out)
	}
	return file
}

var builds sync.Mutex

// install puts another svc in the place of this one.
func (m *machine) install(file string) {
	m.t.Helper()
	m.check(os.Remove(filepath.Join(m.bin, "svc")))
	m.check(os.Symlink(file, filepath.Join(m.bin, "svc")))
}

func brokenPrograms() []setUp {
	return []setUp{
		{"svc is not on the PATH", func(m *machine) { m.check(os.Remove(filepath.Join(m.bin, "svc"))) },
			`program +svc is not on the PATH`, false},
		{"another svc comes first", func(m *machine) {
			old := m.release()
			m.path = append([]string{filepath.Dir(old)}, m.path...)
		}, `program +agent hosts start .*svc 1\.2\.0.*which comes first on the PATH`, false},
		{"another program of that name comes first", func(m *machine) {
			m.script(filepath.Join(m.hosts, "first", "svc"), "echo usage: svc service")
			m.path = append([]string{filepath.Join(m.hosts, "first")}, m.path...)
		}, `program +.*/first/svc is another program`, false},
		{"svc may not be executed", func(m *machine) {
			data, err := os.ReadFile(program(m.t, "svc"))
			m.check(err)
			m.check(os.Remove(filepath.Join(m.bin, "svc")))
			m.check(os.WriteFile(filepath.Join(m.bin, "svc"), data, 0o644))
			m.bin = filepath.Dir(program(m.t, "svc")) // the one that the person runs
		}, `program +.*/svc may not be executed`, true},
		{"the server is older", func(m *machine) {
			m.instead.Store("/openapi.json", `{"info": {"version": "0.9.2"}}`)
			m.install(m.release())
		}, `version +the server is 0\.9\.2 and older`, false},
		{"the server is newer", func(m *machine) {
			m.instead.Store("/openapi.json", `{"info": {"version": "2.0.0"}}`)
			m.install(m.release())
		}, `version +the server is 2\.0\.0 and newer(.|\n)*fix: svc update`, false},
		{"there is no git", func(m *machine) { m.path = []string{m.bin, m.hosts} }, `git +git cannot be started`, false},
		{"a folder is a path of Windows", func(m *machine) { m.env = append(m.env, `CODEX_HOME=C:\Users\olga\.codex`) },
			`paths +CODEX_HOME is a path of Windows(.|\n)*fix: unset CODEX_HOME`, false},
		{"a folder has a line break of Windows", func(m *machine) { m.env = append(m.env, "XDG_DATA_HOME="+m.home+"/data\r") },
			`paths +XDG_DATA_HOME ends with a line break`, false},
		{"git is too old", func(m *machine) { m.script(filepath.Join(m.hosts, "git"), "echo git version 2.17.1") },
			`git +git version 2\.17\.1 is too old`, false},
		{"the folder for temporary files is not there", func(m *machine) {
			m.write(filepath.Join(m.home, "file"), "")
			m.env = append(m.env, "TMPDIR="+filepath.Join(m.home, "file", "tmp"))
		}, `memory +hooks remember nothing`, false},
		{"others may write where hooks remember", func(m *machine) {
			m.svc("doctor")
			found, err := filepath.Glob(filepath.Join(strings.TrimPrefix(m.env[0], "TMPDIR="), "svc-hook-*"))
			m.check(err)
			m.check(os.Chmod(found[0], 0o777))
		}, `memory +.*is not a folder of yours alone`, true},
		{"a file is where hooks remember", func(m *machine) {
			m.svc("doctor")
			found, err := filepath.Glob(filepath.Join(strings.TrimPrefix(m.env[0], "TMPDIR="), "svc-hook-*"))
			m.check(err)
			m.check(os.RemoveAll(found[0]))
			m.write(found[0], "damaged")
		}, `memory +.*is not a folder of yours alone`, true},
		{"events went unanswered, and hooks pause", func(m *machine) {
			m.down.Store(true)
			for range 4 {
				cmd := exec.Command(program(m.t, "svc"), "hook", "--tool", "claude_code", "--event", "UserPromptSubmit")
				cmd.Dir = m.repo
				cmd.Env = append([]string{"PATH=" + strings.Join(m.path, ":"), "HOME=" + m.home, "SVC_CONFIG_DIR=" + m.config}, m.env...)
				cmd.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"go","cwd":"` + m.repo + `"}`)
				m.check(cmd.Run())
			}
			m.down.Store(false)
		}, `hooks +4 events of your agents went unanswered`, true},
	}
}

func brokenLogins() []setUp {
	return []setUp{
		{"nobody is logged in", func(m *machine) { m.svc("logout") }, `token +not logged in(.|\n)*fix: svc login`, false},
		{"others may read the token", func(m *machine) { m.check(os.Chmod(filepath.Join(m.config, "config.json"), 0o644)) },
			`config +others on this machine could read the token in .*\(mode 0644\)`, true},
		{"others may write to the config folder", func(m *machine) { m.check(os.Chmod(m.config, 0o777)) },
			`config +others may write to .*\(mode 0777\)`, true},
		{"the config file is damaged", func(m *machine) { m.write(filepath.Join(m.config, "config.json"), `{"server": "htt`) },
			`config +.*config\.json is damaged`, false},
		{"the config file is a link", func(m *machine) {
			file := filepath.Join(m.config, "config.json")
			m.check(os.Rename(file, file+".real"))
			m.check(os.Symlink(file+".real", file))
		}, `config +.*is not a plain file`, false},
		{"the config folder takes no files", func(m *machine) {
			m.write(filepath.Join(m.home, "file"), "")
			m.config = filepath.Join(m.home, "file", "config")
			m.env = append(m.env, "SVC_SERVER="+m.front.URL, "SVC_TOKEN="+m.token)
		}, `config +.*(takes no files|not a directory)`, false},
		{"the token was revoked", func(m *machine) {
			id := m.login(`{"name":"story","user_email":"olga@example.com"}`)
			m.s.send(http.MethodDelete, "/v1/tokens/"+id, "", nil)
		}, `token +.*rejected the token(.|\n)*fix: svc login`, false},
		{"the token has expired", func(m *machine) {
			var made struct{ ID, Token string }
			m.s.post("/v1/tokens", `{"name":"story","user_email":"olga@example.com","expires_in_days":30}`, &made)
			m.check(m.s.d.Ops.People.Write(m.t.Context(), coord.Caller{}, func(tx *store.Tx) error {
				_, err := tx.ExecContext(m.t.Context(), "UPDATE tokens SET expires_at = $2 WHERE id = $1", made.ID, 1000)
				return err
			}))
			m.env = append(m.env, "SVC_SERVER="+m.front.URL, "SVC_TOKEN="+made.Token)
		}, `token +.*rejected the token .*expired(.|\n)*fix: unset SVC_TOKEN`, false},
		{"the disk is full", func(m *machine) { m.full = true }, `config +.*takes no files(.|\n)*fix: make room on that disk`, false},
		{"the person was removed from the org", func(m *machine) {
			var made struct{ ID string }
			m.s.post("/v1/members", `{"email":"cy@example.com","name":"Cy Cedar"}`, &made)
			m.login(`{"name":"story","user_email":"cy@example.com"}`)
			m.s.send(http.MethodDelete, "/v1/members/"+made.ID, "", nil)
		}, `token +.*rejected the token`, false},
		{"the token is a service's", func(m *machine) {
			m.login(`{"name":"ci","kind":"service","scopes":["intents:read"]}`)
		},
			`token +this is a service token; agents need a personal one`, false},
		{"the token lacks a scope", func(m *machine) {
			m.login(`{"name":"thin","user_email":"olga@example.com","scopes":["intents:read"]}`)
		}, `token +the token lacks the scope hooks:evaluate and mcp:tools`, false},
		{"the token in the environment is none", func(m *machine) { m.env = append(m.env, "SVC_TOKEN=ghp_abc") },
			`config +the token from env is not a token`, false},
		{"the token is for another server", func(m *machine) { m.env = append(m.env, "SVC_SERVER="+m.s.URL) },
			`token +the stored token is for http`, false},
		{"no server is there", func(m *machine) { m.front.Close() }, `server +cannot reach .*connection refused; is the server running`, false},
		{"the server's name is wrong", func(m *machine) { m.env = append(m.env, "SVC_SERVER=https://svc.invalid", "SVC_TOKEN="+m.token) },
			`server +cannot reach https://svc\.invalid`, false},
		{"the address is another web site", func(m *machine) {
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }))
			m.t.Cleanup(site.Close)
			m.env = append(m.env, "SVC_SERVER="+site.URL, "SVC_TOKEN="+m.token)
		}, `server +.*which is not the service; is the address right`, false},
		{"a plain server is asked for https", func(m *machine) {
			m.env = append(m.env, "SVC_SERVER="+strings.Replace(m.front.URL, "http:", "https:", 1), "SVC_TOKEN="+m.token)
		}, `server +.*it does not speak TLS`, false},
		{"a token would travel in the clear", func(m *machine) {
			m.env = append(m.env, "SVC_SERVER=http://svc.example.com", "SVC_TOKEN="+m.token)
		},
			`server +.*is plain http: the token would travel in the clear`, false},
		{"nobody here trusts the certificate", func(m *machine) { m.secure("", time.Now().Add(time.Hour)) },
			`server +.*signed by an authority this machine does not trust.*SSL_CERT_FILE`, false},
		{"the certificate has expired", func(m *machine) {
			file := filepath.Join(m.home, "ca.pem")
			m.secure(file, time.Now().Add(-time.Hour))
			m.env = append(m.env, "SSL_CERT_FILE="+file)
		}, `server +.*its certificate is not valid: .*expired.*must renew it`, false},
		{"the proxy is not there", func(m *machine) {
			m.env = append(m.env, "SVC_SERVER=https://svc.example.com", "SVC_TOKEN="+m.token, "HTTPS_PROXY=http://127.0.0.1:1")
		}, `server +cannot reach https://svc\.example\.com through the proxy http://127\.0\.0\.1:1`, false},
		{"the clock is wrong", func(m *machine) { m.skew.Store(int64(10 * time.Minute)) },
			`clock +this machine's clock and the server's differ by (10m|9m[0-9]+s)`, false},
	}
}

// secure has the service answer with a certificate of its own making, which it
// writes to a file, if that is named.
func (m *machine) secure(file string, until time.Time) {
	m.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	m.check(err)
	sheet := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until, IsCA: true,
		BasicConstraintsValid: true, DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, sheet, sheet, &key.PublicKey, key)
	m.check(err)
	s := httptest.NewUnstartedServer(m.relay())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.StartTLS()
	m.t.Cleanup(s.Close)
	if file != "" {
		m.write(file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	}
	m.env = append(m.env, "SVC_SERVER="+strings.Replace(s.URL, "127.0.0.1", "localhost", 1), "SVC_TOKEN="+m.token)
}

func brokenRepos() []setUp {
	return []setUp{
		{"in no repository", func(m *machine) { m.dir = m.home }, `git +this folder is in no git repository`, false},
		{"a repository without a remote", func(m *machine) { m.git("remote", "remove", "origin") },
			`git +.*has no remote; hooks do nothing here`, false},
		{"a remote that is a folder", func(m *machine) { m.git("remote", "set-url", "origin", "/srv/git/shop.git") },
			`git +the remote of .* is no address that two machines share`, false},
		{"a shallow clone", func(m *machine) { m.write(filepath.Join(m.repo, ".git", "shallow"), m.git("rev-parse", "HEAD")+"\n") },
			`git +.*is a shallow clone(.|\n)*fix: git fetch --unshallow`, false},
		{"git does not trust whose folder it is", func(m *machine) {
			m.script(filepath.Join(m.hosts, "git"), `case "$*" in *--version*) echo git version 2.45.0;; *) `+
				`echo "fatal: detected dubious ownership in repository at '`+m.repo+`'" >&2; exit 128;; esac`)
		}, `git +git refuses to work in .*dubious ownership(.|\n)*fix: git config --global --add safe\.directory`, false},
		{"the repository is archived", func(m *machine) {
			m.git("remote", "set-url", "origin", "https://github.com/acme/archived-"+filepath.Base(m.home)+".git")
			var made struct{ ID string }
			m.s.post("/v1/repos", `{"full_name":"acme/archived-`+filepath.Base(m.home)+`"}`, &made)
			m.s.send(http.MethodPatch, "/v1/repos/"+made.ID, `{"archived":true}`, nil)
		}, `round trip +the service answers, but nothing is checked here\. .*archived`, false},
		{"a linked worktree without the hooks", func(m *machine) {
			copy := filepath.Join(m.t.TempDir(), "copy")
			m.git("worktree", "add", "-q", "-b", "other", copy)
			m.move(copy)
		}, `agents +no agent host is set up in this repository, though in `, true},
		{"a submodule without the hooks", func(m *machine) {
			inner := filepath.Join(m.repo, "lib")
			m.git("clone", "-q", m.repo, inner)
			m.repo = inner
			m.git("remote", "set-url", "origin", "https://github.com/acme/lib.git")
			m.move(inner)
		}, `agents +no agent host is set up in this repository, though in `, true},
	}
}

// move goes on in another folder, which Claude Code trusts as well.
func (m *machine) move(dir string) {
	m.t.Helper()
	real, err := filepath.EvalSymlinks(dir)
	m.check(err)
	m.dir, m.repo = real, real
	m.write(filepath.Join(m.home, ".claude.json"), `{"projects": {"`+real+`": {"hasTrustDialogAccepted": true}}}`)
}

func brokenHosts() []setUp {
	const claude = ".claude/settings.json"
	swap := func(old, new string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, old, new) }
	}
	local := func(text string) func(*machine) {
		return func(m *machine) { m.write(filepath.Join(m.repo, ".claude/settings.local.json"), text) }
	}
	return []setUp{
		{"no host is set up", func(m *machine) { m.svc("init", "--tools", "claude_code", "--remove") },
			`agents +no agent host is set up in this repository\n.*fix: svc init`, false},
		{"the host is not installed", func(m *machine) {
			m.check(os.Remove(filepath.Join(m.hosts, "claude")))
			m.check(os.Remove(filepath.Join(m.home, ".claude.json")))
			m.script(filepath.Join(m.hosts, "cursor-agent"), "exit 0")
		}, `agents +set up here for Claude Code, which is not installed on this machine; you have Cursor`, true},
		{"the hooks file is not JSON", func(m *machine) { m.edit(claude, swap("{", "<<<<<<< HEAD\n{")) },
			`claude_code hooks +\.claude/settings\.json cannot be read.*not valid JSON`, false},
		{"hooks of an old svc", func(m *machine) { m.edit(claude, swap("|ExitPlanMode", "")) },
			`claude_code hooks +.*lacks ExitPlanMode`, true},
		{"hooks have a time limit that no hook keeps", func(m *machine) { m.edit(claude, swap(`"timeout": 5`, `"timeout": 0.001`)) },
			`claude_code hooks +.*hooks have a time limit of 0\.001, and svc writes 5`, true},
		{"hooks name a svc that is gone", func(m *machine) { m.edit(claude, swap("svc hook --tool", "/opt/svc-0.3/bin/svc hook --tool")) },
			`claude_code hooks +.*hooks start /opt/svc-0\.3/bin/svc, which is not there`, true},
		{"hooks were written on Windows", func(m *machine) {
			m.edit(claude, swap("svc hook --tool", `C:\\Users\\olga\\svc.exe hook --tool`))
		}, `claude_code hooks +.*hooks start C:.*svc\.exe, which is not the svc that is set up now`, true},
		{"hooks with line endings of Windows, and one taken out", func(m *machine) {
			m.edit(claude, func(s string) string {
				return strings.ReplaceAll(strings.ReplaceAll(s, `"PreToolUse"`, `"Elsewhere"`), "\n", "\r\n")
			})
		}, `claude_code hooks +.*no hook on PreToolUse`, true},
		{"the host is that of Windows, beside this Linux", func(m *machine) {
			m.check(os.Remove(filepath.Join(m.hosts, "claude")))
			m.script(filepath.Join(m.hosts, "AppData", "Roaming", "npm", "claude"), "exit 0")
			m.path = append(m.path, filepath.Join(m.hosts, "AppData", "Roaming", "npm"))
			m.env = append(m.env, "WSL_DISTRO_NAME=Ubuntu")
		}, `claude_code side +.*is the host of Windows(.|\n)*fix: install Claude Code in Ubuntu`, false},
		{"one hook was taken out", func(m *machine) { m.edit(claude, swap(`"PreToolUse"`, `"Elsewhere"`)) },
			`claude_code hooks +.*no hook on PreToolUse`, true},
		{"all hooks are switched off here", local(`{"disableAllHooks": true}`),
			`claude_code switch +.*settings\.local\.json has disableAllHooks`, true},
		{"all hooks are switched off everywhere", func(m *machine) {
			m.write(filepath.Join(m.home, ".claude/settings.json"), "{\n  \"model\": \"opus\",\n  \"disableAllHooks\": true\n}\n")
		}, `claude_code switch +.*disableAllHooks = true: it runs no hooks`, true},
		{"the tool server is switched off", local(`{"disabledMcpjsonServers": ["other", "svc"]}`),
			`claude_code switch +.*disabledMcpjsonServers = svc: it does not start our tool server`, true},
		{"the folder is not trusted", func(m *machine) { m.write(filepath.Join(m.home, ".claude.json"), "{}") },
			`claude_code trust +the host does not run our hooks until you accept them`, false},
		{"the tool server is missing", func(m *machine) { m.check(os.Remove(filepath.Join(m.repo, ".mcp.json"))) },
			`claude_code tools +missing in \.mcp\.json`, true},
		{"another tool server has our name", func(m *machine) {
			m.write(filepath.Join(m.repo, ".mcp.json"), `{"mcpServers": {"svc": {"command": "npx", "args": ["systemctl-mcp"]}}}`)
		}, `claude_code tools +\.mcp\.json has another tool server under the name svc(.|\n)*fix: rename it`, false},
		{"the tool server is started another way", func(m *machine) {
			m.write(filepath.Join(m.repo, ".mcp.json"), `{"mcpServers": {"svc": {"command": "/opt/svc-0.3/bin/svc", "args": ["mcp"]}}}`)
		}, `claude_code tools +\.mcp\.json: it is of another version`, true},
		{"Codex was not asked for consent", func(m *machine) {
			m.script(filepath.Join(m.hosts, "codex"), "exit 0")
			m.svc("init", "--tools", "codex", "--yes")
		},
			`codex trust +the host does not run our hooks until you accept them`, false},
		{"Codex has its hooks switched off", func(m *machine) {
			m.svc("init", "--tools", "codex", "--yes")
			m.write(filepath.Join(m.home, ".codex/config.toml"), "[features]\nhooks = false\n")
		}, `codex switch +.*config\.toml has hooks = false: it runs no hooks`, false},
		{"Gemini has its hooks switched off", func(m *machine) {
			m.gemini()
			m.write(filepath.Join(m.home, ".gemini/settings.json"), `{"hooksConfig": {"enabled": false}}`)
		}, `gemini_cli switch +.*enabled = false: it runs no hooks`, true},
		{"Gemini has our hooks switched off by name", func(m *machine) {
			m.gemini()
			m.write(filepath.Join(m.home, ".gemini/settings.json"), `{"hooksConfig": {"disabled": ["svc"]}}`)
		}, `gemini_cli switch +.*disabled = svc: it runs no hooks`, true},
		{"a folder in which hosts run no hooks", func(m *machine) {
			m.gemini()
			m.dir = filepath.Join(m.repo, "packages", "a")
			m.check(os.MkdirAll(m.dir, 0o755))
		}, `folders +started in this folder, Claude Code, Gemini CLI would run none of our hooks`, true},
		{"a plugin with line endings of Windows", func(m *machine) {
			m.svc("init", "--tools", "opencode", "--yes")
			m.edit(".opencode/plugin/svc.js", swap("\n", "\r\n"))
		}, `opencode hooks +.*the plugin is of another version`, true},
		{"a plugin of another version", func(m *machine) {
			m.svc("init", "--tools", "opencode", "--yes")
			m.edit(".opencode/plugin/svc.js", func(s string) string { return s + "\n// old\n" })
		}, `opencode hooks +.*the plugin is of another version`, true},
	}
}

// gemini sets up a second host, which is trusted here.
func (m *machine) gemini() {
	m.t.Helper()
	m.script(filepath.Join(m.hosts, "gemini"), "exit 0")
	m.svc("init", "--tools", "gemini_cli", "--yes")
	m.write(filepath.Join(m.home, ".gemini/trustedFolders.json"), `{"`+m.repo+`": "TRUST_FOLDER"}`)
}
