package selfupdate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

const (
	maxSize      = 200 << 20
	tempPattern  = ".svc-update-*"
	prevSuffix   = ".prev"
	testTime     = 5 * time.Second
	downloadTime = 10 * time.Minute
)

// A Program is the installed program that is to be replaced.
type Program struct {
	Path    string // with links resolved
	Version string
	OS      string
	Arch    string
	Now     func() time.Time
	HTTP    *http.Client // nil for one that heeds the proxy variables
}

// Running returns the program of this process.
func Running(now func() time.Time) (Program, error) {
	path, err := companion.Self()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Program{}, fmt.Errorf("cannot tell where svc is installed: %w", err)
	}
	return Program{Path: path, Version: version.Version, OS: runtime.GOOS, Arch: runtime.GOARCH, Now: now}, nil
}

// Install replaces the program by release r, whose manifest is at an address. It
// returns with the new program in place and tried, or with the old one untouched.
func (p Program) Install(ctx context.Context, r wire.Release, manifest string) error {
	if !Newer(r, p.Version) {
		return fmt.Errorf("%s is not newer than %s; svc never goes back", r.Version, p.Version)
	}
	art, err := p.artifact(r)
	if err != nil {
		return err
	}
	from, err := artifactURL(manifest, art.URL)
	if err != nil {
		return err
	}
	p.sweep()
	next, err := p.download(ctx, from, art)
	if err != nil {
		return err
	}
	defer os.Remove(next)
	// Tried before it takes the old one's place, and again in that place.
	if err := try(ctx, next, r.Version); err != nil {
		return fmt.Errorf("the new program does not run here: %w; nothing was changed", err)
	}
	prev := p.Path + prevSuffix
	if err := p.swap(next, prev); err != nil {
		return writeError(p.Path, err)
	}
	if err := try(ctx, p.Path, r.Version); err != nil {
		if back := os.Rename(prev, p.Path); back != nil {
			return fmt.Errorf("the new program does not run (%w) and the old one could not be put back (%v); it is at %s", err, back, prev)
		}
		return fmt.Errorf("the new program does not run: %w; the old one is back in place", err)
	}
	return nil
}

func (p Program) artifact(r wire.Release) (wire.Artifact, error) {
	for _, a := range r.Artifacts {
		if a.OS != p.OS || a.Arch != p.Arch {
			continue
		}
		if a.Size <= 0 || a.Size > maxSize {
			return a, fmt.Errorf("the release says it has %d bytes; refused", a.Size)
		}
		return a, nil
	}
	return wire.Artifact{}, fmt.Errorf("release %s has no program for %s/%s", r.Version, p.OS, p.Arch)
}

func artifactURL(manifest, ref string) (string, error) {
	base, err := url.Parse(manifest)
	if err != nil {
		return "", err
	}
	u, err := base.Parse(ref)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("the release's address %q is not one to load from", ref)
	}
	return u.String(), nil
}

// download loads the artifact into a file beside the program, so that the
// rename that follows stays within one file system. It checks size and
// digest; the file it leaves is the release or none.
func (p Program) download(ctx context.Context, from string, art wire.Artifact) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(p.Path), tempPattern)
	if err != nil {
		return "", writeError(p.Path, err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	sum := sha256.New()
	n, err := p.copy(ctx, io.MultiWriter(f, sum), from, art.Size)
	switch {
	case err != nil:
		return "", fmt.Errorf("loading %s failed after %d bytes: %w; nothing was changed", from, n, err)
	case n != art.Size || hex.EncodeToString(sum.Sum(nil)) != strings.ToLower(art.SHA256):
		return "", fmt.Errorf("what %s sent is not the release (%d bytes, other checksum); nothing was changed", from, n)
	}
	if err := f.Chmod(0o755); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// copy loads at most one byte more than size: enough to see that it is wrong.
func (p Program) copy(ctx context.Context, to io.Writer, from string, size int64) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return 0, err
	}
	client := p.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the server answered %s", res.Status)
	}
	return io.Copy(to, io.LimitReader(res.Body, size+1))
}

// swap puts next in the program's place and keeps the old one at prev. There
// is no moment without a program, except on Windows, where a running one can
// be renamed but not replaced.
func (p Program) swap(next, prev string) error {
	if err := os.Remove(prev); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	keep := os.Link
	if p.OS == "windows" {
		keep = os.Rename
	}
	if err := keep(p.Path, prev); err != nil {
		return err
	}
	if err := os.Rename(next, p.Path); err != nil {
		if p.OS == "windows" {
			err = errors.Join(err, os.Rename(prev, p.Path))
		}
		return err
	}
	if dir, err := os.Open(filepath.Dir(p.Path)); err == nil {
		_ = dir.Sync() // not every system can; the rename itself has happened
		dir.Close()
	}
	return nil
}

// try runs the program at path and checks that it says it is version want.
func try(ctx context.Context, path, want string) error {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = append(os.Environ(), "SVC_NO_UPDATE_CHECK=1")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	if f := strings.Fields(string(out)); len(f) < 2 || f[1] != want {
		return fmt.Errorf("it says it is %q, not %s", strings.TrimSpace(string(out)), want)
	}
	return nil
}

// sweep removes what an update that was killed left behind. An hour is longer
// than any update takes.
func (p Program) sweep() {
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.Path), tempPattern))
	for _, f := range left {
		if info, err := os.Stat(f); err == nil && p.Now().Sub(info.ModTime()) > time.Hour {
			os.Remove(f)
		}
	}
}

func writeError(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "read-only") {
		return fmt.Errorf("cannot write to %s: %w; run svc update as a user who may, or reinstall svc; nothing was changed",
			filepath.Dir(path), err)
	}
	return fmt.Errorf("%w; nothing was changed", err)
}
