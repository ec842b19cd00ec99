package mergecheck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

const (
	// fetchTime bounds how long a fetch may take.
	fetchTime = 45 * time.Second
	// maxPacks is how many fetches are kept.
	maxPacks = 60
)

// Pushed gets what others pushed, as git fetch would, into a folder of svc's
// own: no reference, object or setting of the clone changes. Nothing is asked
// of the person; where the host wants a password, it is not fetched.
type Pushed struct {
	Repo  *gitrepo.Repo
	Dir   string        // a git folder of svc's own, kept between runs
	Every time.Duration // how long what was fetched, or was not there, counts
}

// ErrNoRemote says that a clone has nowhere to fetch from.
var ErrNoRemote = errors.New("the clone has no remote that svc can fetch from")

// Objects is where the commits are that were fetched.
func (p *Pushed) Objects() string { return filepath.Join(p.Dir, "objects") }

// refName is a reference that can be asked for: nothing that would be a pattern
// or name a second one.
var refName = regexp.MustCompile(`^refs/[^\x00-\x20\x7f~^:?*\[\\]+$`)

// Commit fetches the first of the references that the clone's remote has, and
// returns the commit; "" if it has none of them.
func (p *Pushed) Commit(ctx context.Context, refs ...string) (string, error) {
	url := p.url()
	if url == "" {
		return "", ErrNoRemote
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if err := p.furnish(ctx); err != nil {
		return "", err
	}
	for _, ref := range refs {
		if !refName.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref, "@{") {
			continue
		}
		if id, err := p.one(ctx, url, ref); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

// one fetches one reference.
func (p *Pushed) one(ctx context.Context, url, ref string) (string, error) {
	sum := sha256.Sum256([]byte(url + "\n" + ref))
	name := hex.EncodeToString(sum[:16])
	stamp := filepath.Join(p.Dir, "fetched-"+name)
	at := "refs/pushed/" + name
	if info, err := os.Stat(stamp); err == nil && time.Since(info.ModTime()) < p.Every {
		return p.at(ctx, at)
	}
	a, err := p.git(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance",
		"--no-show-forced-updates", "--", url, "+"+ref+":"+at)
	switch {
	case err != nil:
		return "", err
	case a.broken != "":
		return "", errors.New("it is more than svc fetches")
	case a.code != 0 && strings.Contains(a.out, "couldn't find remote ref"):
		_, _ = p.git(ctx, "update-ref", "-d", at)
	case a.code != 0:
		return "", fmt.Errorf("git fetch: %s", a.firstWords())
	}
	if err := os.WriteFile(stamp, nil, 0o600); err != nil {
		return "", err
	}
	return p.at(ctx, at)
}

// at returns the commit that was fetched, "" for none.
func (p *Pushed) at(ctx context.Context, ref string) (string, error) {
	a, err := p.git(ctx, "rev-parse", "--quiet", "--verify", ref+"^{commit}")
	if err != nil || a.code != 0 {
		return "", err
	}
	return strings.TrimSpace(a.out), nil
}

// schemes are the ways to a remote that git itself knows: none starts a program
// that a clone's configuration names.
var schemes = regexp.MustCompile(`^(?:https?|ssh|git|file)://|^[\w.-]+@[\w.-]+:|^[\w.-]{2,}:[^:]`)

// url is where the clone comes from, if it can be fetched from.
func (p *Pushed) url() string {
	for _, r := range p.Repo.Remotes() {
		switch {
		case strings.Contains(r.URL, "::") || strings.HasPrefix(r.URL, "-"):
			return ""
		case schemes.MatchString(r.URL), filepath.IsAbs(r.URL):
			return r.URL
		default:
			return filepath.Join(p.Repo.Root, filepath.FromSlash(r.URL))
		}
	}
	return ""
}

// furnish makes the git folder, which reads the clone's objects so as not to
// fetch them again.
func (p *Pushed) furnish(ctx context.Context) error {
	if list, _ := filepath.Glob(filepath.Join(p.Objects(), "pack", "*.pack")); len(list) > maxPacks {
		if err := os.RemoveAll(p.Dir); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "HEAD")); err != nil {
		if err := os.MkdirAll(p.Dir, 0o700); err != nil {
			return err
		}
		if a, err := p.git(ctx, "init", "--quiet", "--bare", "--template=", p.Dir); err != nil || a.code != 0 {
			return errors.Join(err, fmt.Errorf("git init: %s", a.firstWords()))
		}
	}
	from := filepath.Join(p.Repo.CommonDir, "objects")
	if strings.Contains(from, "\n") {
		return fmt.Errorf("%q cannot be named to git", from)
	}
	if err := os.MkdirAll(filepath.Join(p.Objects(), "info"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.Objects(), "info", "alternates"), []byte(from+"\n"), 0o600)
}

// asked are the variables of the user's that say how to reach a host.
var asked = []string{
	"SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH", "GIT_SSL_CAINFO",
	"GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "all_proxy",
	"ALL_PROXY",
}

// git runs git in the folder, never in the clone.
func (p *Pushed) git(ctx context.Context, args ...string) (answer, error) {
	env := []string{"GIT_DIR=" + p.Dir, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never",
		"GCM_INTERACTIVE=never", "GIT_ALLOW_PROTOCOL=https:http:ssh:git:file", "GIT_NO_LAZY_FETCH=1",
		"GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=10"}
	for _, name := range asked {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	// A slow host takes time and no processor: ctx bounds that.
	c := &Check{Repo: p.Repo, Dir: p.Dir, Memory: maxMemory, Waiting: true, Budget: fetchTime, allowed: fetchTime, Idle: fetchTime}
	program := c.program("git")
	if program == "" {
		return answer{}, errors.New("there is no git")
	}
	args = append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.askPass=false",
		"-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=15", "-c", "fetch.unpackLimit=1"}, args...)
	return c.run(ctx, program, call{dir: p.Dir, env: env, args: args})
}
