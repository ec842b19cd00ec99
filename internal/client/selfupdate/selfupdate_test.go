package selfupdate_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

var (
	key  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	keys = selfupdate.Keys{"k1": key.Public().(ed25519.PublicKey)}
	now  = time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
)

// program is a shell script, so that it can be run as the real one is.
func program(version string) []byte {
	return []byte("#!/bin/sh\necho svc " + version + " test/test\n")
}

func release(bin []byte, change func(*wire.Release)) wire.Release {
	sum := sha256.Sum256(bin)
	r := wire.Release{
		Version: "1.2.0", ReleasedAt: coord.TimeOf(now), ExpiresAt: coord.TimeOf(now.Add(time.Hour)).Ptr(), NotesURL: "https://example.com/notes",
		Artifacts: []wire.Artifact{{OS: "testos", Arch: "testarch", URL: "/cli/svc", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(bin))}},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func sign(t *testing.T, r wire.Release) []byte {
	t.Helper()
	r, err := selfupdate.Sign(r, "k1", key)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestASignedReleaseIsTaken(t *testing.T) {
	r, err := keys.Verify(sign(t, release(program("1.2.0"), nil)), now)
	if err != nil || r.Version != "1.2.0" {
		t.Fatalf("%+v, %v", r, err)
	}
}

// Whatever single byte of the manifest is changed, it is refused or says the
// same as before: addresses of mirrors are free to change.
func TestNoByteOfAManifestCanBeChanged(t *testing.T) {
	good := sign(t, release(program("1.2.0"), nil))
	want, err := keys.Verify(good, now)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := want.SignedText()
	refused := 0
	for i := range good {
		for _, flip := range []byte{0x01, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			got, err := keys.Verify(bad, now)
			if err != nil {
				refused++
				continue
			}
			if again, _ := got.SignedText(); !bytes.Equal(again, text) {
				t.Fatalf("byte %d: accepted %s", i, bad)
			}
		}
	}
	if refused < len(good) {
		t.Errorf("only %d changes refused", refused)
	}
}

func TestReleasesThatAreRefused(t *testing.T) {
	bin := program("1.2.0")
	unsigned, _ := json.Marshal(release(bin, nil))
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	foreign, _ := selfupdate.Sign(release(bin, nil), "k1", other)
	foreignJSON, _ := json.Marshal(foreign)
	unknown, _ := selfupdate.Sign(release(bin, nil), "k9", key)
	unknownJSON, _ := json.Marshal(unknown)
	for _, tt := range []struct {
		name     string
		manifest []byte
		want     string
	}{
		{"not signed", unsigned, "no signed release"},
		{"signed by another key", foreignJSON, "signature is wrong"},
		{"signed with an unknown key", unknownJSON, "does not know"},
		{"expired", sign(t, release(bin, func(r *wire.Release) { r.ExpiresAt = coord.TimeOf(now.Add(-time.Second)).Ptr() })), "expired"},
		{"no version", sign(t, release(bin, func(r *wire.Release) { r.Version = "latest" })), "no proper version"},
		{"not JSON", []byte("<html>"), "cannot be read"},
		{"a line break in a field", []byte(`{"version":"1.2.0\nx","key_id":"k1"}`), "not valid"},
	} {
		if _, err := keys.Verify(tt.manifest, now); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: err = %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := (selfupdate.Keys{}).Verify(unsigned, now); err == nil {
		t.Error("a build without keys accepted a release")
	}
}

func TestInstall(t *testing.T) {
	bin := program("1.2.0")
	for _, tt := range []struct {
		name    string
		current string
		change  func(*wire.Release)
		serve   http.HandlerFunc
		want    string // part of the error; empty for success
	}{
		{name: "a newer release takes the old one's place"},
		{name: "a downgrade", current: "1.3.0", want: "never goes back"},
		{name: "the same version", current: "1.2.0", want: "never goes back"},
		{name: "a pre-release of the same", current: "1.2.0-rc.1"},
		{name: "a developer's build", current: "0.0.0-dev", want: "never goes back"},
		{name: "another platform", change: func(r *wire.Release) { r.Artifacts[0].OS = "plan9" }, want: "no program for"},
		{name: "a corrupted artifact", serve: func(w http.ResponseWriter, r *http.Request) {
			w.Write(bytes.Replace(bin, []byte("echo"), []byte("evil"), 1))
		}, want: "other checksum"},
		{name: "an endless artifact", serve: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, want: "other checksum"},
		{name: "an interrupted download", serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(bin)))
			w.Write(bin[:10])
		}, want: "unexpected EOF"},
		{name: "a missing artifact", serve: http.NotFound, want: "404"},
		{name: "a program that says another version", change: func(r *wire.Release) { r.Version = "1.9.0" }, want: "not 1.9.0"},
		{name: "too big", change: func(r *wire.Release) { r.Artifacts[0].Size = 1 << 40 }, want: "refused"},
		{
			name:   "an address that is no address",
			change: func(r *wire.Release) { r.Artifacts[0].URL = "file:///etc/passwd" },
			want:   "not one to load from",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "svc")
			if tt.current == "" {
				tt.current = "1.1.0"
			}
			old := program(tt.current)
			if err := os.WriteFile(path, old, 0o755); err != nil {
				t.Fatal(err)
			}
			if tt.serve == nil {
				tt.serve = func(w http.ResponseWriter, r *http.Request) { w.Write(bin) }
			}
			srv := httptest.NewServer(tt.serve)
			t.Cleanup(srv.Close)
			p := selfupdate.Program{Path: path, Version: tt.current, OS: "testos", Arch: "testarch", Now: func() time.Time { return now }}
			r := release(bin, tt.change)
			err := p.Install(t.Context(), r, srv.URL+wire.ReleasePath)
			got, _ := os.ReadFile(path)
			if left, _ := filepath.Glob(filepath.Join(dir, ".svc-update-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("err = %v, want %q", err, tt.want)
				}
				if !bytes.Equal(got, old) {
					t.Errorf("the old program was changed to %q", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, bin) {
				t.Errorf("the program is %q", got)
			}
			if prev, _ := os.ReadFile(path + ".prev"); !bytes.Equal(prev, old) {
				t.Errorf("the kept program is %q", prev)
			}
		})
	}
}

func TestPackageManagersAreKnownByTheirPlace(t *testing.T) {
	for path, want := range map[string]string{
		"/opt/homebrew/Cellar/svc/1.0/bin/svc":                "brew upgrade svc",
		"/usr/local/Cellar/svc/1.0/bin/svc":                   "brew upgrade svc",
		"/nix/store/abc-svc-1.0/bin/svc":                      "nix profile upgrade svc",
		"/Users/a/.local/share/mise/installs/svc/1.0/bin/svc": "mise upgrade svc",
		"/usr/lib/node_modules/svc/bin/svc":                   "npm install --global @svc-hq/svc@latest",
		"/home/me/.npm/_npx/1f/node_modules/svc/bin/svc":      "npx @svc-hq/svc@latest up",
		"/Users/a/bin/svc":                                    "",
		"/usr/local/bin/svc":                                  "",
	} {
		if _, got, _ := selfupdate.ManagedBy(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if _, cmd, ok := selfupdate.ManagedBy("/usr/bin/svc"); !ok || cmd == "" {
		t.Error("/usr/bin/svc counts as self-installed")
	}
}

// The new program runs where it was tried but not in the old one's place.
func TestAProgramThatFailsInPlaceIsTakenBack(t *testing.T) {
	bin := []byte("#!/bin/sh\ncase \"$0\" in */svc) exit 1;; esac\necho svc 1.2.0\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(bin) }))
	t.Cleanup(srv.Close)
	path := filepath.Join(t.TempDir(), "svc")
	old := program("1.1.0")
	if err := os.WriteFile(path, old, 0o755); err != nil {
		t.Fatal(err)
	}
	p := selfupdate.Program{Path: path, Version: "1.1.0", OS: "testos", Arch: "testarch", Now: func() time.Time { return now }}
	err := p.Install(t.Context(), release(bin, nil), srv.URL+wire.ReleasePath)
	if err == nil || !strings.Contains(err.Error(), "the old one is back in place") {
		t.Errorf("err = %v", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, old) {
		t.Errorf("the program is %q", got)
	}
}
