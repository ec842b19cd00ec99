// Package local knows the service of one person on this machine: where its
// folder is, whether it runs, how it is started and stopped, and which
// repositories are its own rather than a team's.
//
// Who can read the folder is the person. The service holds a lock in it while
// it runs; an address without that lock is stale, and the port may be anybody's.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Place is the folder of the local service.
type Place struct {
	Dir   string
	Cache string // where svcd is unpacked; by default the user's
}

// A Service is one that runs.
type Service struct {
	wire.LocalService
	Token string
}

// ErrOff means that the person stopped the service with svc down.
var ErrOff = errors.New("the local service was stopped; svc up starts it again")

// ErrNone means that nobody set a local service up.
var ErrNone = errors.New("there is no local service; svc up makes one")

// Locate returns the folder that SVC_LOCAL_DIR names, else the one in the
// user's data folder.
func Locate(getenv func(string) string) (Place, error) {
	if dir := getenv("SVC_LOCAL_DIR"); dir != "" {
		abs, err := filepath.Abs(dir)
		return Place{Dir: abs}, err
	}
	base := getenv("XDG_DATA_HOME")
	switch home := getenv("HOME"); {
	case base != "":
	case runtime.GOOS == "windows":
		base = getenv("LOCALAPPDATA")
	case runtime.GOOS == "darwin" && home != "":
		base = filepath.Join(home, "Library", "Application Support")
	case home != "":
		base = filepath.Join(home, ".local", "share")
	}
	if base == "" {
		return Place{}, errors.New("no folder for data: set HOME or SVC_LOCAL_DIR")
	}
	return Place{Dir: filepath.Join(base, "svc", "local")}, nil
}

func (p Place) file(name string) string { return filepath.Join(p.Dir, name) }

func (p Place) has(name string) bool {
	_, err := os.Lstat(p.file(name))
	return err == nil
}

// SetUp reports whether svc up was ever run.
func (p Place) SetUp() bool { return p.Dir != "" && p.has(wire.LocalToken) && !p.has(edgeOnly) }

// Off reports whether the person stopped the service.
func (p Place) Off() bool { return p.has(wire.LocalOff) }

// Running returns the service if it runs.
func (p Place) Running() (Service, bool) {
	var s Service
	if !plain.Locked(p.file(wire.LocalLock)) {
		return s, false
	}
	text, err := plain.ReadHere(p.file(wire.LocalAddress), plain.State)
	if err != nil || json.Unmarshal(text, &s.LocalService) != nil {
		return s, false
	}
	token, err := plain.ReadHere(p.file(wire.LocalToken), plain.State)
	s.Token = strings.TrimSpace(string(token))
	return s, err == nil && s.Token != "" && s.Server != ""
}

// Start begins the service and waits for it.
func (p Place) Start(ctx context.Context, owner string, idle time.Duration) (Service, error) {
	program, err := p.server()
	if err != nil {
		return Service{}, err
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return Service{}, fmt.Errorf("no folder for the service's data: %w; set SVC_LOCAL_DIR to one that you can write to", err)
	}
	if err := os.Chmod(p.Dir, 0o700); err != nil {
		return Service{}, err
	}
	log, err := p.log()
	if err != nil {
		return Service{}, err
	}
	defer log.Close()
	args := []string{"local", "--data", p.Dir, "--idle", idle.String()}
	if owner != "" {
		args = append(args, "--owner", owner)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.Dir, log, log
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return Service{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if s, ok := p.Running(); ok {
			return s, nil
		}
		select {
		case <-tick.C:
		case err := <-ended:
			if s, ok := p.Running(); ok { // somebody else was quicker
				return s, nil
			}
			if err != nil {
				return Service{}, fmt.Errorf("the local service did not start (%w); %s says why", err, p.file(logName))
			}
			ended = nil
		case <-ctx.Done():
			return Service{}, fmt.Errorf("the local service did not start in time; %s may say why", p.file(logName))
		}
	}
}

const logName = "svcd.log"

// log opens the service's log, anew when it has grown.
func (p Place) log() (*os.File, error) {
	how := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(p.file(logName)); err == nil && info.Size() > 4<<20 {
		how |= os.O_TRUNC
	}
	return plain.Handle(p.file(logName), how, 0o600)
}

// server returns the svcd to start: the one inside this program, else the one
// beside it, else the one on the PATH.
func (p Place) server() (string, error) {
	path, err := companion.PathIn(p.Cache, companion.Server)
	if !errors.Is(err, companion.ErrNone) {
		return path, err
	}
	name := "svcd"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := companion.Self(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	if path, err := exec.LookPath("svcd"); err == nil {
		return path, nil
	}
	return "", errors.New("this svc was built without svcd, and there is none on the PATH; install a release, or build with make build")
}

// Pauses of Ensure.
const (
	idleTime   = 30 * time.Minute
	startAgain = 30 * time.Second // after a start that failed
)

// Ensure returns the service that a hook or command needs, started if need be
// and if the person did not stop it.
func (p Place) Ensure(ctx context.Context) (Service, error) {
	switch s, ok := p.Running(); {
	case ok:
		return s, nil
	case !p.SetUp():
		return s, ErrNone
	case p.Off():
		return s, ErrOff
	}
	failed := p.file("start-failed")
	if info, err := os.Stat(failed); err == nil && time.Since(info.ModTime()) < startAgain {
		return Service{}, fmt.Errorf("the local service did not start a moment ago; %s says why", p.file(logName))
	}
	s, err := p.Start(ctx, "", idleTime)
	if err != nil {
		_ = os.WriteFile(failed, []byte(err.Error()+"\n"), 0o600)
		return s, err
	}
	os.Remove(failed)
	return s, nil
}

// Up starts the service unless it runs, and again if it is of another version.
func (p Place) Up(ctx context.Context, owner, version string) (s Service, started bool, err error) {
	os.Remove(p.file(wire.LocalOff))
	os.Remove(p.file(edgeOnly))
	if s, ok := p.Running(); ok && s.Version == version {
		return s, false, nil
	} else if ok {
		if err := p.stop(ctx); err != nil {
			return s, false, err
		}
	}
	s, err = p.Start(ctx, owner, idleTime)
	if err == nil {
		os.Remove(p.file("start-failed"))
	}
	return s, err == nil, err
}

// Down stops the service, and keeps hooks from starting it.
func (p Place) Down(ctx context.Context) (was bool, err error) {
	if !p.has(wire.LocalToken) && !p.has(edgeOnly) { // an edge that starts for the first time has no token yet
		return false, ErrNone
	}
	if err := os.WriteFile(p.file(wire.LocalOff), nil, 0o600); err != nil {
		return false, err
	}
	if _, ok := p.Running(); !ok {
		return false, nil
	}
	return true, p.stop(ctx)
}

func (p Place) stop(ctx context.Context) error {
	s, ok := p.Running()
	if !ok {
		return nil
	}
	if err := s.call(ctx, http.MethodPost, wire.LocalStopPath, nil); err != nil {
		return err
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for plain.Locked(p.file(wire.LocalLock)) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the local service did not stop in time; say svc down again, or end its process (%d)", s.PID)
		}
	}
	return nil
}

// Link returns an address that signs a browser in, once, and shows a page.
func (s Service) Link(ctx context.Context, page string) (string, error) {
	var t wire.LocalTicket
	if err := s.call(ctx, http.MethodPost, wire.LocalTicketPath, &t); err != nil {
		return "", err
	}
	return s.Server + wire.LocalEnterPath + "?" + url.Values{"ticket": {t.Ticket}, "to": {page}}.Encode(), nil
}

func (s Service) call(ctx context.Context, method, path string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.Server+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	req.Header.Set(wire.EdgeKey, s.Token)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("the local service answered %d", res.StatusCode)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}
