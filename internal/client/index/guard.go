package index

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
)

// A file that kills its reader (a stack that overflows, memory that is used up)
// ends the whole process: nothing in Go can catch that. So a scan runs in a
// process of its own, which notes the file that it begins; one that dies is
// started again behind it, and the file is counted.

// JournalVariable tells a scan where to note how far it is: it is watched.
const JournalVariable = "SVC_INDEX_JOURNAL"

const (
	maxDied   = 50              // files that a scan goes on after
	fileLimit = 2 * time.Minute // for one file: it counts as dead then
	maxStack  = 256 << 20       // of a scan: a recursion without end is seen sooner
	diedExit  = 2               // as the Go runtime ends
)

// A Journal is how far a scan got.
type Journal struct {
	At    string       `json:"at"`    // the file that is being read
	After string       `json:"after"` // the last path that was sent
	Total wire.Indexed `json:"total"`
	Died  []string     `json:"died"` // files that ended their reader, and are left out

	file  string
	timer *time.Timer
}

// OpenJournal reads how far the scans before this one got. It is nil when
// nobody watches.
func OpenJournal() (*Journal, error) {
	file := os.Getenv(JournalVariable)
	if file == "" {
		return nil, nil
	}
	j := &Journal{file: file}
	data, err := os.ReadFile(file)
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, j)
	}
	debug.SetMaxStack(maxStack)
	return j, err
}

// Begin notes the file that is read next.
func (j *Journal) Begin(path string) {
	if j.timer != nil {
		j.timer.Stop()
	}
	j.timer = time.AfterFunc(fileLimit, func() { os.Exit(diedExit) })
	j.At = path
	j.write()
}

func (j *Journal) write() {
	if data, err := json.Marshal(j); err == nil {
		_ = os.WriteFile(j.file, data, 0o600) // who dies without it is not started again
	}
}

// Guard runs a scan until one comes to its end. command makes the process of
// one, with what stands in its environment.
func Guard(ctx context.Context, command func(ctx context.Context, env string) *exec.Cmd) error {
	f, err := os.CreateTemp("", "svc-index-*.json")
	if err != nil {
		return err
	}
	f.Close()
	defer os.Remove(f.Name())
	for {
		cmd := command(ctx, JournalVariable+"="+f.Name())
		cmd.Env = append(cmd.Environ(), "GOTRACEBACK=none")
		err := cmd.Run()
		if !died(err) || ctx.Err() != nil {
			return err
		}
		j := &Journal{file: f.Name()}
		data, _ := os.ReadFile(j.file)
		if json.Unmarshal(data, j) != nil || j.At == "" || slices.Contains(j.Died, j.At) || len(j.Died) == maxDied {
			return err
		}
		j.Died, j.At = append(j.Died, j.At), ""
		j.write()
	}
}

// died tells whether a process ended by itself, not by who asked it to.
func died(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	if exit.ExitCode() == diedExit {
		return true
	}
	how := exit.String()
	return strings.HasPrefix(how, "signal: ") && !strings.Contains(how, "interrupt") && !strings.Contains(how, "terminated") &&
		!strings.Contains(how, "hangup")
}
