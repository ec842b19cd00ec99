package index_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/index"
)

// killers are files that end their reader, each in another way. The test starts
// itself as a scan of them.
var killers = []string{"a.go", "b-overflows.go", "c.go", "d-exits.go", "e-is-killed.go", "f.go"}

func TestMain(m *testing.M) {
	if os.Getenv(index.JournalVariable) != "" {
		j, err := index.OpenJournal()
		if err != nil {
			panic(err)
		}
		scanKillers(j)
		return
	}
	os.Exit(m.Run())
}

func scanKillers(j *index.Journal) {
	for _, f := range killers {
		if slices.Contains(j.Died, f) {
			fmt.Println("left out", f)
			continue
		}
		j.Begin(f)
		switch {
		case strings.Contains(f, "overflows"):
			fmt.Println(deeper(1))
		case strings.Contains(f, "exits"):
			os.Exit(2)
		case strings.Contains(f, "killed"):
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		}
		fmt.Println("read", f)
	}
}

func deeper(n int) int {
	if n < 0 { // which it never is, as no checker can tell
		return n
	}
	return deeper(n+1) + 1
}

// A file that ends its reader costs that file alone.
func TestGuardGoesOnBehindADeadReader(t *testing.T) {
	var out strings.Builder
	runs := 0
	err := index.Guard(t.Context(), func(ctx context.Context, env string) *exec.Cmd {
		runs++
		out.Reset()
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Stdout, cmd.Env = &out, append(os.Environ(), env)
		return cmd
	})
	want := "read a.go\nleft out b-overflows.go\nread c.go\nleft out d-exits.go\nleft out e-is-killed.go\nread f.go\n"
	if err != nil || out.String() != want || runs != 4 {
		t.Errorf("%d runs, %v, the last said:\n%s", runs, err, out.String())
	}
}

// What fails before any file is read is told as it is, once.
func TestGuardPassesAnErrorOn(t *testing.T) {
	runs := 0
	err := index.Guard(t.Context(), func(ctx context.Context, env string) *exec.Cmd {
		runs++
		return exec.CommandContext(ctx, filepath.Join(t.TempDir(), "no-such-program"))
	})
	if err == nil || runs != 1 {
		t.Errorf("%d runs, %v", runs, err)
	}
}
