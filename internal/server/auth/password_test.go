package auth_test

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/server/auth"
)

// A hash says what it costs, and the floor that OWASP recommends is what svcd
// pays: the tests of the service, which pay less, would not notice.
func TestPasswordsAreDear(t *testing.T) {
	hash, err := auth.HashPassword(t.Context(), "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if want := "$argon2id$v=19$m=19456,t=2,p=1$"; !strings.HasPrefix(hash, want) {
		t.Errorf("hash = %s, want one that begins with %s", hash, want)
	}
	for password, want := range map[string]bool{"correct horse battery": true, "correct horse": false} {
		if ok, err := auth.VerifyPassword(t.Context(), &hash, password); ok != want || err != nil {
			t.Errorf("%q belongs to the hash: %v, %v", password, ok, err)
		}
	}
	if ok, err := auth.VerifyPassword(t.Context(), nil, "correct horse battery"); ok || err != nil {
		t.Errorf("without an account: %v, %v", ok, err)
	}
}

func TestOnlyDaemontestHashesCheaply(t *testing.T) {
	root := os.DirFS("../../..")
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "node_modules" || e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && name != ".") {
			return fs.SkipDir
		}
		if path.Ext(name) != ".go" || strings.Contains(name, "daemontest/") || strings.HasPrefix(name, "internal/server/auth/") {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if strings.Contains(string(data), "HashCheaply") {
			t.Errorf("%s takes the cost out of passwords", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
