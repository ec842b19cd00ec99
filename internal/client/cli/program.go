package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/doctor"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/setup"
	"github.com/svc-hq/svc/internal/core/version"
)

// program returns the svc that agent hosts start: they know it by its name
// alone, and where there is none, or another program of that name, our hooks
// do nothing.
func program(ctx context.Context) (string, error) {
	found, err := exec.LookPath("svc")
	if err != nil {
		return "", errors.New("svc is not on the PATH: agent hosts start it by name, and without it the hooks do nothing")
	}
	if isSelf(found) {
		return found, nil
	}
	theirs, err := versionOf(ctx, found)
	if err != nil {
		return "", &otherProgram{found, err.Error() + ": agent hosts start svc by name, and the hooks do nothing"}
	}
	if theirs != version.Line("svc") {
		return "", &otherProgram{found, fmt.Sprintf("agent hosts start %s (%s), which comes first on the PATH, not this one (%s)",
			found, theirs, version.Line("svc"))}
	}
	return found, nil
}

// thisProgram is the path of svc that a person's own hooks name: that on the
// PATH, which an update or a package keeps in its place, or else this one.
func thisProgram(ctx context.Context) string {
	path, err := program(ctx)
	if err != nil {
		if path, err = companion.Self(); err != nil {
			return ""
		}
	}
	if path, err = filepath.Abs(path); err != nil {
		return ""
	}
	return path
}

// An otherProgram is found where svc is looked for.
type otherProgram struct{ found, says string }

func (e *otherProgram) Error() string { return e.says }

// versionOf returns the version that a svc tells, or that it is none.
func versionOf(ctx context.Context, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, file, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "svc ") {
		return "", fmt.Errorf("%s is another program", file)
	}
	return strings.TrimSpace(string(out)), nil
}

// programCheck looks for svc where agent hosts do: hooks that do not find it let
// the agent go on, and nobody would notice.
func programCheck(ctx context.Context, a *app.Run) []doctor.Check {
	const name = "program"
	path, err := program(ctx)
	if err == nil {
		return []doctor.Check{{Name: name, Level: doctor.OK, Detail: "agent hosts start " + path}}
	}
	c := doctor.Check{Name: name, Level: doctor.Warn, Detail: err.Error(),
		Fix: "put svc on the PATH of your agents, such as in /usr/local/bin"}
	var other *otherProgram
	switch file := notExecutable(a.Getenv("PATH")); {
	case !errors.As(err, &other) && file == "" && namedByPath(ctx, a):
		return []doctor.Check{{Name: name, Level: doctor.OK, Detail: "your own hooks start " + thisProgram(ctx) +
			"; it is not on the PATH, by which hooks of repositories look for it"}}
	case errors.As(err, &other):
		c.Fix = "remove " + other.found + ", or put another folder before " + filepath.Dir(other.found) + " on the PATH of your agents"
	case file != "":
		c.Detail = file + " may not be executed, so agent hosts do not find svc, and the hooks do nothing"
		c.Fix = "chmod +x " + file
		c.Mend = func(ctx context.Context) error { return makeExecutable(ctx, file) }
	}
	return []doctor.Check{c}
}

// namedByPath reports whether every host that is set up for all folders starts
// this svc by its path, so that no PATH matters to it.
func namedByPath(ctx context.Context, a *app.Run) (all bool) {
	opts := setup.Options{Home: login.Home(a.Getenv), User: true, CodexHome: a.Getenv("CODEX_HOME"), Plugin: host.Plugin,
		Program: thisProgram(ctx)}
	for _, id := range setup.UserHosts() {
		r, err := setup.Status(opts, id)
		if err == nil && r.Hooks.Present {
			if all = r.Hooks.OK(); !all {
				return false
			}
		}
	}
	return all
}

// notExecutable returns a file on the PATH that would be svc if it might be
// executed: a copy or an unpacked archive often may not.
func notExecutable(path string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, "svc")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0 {
			return file
		}
	}
	return ""
}

// makeExecutable lets a file be executed if it is svc, and not otherwise.
func makeExecutable(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := os.Chmod(file, info.Mode().Perm()|0o111); err != nil {
		return err
	}
	if _, err := versionOf(ctx, file); err != nil {
		return errors.Join(err, os.Chmod(file, info.Mode().Perm()))
	}
	return nil
}

// isSelf reports whether a file is this program.
func isSelf(file string) bool {
	self, err := companion.Self()
	if err != nil {
		return false
	}
	a, errA := os.Stat(file)
	b, errB := os.Stat(self)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
