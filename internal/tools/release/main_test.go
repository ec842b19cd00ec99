package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/selfupdate"
)

func TestAReleaseThatClientsTake(t *testing.T) {
	dir := t.TempDir()
	key, program := filepath.Join(dir, "release.key"), filepath.Join(dir, "svc-linux-amd64")
	if err := os.WriteFile(program, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	var public, out bytes.Buffer
	if err := run([]string{"keygen", "-id", "2027a", "-out", key}, &public, time.Now()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is %v, %v", info, err)
	}
	if err := run([]string{"sign", "-key", key, "-version", "v1.2.3", program}, &out, time.Now()); err != nil {
		t.Fatal(err)
	}
	keys, err := selfupdate.ParseKeys(strings.TrimSpace(public.String()))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := keys.Verify(manifest, time.Now())
	if err != nil || r.Version != "1.2.3" || r.Artifacts[0].OS != "linux" || r.Artifacts[0].Arch != "amd64" || r.Artifacts[0].Size != 9 {
		t.Errorf("release = %+v, %v", r, err)
	}
	if _, err := keys.Verify(manifest, time.Now().AddDate(1, 0, 0)); err == nil {
		t.Error("it never expires")
	}
}

func TestMistakesOfAReleaserAreSaid(t *testing.T) {
	dir := t.TempDir()
	key, odd := filepath.Join(dir, "release.key"), filepath.Join(dir, "program")
	os.WriteFile(odd, nil, 0o755)
	os.WriteFile(filepath.Join(dir, "svc-linux-amd64"), nil, 0o755)
	if err := run([]string{"keygen", "-id", "k", "-out", key}, new(bytes.Buffer), time.Now()); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"nothing to do":     {nil, "usage"},
		"a key over a key":  {[]string{"keygen", "-id", "k", "-out", key}, "exists"},
		"a key without id":  {[]string{"keygen"}, "-id"},
		"no key":            {[]string{"sign", "-key", odd, "-version", "1.0.0", odd}, "holds no key"},
		"an unnamed system": {[]string{"sign", "-key", key, "-version", "1.0.0", odd}, "svc-OS-ARCH"},
		"no version":        {[]string{"sign", "-key", key, filepath.Join(dir, "svc-linux-amd64")}, "version"},
	} {
		if err := run(tt.args, new(bytes.Buffer), time.Now()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "latest.json")); err == nil {
		t.Error("a mistake left a manifest behind")
	}
}
