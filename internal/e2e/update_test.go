package e2e

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

var releaseKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))

// build makes a real svc of version v that trusts releaseKey, once per run.
var build = func() func(t *testing.T, v string) []byte {
	var mu sync.Mutex
	made := map[string][]byte{}
	return func(t *testing.T, v string) []byte {
		t.Helper()
		if testing.Short() {
			t.Skip("make test builds the programs and tests with them")
		}
		sources()
		mu.Lock()
		defer mu.Unlock()
		if made[v] != nil {
			return made[v]
		}
		const module = "github.com/svc-hq/svc/internal/"
		key := base64.StdEncoding.EncodeToString(releaseKey.Public().(ed25519.PublicKey))
		out := filepath.Join(t.TempDir(), "svc")
		// As the tests themselves are built, so that all but the linking is done already.
		cmd := exec.Command("go", "build", "-ldflags",
			"-s -w -X "+module+"core/version.Version="+v+" -X "+module+"client/selfupdate.releaseKeys=k1="+key, "-o", out,
			"github.com/svc-hq/svc/cmd/svc")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		made[v] = data
		return data
	}
}()

// releases serves one release. Handle, if set, takes the artifact's place.
type releases struct {
	manifest wire.Release
	handle   http.HandlerFunc
}

func (r *releases) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path == wire.ReleasePath {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(r.manifest)
		return
	}
	r.handle(w, req)
}

func publish(t *testing.T, bin []byte, v string, key ed25519.PrivateKey) *releases {
	t.Helper()
	sum := sha256.Sum256(bin)
	m, err := selfupdate.Sign(wire.Release{
		Version:    v,
		ReleasedAt: coord.Time(1),
		NotesURL:   "https://example.com/notes",
		Artifacts: []wire.Artifact{
			{OS: runtime.GOOS, Arch: runtime.GOARCH, URL: "svc-" + v, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(bin))}},
	}, "k1", key)
	if err != nil {
		t.Fatal(err)
	}
	return &releases{manifest: m, handle: func(w http.ResponseWriter, _ *http.Request) { w.Write(bin) }}
}

// A real svc 1.1.0 updates itself, or in every failing case goes on working.
func TestUpdateOfARealBinary(t *testing.T) {
	older, newer := build(t, "1.1.0"), build(t, "1.2.0")
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	for _, tt := range []struct {
		name   string
		folder string
		server func() *releases
		spoil  func(t *testing.T, dir string) *syscall.SysProcAttr
		want   string // part of standard error; empty for success
	}{
		{name: "to a newer one", server: func() *releases { return publish(t, newer, "1.2.0", releaseKey) }},
		{name: "a corrupted artifact", server: func() *releases {
			r := publish(t, newer, "1.2.0", releaseKey)
			bad := bytes.Clone(newer)
			bad[len(bad)/2] ^= 1
			r.handle = func(w http.ResponseWriter, _ *http.Request) { w.Write(bad) }
			return r
		}, want: "other checksum"},
		{name: "a wrong signature", server: func() *releases { return publish(t, newer, "1.2.0", stranger) }, want: "signature is wrong"},
		{name: "a version number raised by the server", server: func() *releases {
			r := publish(t, older, "1.1.0", releaseKey)
			r.manifest.Version = "1.9.0"
			return r
		}, want: "signature is wrong"},
		{name: "a downgrade", server: func() *releases { return publish(t, newer, "1.0.0", releaseKey) }, want: "-"},
		{name: "an interrupted download", server: func() *releases {
			r := publish(t, newer, "1.2.0", releaseKey)
			r.handle = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(len(newer)))
				w.Write(newer[:len(newer)/2])
				panic(http.ErrAbortHandler)
			}
			return r
		}, want: "nothing was changed"},
		{name: "a folder that cannot be written to", server: func() *releases { return publish(t, newer, "1.2.0", releaseKey) },
			spoil: readOnly, want: "cannot write to"},
		{
			name:   "a package manager's install",
			folder: "Cellar/svc/1.1.0/bin",
			server: func() *releases { return publish(t, newer, "1.2.0", releaseKey) },
			want:   "run: brew upgrade svc",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.server())
			t.Cleanup(srv.Close)
			path := install(t, older, tt.folder)
			var attr *syscall.SysProcAttr
			if tt.spoil != nil {
				attr = tt.spoil(t, filepath.Dir(path))
			}
			cmd := svcAt(t, path, srv.URL, "update")
			cmd.SysProcAttr = attr
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			switch {
			case tt.want == "":
				if err != nil || !strings.Contains(string(out), "Updated svc from 1.1.0 to 1.2.0") {
					t.Fatalf("%v: %s%s", err, out, &errs)
				}
				if got := versionOf(t, path); got != "1.2.0" {
					t.Errorf("the installed svc is %s", got)
				}
				if got := versionOf(t, path+".prev"); got != "1.1.0" {
					t.Errorf("the kept svc is %s", got)
				}
				return
			case tt.want == "-":
				if err != nil || !strings.Contains(string(out), "svc 1.1.0 is the newest") {
					t.Errorf("%v: %s%s", err, out, &errs)
				}
			case err == nil || !strings.Contains(errs.String(), tt.want):
				t.Errorf("err = %v: %s\nwant %q", err, &errs, tt.want)
			}
			if got := versionOf(t, path); got != "1.1.0" {
				t.Errorf("the installed svc is %s", got)
			}
		})
	}
}

// Killed at any point of the download, the old svc is still there.
func TestUpdateKilledOnTheWay(t *testing.T) {
	older, newer := build(t, "1.1.0"), build(t, "1.2.0")
	for _, after := range []int{0, len(newer) / 2, len(newer) - 1} {
		sent := make(chan bool)
		r := publish(t, newer, "1.2.0", releaseKey)
		r.handle = func(w http.ResponseWriter, req *http.Request) {
			w.Write(newer[:after])
			w.(http.Flusher).Flush()
			close(sent)
			<-req.Context().Done()
		}
		srv := httptest.NewServer(r)
		path := install(t, older, "")
		cmd := svcAt(t, path, srv.URL, "update")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-sent
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		srv.CloseClientConnections()
		srv.Close()
		if got := versionOf(t, path); got != "1.1.0" {
			t.Errorf("killed after %d bytes: the installed svc is %s", after, got)
		}
	}
}

func install(t *testing.T, bin []byte, folder string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "svc")
	if err := os.WriteFile(path, bin, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func svcAt(t *testing.T, path, server string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = []string{"SVC_SERVER=" + server, "SVC_CONFIG_DIR=" + filepath.Join(filepath.Dir(path), "config"), "HOME=" + filepath.Dir(path)}
	return cmd
}

func versionOf(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatalf("%s does not run: %v", path, err)
	}
	return strings.Fields(string(out))[1]
}

// readOnly closes the folder. Root may write everywhere, so a test run by
// root runs svc as somebody else.
func readOnly(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	for d := dir; d != filepath.Dir(os.TempDir()) && d != "/" && os.Getuid() == 0; d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && info.Mode().Perm()&0o005 != 0o005 && d != os.TempDir() {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	if os.Getuid() != 0 {
		return nil
	}
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
