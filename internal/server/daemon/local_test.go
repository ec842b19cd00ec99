package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
)

// A hook began to start the service, svc down was said meanwhile, and the one
// that ran has ended: the late one must not take its place.
func TestALocalServiceThatComesAfterDownDoesNotStart(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, wire.LocalOff), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := run(t, nil, "local", "--data", data, "--owner", "ann@example.com")
	if s.code != 0 || !strings.Contains(s.out.String(), "svc up starts it again") {
		t.Errorf("it ended with %d: %s%s", s.code, s.out.String(), s.err.String())
	}
	if left, _ := filepath.Glob(filepath.Join(data, "*.db")); len(left) > 0 {
		t.Errorf("it made %v", left)
	}
}
