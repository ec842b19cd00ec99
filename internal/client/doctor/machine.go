package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/version"
)

// enoughGit is the git from which on everything works: svc backtest and svc
// check --against have it merge without a working tree.
var enoughGit = [2]int{2, 38}

// checkGit looks at git itself, and then at the repository.
func checkGit(ctx context.Context, p *Patient) []Check {
	const name = "git"
	if out := checkGitProgram(ctx); out != nil {
		return out
	}
	if p.RepoRoot == "" {
		return one(name, Warn, "cd into a repository", "this folder is in no git repository; hooks do nothing here")
	}
	if err := gitSays(ctx, p.RepoRoot, "rev-parse", "--git-dir"); err != "" {
		fix := ""
		if strings.Contains(err, "safe.directory") || strings.Contains(err, "dubious ownership") {
			fix = "git config --global --add safe.directory " + p.RepoRoot
		}
		return one(name, Fail, fix, "git refuses to work in %s: %s", p.RepoRoot, peertext.Line(err, 200))
	}
	switch {
	case len(p.Repo.RemoteFingerprints) == 0 && len(p.Remotes) > 0:
		return one(name, Warn, "git remote set-url origin <the address on your host>", "the remote of %s (%s) is no address that two "+
			"machines share; hooks do nothing here", p.RepoRoot, peertext.Path(p.Remotes[0]))
	case len(p.Repo.RemoteFingerprints) == 0:
		return one(name, Warn, "git remote add origin <url>", "%s has no remote; hooks do nothing here", p.RepoRoot)
	case p.Shallow:
		return one(name, Warn, "git fetch --unshallow", "%s is a shallow clone: where a branch left the main one may not be known, "+
			"and then lines are not compared", p.RepoRoot)
	}
	return one(name, OK, "", "%s on %s", peertext.Path(p.Repo.RemoteFingerprints[0]), peertext.Branch(p.Repo.Branch))
}

var gitVersion = regexp.MustCompile(`(\d+)\.(\d+)`)

// checkGitProgram tells of a git that is missing or too old.
func checkGitProgram(ctx context.Context) []Check {
	const name = "git"
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "--version").Output()
	if err != nil {
		return one(name, Fail, "install git", "git cannot be started: %v", err)
	}
	m := gitVersion.FindStringSubmatch(string(out))
	if m == nil {
		return nil // a git of somebody's own making
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < enoughGit[0] || major == enoughGit[0] && minor < enoughGit[1] {
		return one(name, Warn, "install git "+strconv.Itoa(enoughGit[0])+"."+strconv.Itoa(enoughGit[1])+" or newer",
			"%s is too old for svc check --against and svc backtest, and the rest is not tried with it", strings.TrimSpace(string(out)))
	}
	return nil
}

// gitSays returns what git complains of, as the agent's own git would.
func gitSays(ctx context.Context, dir string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err == nil {
		return ""
	}
	if text := strings.TrimSpace(string(out)); text != "" {
		return text
	}
	return err.Error()
}

// checkMemory tries the folder in which hooks remember from one event to the
// next what they told and what an agent touched.
func checkMemory(_ context.Context, p *Patient) []Check {
	const name = "memory"
	if p.Memory == nil {
		return nil
	}
	if temp := p.Getenv("TMPDIR"); temp != "" {
		if _, err := os.Stat(temp); errors.Is(err, fs.ErrNotExist) {
			out := one(name, Warn, "mkdir -p "+temp+", or unset TMPDIR",
				"TMPDIR names %s, which is not there: hooks, git and your agents keep temporary files in it", temp)
			out[0].Mend = func(context.Context) error { return os.MkdirAll(temp, 0o700) }
			return out
		}
	}
	folder, err := p.Memory()
	if isFull(err) && p.Writable != nil && isFull(p.Writable()) { // which config tells
		return one(name, Warn, "", "not checked: there is no room for a file")
	}
	if err == nil {
		return one(name, OK, "", "hooks remember in %s", folder)
	}
	fix := "set TMPDIR to a folder that you can write to"
	if isFull(err) {
		fix = "make room on the disk of " + folder
	}
	out := one(name, Warn, fix,
		"hooks remember nothing from one event to the next (%v): agents are told twice, and what commands changed is not seen", err)
	if p.Forget != nil && p.Ours(folder) && !isFull(err) {
		out[0].Fix, out[0].Mend = "remove "+folder, func(context.Context) error { return p.Forget(folder) }
	}
	return out
}

// checkServerVersion tells of a server and a client that are releases apart:
// one may send what the other refuses. It is nil where nothing is to be said.
func checkServerVersion(ctx context.Context, p *Patient) []Check {
	const name = "version"
	if version.Version == version.Development || p.Remote == nil {
		return nil
	}
	theirs, err := p.Remote.Version(ctx)
	if err != nil || theirs == version.Development {
		return nil
	}
	switch semver.Compare(semver.MajorMinor("v"+theirs), semver.MajorMinor("v"+version.Version)) {
	case -1:
		return one(name, Warn, "ask the administrator of "+p.Remote.Server()+" to update svcd",
			"the server is %s and older than this svc, %s: it refuses what it does not know yet", theirs, version.Version)
	case 1:
		return one(name, Warn, "svc update", "the server is %s and newer than this svc, %s", theirs, version.Version)
	}
	return nil
}
