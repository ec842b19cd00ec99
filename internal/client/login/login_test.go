package login_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-hq/svc/internal/client/login"
)

var token = "svc_" + strings.Repeat("a", 43)

func TestResolve(t *testing.T) {
	other := "svc_" + strings.Repeat("b", 43)
	for _, tt := range []struct {
		name  string
		file  login.Config
		env   map[string]string
		flags login.Overrides
		want  string // server server_source token token_source
	}{
		{name: "nothing set", want: "http://127.0.0.1:7780 default - none"},
		{name: "the file", file: login.Config{Server: "https://a.example", Token: token}, want: "https://a.example config a config"},
		{name: "the environment wins over the file", file: login.Config{Server: "https://a.example", Token: token},
			env: map[string]string{"SVC_SERVER": "https://b.example/", "SVC_TOKEN": other}, want: "https://b.example env b env"},
		{name: "a flag wins over the environment", env: map[string]string{"SVC_SERVER": "https://b.example", "SVC_TOKEN": token},
			flags: login.Overrides{Server: "https://c.example", Token: other}, want: "https://c.example flag b flag"},
		{name: "a stored token stays at its server", file: login.Config{Server: "https://a.example", Token: token},
			env: map[string]string{"SVC_SERVER": "https://b.example"}, want: "https://b.example env - none"},
		{name: "a slash makes no other server", file: login.Config{Server: "https://a.example", Token: token},
			env: map[string]string{"SVC_SERVER": "https://A.example/"}, want: "https://A.example env a config"},
		{name: "a token stored without a server belongs to the default one", file: login.Config{Token: token},
			env: map[string]string{"SVC_SERVER": "https://b.example"}, want: "https://b.example env - none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := login.Resolve(tt.file, func(k string) string { return tt.env[k] }, tt.flags)
			if err != nil {
				t.Fatal(err)
			}
			short := "-"
			if l.Token != "" {
				short = l.Token[4:5]
			}
			got := strings.Join([]string{l.Server, string(l.ServerSource), short, string(l.TokenSource)}, " ")
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestResolveRefusesNonsense(t *testing.T) {
	for name, flags := range map[string]login.Overrides{
		"not an address":      {Server: "svc.example"},
		"another scheme":      {Server: "ftp://svc.example"},
		"a password":          {Server: "https://u:p@svc.example"},
		"a query":             {Server: "https://svc.example/?x=1"},
		"a short token":       {Token: "svc_abc"},
		"a token with a tail": {Token: token + "a"},
		"a foreign token":     {Token: "ghp_" + strings.Repeat("a", 43)},
	} {
		if _, err := login.Resolve(login.Config{}, func(string) string { return "" }, flags); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	s := store(t)
	if c, err := s.Load(); err != nil || c != (login.Config{}) {
		t.Fatalf("without a file: %+v, %v", c, err)
	}
	want := login.Config{Server: "https://a.example", Token: token, DataMode: "full", WebURL: "https://a.example"}
	if err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load()
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(got.MachineID) {
		t.Fatalf("loaded %+v, %v", got, err)
	}
	want.MachineID = got.MachineID
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	mode(t, s.Path(), 0o600)
	mode(t, s.Dir, 0o700)
	if left, _ := filepath.Glob(filepath.Join(s.Dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
	if had, err := s.Forget(); !had || err != nil {
		t.Fatalf("Forget = %v, %v", had, err)
	}
	if got, _ := s.Load(); got.Token != "" || got.MachineID != want.MachineID || got.Server != want.Server {
		t.Errorf("after Forget: %+v", got)
	}
	if had, err := s.Forget(); had || err != nil {
		t.Errorf("second Forget = %v, %v", had, err)
	}
}

func TestUnsafeFilesAreSetRightOrRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, s login.Store)
		want  string // part of the error; empty when it is set right
	}{
		{"a world-readable file is closed", func(t *testing.T, s login.Store) { must(t, os.Chmod(s.Path(), 0o644)) }, ""},
		{"a linked file is refused", func(t *testing.T, s login.Store) {
			must(t, os.Rename(s.Path(), s.Path()+".real"))
			must(t, os.Symlink(s.Path()+".real", s.Path()))
		}, "not a plain file"},
		{"a linked folder is refused", func(t *testing.T, s login.Store) {
			must(t, os.Rename(s.Dir, s.Dir+".real"))
			must(t, os.Symlink(s.Dir+".real", s.Dir))
		}, "not a folder"},
		{
			"a folder that others may write to is refused",
			func(t *testing.T, s login.Store) { must(t, os.Chmod(s.Dir, 0o777)) },
			"others may write",
		},
		{"a folder that others may read is fine", func(t *testing.T, s login.Store) { must(t, os.Chmod(s.Dir, 0o755)) }, ""},
		{"broken JSON is told", func(t *testing.T, s login.Store) { must(t, os.WriteFile(s.Path(), []byte("{"), 0o600)) }, "svc login"},
		{"a folder in the file's place is refused", func(t *testing.T, s login.Store) {
			must(t, os.Remove(s.Path()))
			must(t, os.Mkdir(s.Path(), 0o700))
		}, "not a plain file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := store(t)
			must(t, s.Save(login.Config{Token: token}))
			tt.spoil(t, s)
			_, err := s.Load()
			if tt.want == "" {
				must(t, err)
				mode(t, s.Path(), 0o600)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSaveNeverWritesThroughALink(t *testing.T) {
	s := store(t)
	must(t, os.MkdirAll(s.Dir, 0o700))
	victim := filepath.Join(t.TempDir(), "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o644))
	must(t, os.Symlink(victim, s.Path()))
	if err := s.Save(login.Config{Token: token}); err == nil {
		t.Error("saved over a link")
	}
	if b, _ := os.ReadFile(victim); string(b) != "mine" {
		t.Errorf("victim holds %q", b)
	}
}

// The folder of the user's config directory is ours: its mode is set right.
func TestOurOwnFolderIsClosed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	s, err := login.Locate(func(string) string { return "" })
	must(t, err)
	must(t, os.MkdirAll(s.Dir, 0o777))
	must(t, os.Chmod(s.Dir, 0o777))
	must(t, s.Save(login.Config{Token: token}))
	mode(t, s.Dir, 0o700)
}

func TestHomeIsFoundUnderEitherName(t *testing.T) {
	for _, tt := range []struct{ home, profile, want string }{{"/h", "", "/h"}, {"", "C:/u", "C:/u"}, {"/h", "C:/u", "/h"}, {"", "", ""}} {
		getenv := func(k string) string { return map[string]string{"HOME": tt.home, "USERPROFILE": tt.profile}[k] }
		if got := login.Home(getenv); got != tt.want {
			t.Errorf("%+v gives %q", tt, got)
		}
	}
}

// With a token of the environment nobody logs in, and working copies must be
// told apart all the same.
func TestAMachineHasOneIDWithoutALogin(t *testing.T) {
	s := store(t)
	id := s.Machine()
	if id == "" || s.Machine() != id {
		t.Errorf("ids %q and %q", id, s.Machine())
	}
	mode(t, s.Path(), 0o600)
	must(t, s.Save(login.Config{Token: token, MachineID: id}))
	if c, err := s.Load(); err != nil || c.MachineID != id || s.Machine() != id {
		t.Errorf("after a login: %+v, %v", c, err)
	}
	if got := (login.Store{Dir: s.Path()}).Machine(); got != "" {
		t.Errorf("an id that is kept nowhere: %q", got)
	}
}

// Whoever reads while others write sees a whole file. Four writers at once are
// more than any machine has, and still within the reader's retries.
func TestConcurrentSavesLeaveAWholeFile(t *testing.T) {
	s := store(t)
	must(t, s.Save(login.Config{Token: token}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if err := s.Save(login.Config{Token: token, Server: "https://a.example"}); err != nil {
					t.Error(err)
				}
				if c, err := s.Load(); err != nil || c.Token != token {
					t.Errorf("loaded %+v, %v", c, err)
				}
			}
		})
	}
	wg.Wait()
}

func store(t *testing.T) login.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "svc")
	s, err := login.Locate(func(k string) string { return map[string]string{"SVC_CONFIG_DIR": dir}[k] })
	must(t, err)
	return s
}

func mode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %#o, want %#o", filepath.Base(path), got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
