//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Hosts start svc by its name: where there is none, or another program of that
// name, hooks would do nothing and nobody would notice.
func TestHostsThatCannotStartSvcAreToldOf(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"none on the path", "", "svc is not on the PATH"},
		{"another program of that name", "#!/bin/sh\necho supervise: fatal\n", "/svc is another program"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := t.TempDir()
			t.Setenv("PATH", bin)
			if tt.script != "" {
				if err := os.WriteFile(filepath.Join(bin, "svc"), []byte(tt.script), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			var r run
			if _, out, _ := r.svc(t, "doctor"); !strings.Contains(out, "warn  program") || !strings.Contains(out, tt.want) {
				t.Errorf("svc doctor says\n%s", out)
			}
			if _, _, errs := r.svc(t, "init", "--yes"); !strings.Contains(errs, tt.want) {
				t.Errorf("svc init says\n%s", errs)
			}
		})
	}
}
