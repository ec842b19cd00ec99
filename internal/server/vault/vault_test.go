package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/server/vault"
)

func open(t *testing.T, dir string) *vault.Vault {
	t.Helper()
	v, err := vault.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func seal(t *testing.T, v *vault.Vault, what, text string) string {
	t.Helper()
	s, err := v.Seal(what, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASealedSecretOpensForItsPurposeOnly(t *testing.T) {
	v := open(t, t.TempDir())
	sealed := seal(t, v, "webhook 1", "whsec_x")
	if strings.Contains(sealed, "whsec") || sealed == seal(t, v, "webhook 1", "whsec_x") {
		t.Errorf("sealed as %q: readable, or the same twice", sealed)
	}
	if got, err := v.Open("webhook 1", sealed); err != nil || got != "whsec_x" {
		t.Errorf("opened %q, %v", got, err)
	}
	changed := sealed[:len(sealed)-2] + "AA"
	other := open(t, t.TempDir())
	for name, try := range map[string]func() (string, error){
		"another purpose": func() (string, error) { return v.Open("webhook 2", sealed) },
		"a changed text":  func() (string, error) { return v.Open("webhook 1", changed) },
		"another key":     func() (string, error) { return other.Open("webhook 1", sealed) },
		"plain text":      func() (string, error) { return v.Open("webhook 1", "whsec_x") },
		"nothing":         func() (string, error) { return v.Open("webhook 1", "") },
		"a short text": func() (string, error) {
			return v.Open("webhook 1", strings.Join(strings.Split(sealed, ".")[:2], ".")+".AA")
		},
	} {
		if got, err := try(); err == nil {
			t.Errorf("%s opened to %q", name, got)
		}
	}
}

func TestTheKeyFileIsTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	path := filepath.Join(dir, vault.FileName)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("key file mode %v, %v", info.Mode(), err)
	}
	os.Chmod(path, 0o644)
	if _, err := vault.Open(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a readable key file = %v, want advice", err)
	}
}

func TestProcessesThatStartAtOnceShareOneKey(t *testing.T) {
	dir := t.TempDir()
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			v, err := vault.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i], _ = v.KeyID()
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("keys differ: %v", ids)
		}
	}
}

func TestARunningServerFollowsARotation(t *testing.T) {
	dir := t.TempDir()
	running, tool := open(t, dir), open(t, dir)
	old := seal(t, running, "x", "1")
	if err := tool.Rotate(); err != nil {
		t.Fatal(err)
	}
	fresh := seal(t, tool, "x", "2")
	if vault.KeyOf(fresh) == vault.KeyOf(old) {
		t.Fatal("rotation did not change the key")
	}
	for sealed, want := range map[string]string{old: "1", fresh: "2"} {
		if got, err := running.Open("x", sealed); err != nil || got != want {
			t.Errorf("running server opened %q, %v; want %q", got, err, want)
		}
	}
	if got := vault.KeyOf(seal(t, running, "x", "3")); got != vault.KeyOf(fresh) {
		t.Errorf("running server still seals with %s", got)
	}
	if err := tool.Rotate(); err != nil {
		t.Fatal(err)
	}
	if err := tool.Prune(); err != nil {
		t.Fatal(err)
	}
	if !tool.Has(vault.KeyOf(fresh)) || tool.Has(vault.KeyOf(old)) {
		t.Error("prune must keep the key before the newest and drop the others")
	}
}

func TestKeysFromASetting(t *testing.T) {
	a, b := vault.NewKey(), vault.NewKey()
	first, err := vault.FromSetting(a)
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, first, "x", "1")
	both, err := vault.FromSetting(b + ", " + a)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := both.Open("x", sealed); err != nil || got != "1" {
		t.Errorf("opened %q, %v", got, err)
	}
	for _, bad := range []string{"", "short", a + ",", strings.Repeat("A", 44)} {
		if _, err := vault.FromSetting(bad); err == nil {
			t.Errorf("%q was taken as a key", bad)
		}
	}
	if err := both.Rotate(); err == nil || !strings.Contains(err.Error(), "SVC_SECRET_KEY") {
		t.Errorf("rotating a setting = %v", err)
	}
}
