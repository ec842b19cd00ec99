package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A shop has a small release, signed, and the install.sh that goes with it.
func shop(t *testing.T, program string) (dir, script string) {
	t.Helper()
	dir = t.TempDir()
	key := filepath.Join(t.TempDir(), "key")
	var pem, ignored bytes.Buffer
	text, err := os.ReadFile("../../../packaging/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "svc-"+runtime.GOOS+"-"+runtime.GOARCH), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"keygen", "-id", "test", "-out", key}, {"sums", "-key", key, dir}} {
		if err := run(args, &ignored, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{"public", "-pem", "-key", key}, &pem, time.Now()); err != nil {
		t.Fatal(err)
	}
	script = strings.NewReplacer("@PUBLIC_KEY@\n", pem.String(), "@VERSION@", "1.2.3").Replace(string(text))
	return dir, script
}

// A buyer is a machine on which install.sh is run.
type buyer struct {
	t    *testing.T
	home string
	path []string
	env  []string
}

// tools are what every system has, without what loads from the network.
const tools = "sh uname tr mktemp cp cat awk sed mkdir chmod mv rm openssl grep"

func newBuyer(t *testing.T, more ...string) *buyer {
	t.Helper()
	if testing.Short() {
		t.Skip("make test has what install.sh needs")
	}
	b := &buyer{t: t, home: t.TempDir()}
	dir := t.TempDir()
	for _, tool := range append(more, strings.Fields(tools)...) {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	b.path = []string{dir}
	b.env = []string{"HOME=" + b.home, "TMPDIR=" + t.TempDir()}
	return b
}

func (b *buyer) bin() string { return filepath.Join(b.home, ".local", "bin") }

// install pipes the script into sh, as curl does.
func (b *buyer) install(from, script string) (string, error) {
	b.t.Helper()
	cmd := exec.Command("sh")
	cmd.Stdin = strings.NewReader(script)
	cmd.Env = append([]string{"PATH=" + strings.Join(b.path, ":"), "SVC_FROM=" + from}, b.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const works = "#!/bin/sh\necho svc 1.2.3\n"

// A machine is one on which installing goes in its own way.
type machine struct {
	name, more, from string
	odd              func(*buyer)
	fails            bool
	says             []string
}

// set gives the buyer's variables another value.
func set(name, below string) func(*buyer) {
	return func(b *buyer) { b.env = append(b.env, name+"="+b.home+below) }
}

func put(file, text string) func(*buyer) { return func(b *buyer) { b.put(file, text) } }

func machines(dir, web string) []machine {
	return []machine{
		{name: "from a folder", from: dir, says: []string{"Installed svc 1.2.3 as ", `export PATH="`, "Next: ", "/.local/bin/svc up"}},
		{name: "with curl", more: "curl", from: web, says: []string{"Installed svc 1.2.3"}},
		{name: "with wget", more: "wget", from: web, says: []string{"Installed svc 1.2.3"}},
		{name: "with neither", from: web, fails: true, says: []string{"curl or wget is needed", "SVC_FROM"}},
		{name: "what is not there", from: dir + "/nowhere", fails: true, says: []string{"SHA256SUMS is not there"}},
		{name: "nothing at a server", more: "curl", from: web + "/nowhere", fails: true, says: []string{"cannot be loaded", "https_proxy"}},
		{name: "no server", more: "wget", from: "http://127.0.0.1:1", fails: true, says: []string{"cannot be loaded", "https_proxy"}},
		{name: "without a home", from: dir, odd: func(b *buyer) { b.env = b.env[1:] }, fails: true, says: []string{"HOME is not set", "SVC_BIN"}},
		{name: "somewhere else", from: dir, odd: set("SVC_BIN", "/tools"), says: []string{"/tools/svc"}},
		{name: "a file for a folder", from: dir, odd: put(".local/bin", ""), fails: true, says: []string{"cannot be written to", "SVC_BIN"}},
		{name: "an older one there", from: dir, odd: put(".local/bin/svc", "#!/bin/sh\necho 0.9\n"), says: []string{"Installed svc 1.2.3"}},
		{name: "no temporary folder", from: dir, odd: set("TMPDIR", "/nowhere"), fails: true, says: []string{"set TMPDIR"}},
		{name: "on the PATH already", from: dir, odd: func(b *buyer) { b.path = append(b.path, b.bin()) }, says: []string{"Next: svc up"}},
		{name: "another svc is first", from: dir, odd: func(b *buyer) {
			b.put("old/svc", works)
			b.path = append(b.path, b.home+"/old", b.bin())
		}, says: []string{"/old/svc: remove that one"}},
	}
}

func TestInstallingOnMachinesAsTheyAre(t *testing.T) {
	dir, script := shop(t, works)
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	for _, row := range machines(dir, web.URL) {
		t.Run(row.name, func(t *testing.T) {
			b := newBuyer(t, strings.Fields(row.more)...)
			if row.odd != nil {
				row.odd(b)
			}
			out, err := b.install(row.from, script)
			if (err != nil) != row.fails {
				t.Errorf("%v\n%s", err, out)
			}
			for _, want := range row.says {
				if !strings.Contains(out, want) {
					t.Errorf("it says\n%swithout %q", out, want)
				}
			}
			b.clean()
		})
	}
}

func TestWhatIsNotToBeInstalledIsNot(t *testing.T) {
	dir, script := shop(t, works)
	t.Run("a program that does not start leaves the old one", func(t *testing.T) {
		b := newBuyer(t)
		b.put(".local/bin/svc", works)
		from, broken := shop(t, "#!/bin/sh\nexit 1\n")
		if out, err := b.install(from, broken); err == nil || !strings.Contains(out, "does not start") {
			t.Errorf("%v\n%s", err, out)
		}
		if text, err := os.ReadFile(filepath.Join(b.bin(), "svc")); err != nil || string(text) != works {
			t.Errorf("the old one is gone: %v", err)
		}
		b.clean()
	})
	t.Run("of another key", func(t *testing.T) {
		_, theirs := shop(t, works)
		if out, err := newBuyer(t).install(dir, theirs); err == nil || !strings.Contains(out, "signature") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("a script that was cut off does nothing", func(t *testing.T) {
		for _, share := range []int{2, 3, 5} {
			b := newBuyer(t)
			b.install(dir, script[:len(script)*(share-1)/share])
			if _, err := os.Stat(b.bin()); err == nil {
				t.Errorf("%d of %d parts made %s", share-1, share, b.bin())
			}
		}
	})
}

// put writes a program, or an empty file, into the home folder.
func (b *buyer) put(file, text string) {
	b.t.Helper()
	file = filepath.Join(b.home, file)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

// clean fails if something is left that nobody asked for.
func (b *buyer) clean() {
	b.t.Helper()
	for _, e := range b.env {
		if dir, ok := strings.CutPrefix(e, "TMPDIR="); ok {
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				b.t.Errorf("left in %s: %v", dir, left)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(b.bin(), ".svc-new")); err == nil {
		b.t.Error(".svc-new is left")
	}
}
