package mergecheck

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxOutput is how much of a checker's words is read.
const maxOutput = 1 << 20

// maxPackages is how many packages are looked at.
const maxPackages = 40

// A limited buffer drops what is too much.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxOutput - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// run starts a checker with nothing of the user's environment but where things
// are, behind everything else on the machine.
func run(ctx context.Context, dir string, more []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "LOCALAPPDATA", "USERPROFILE", "APPDATA",
		"XDG_CACHE_HOME", "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(append(cmd.Env, "LC_ALL=C"), more...)
	cmd.WaitDelay = 2 * time.Second
	var out limited
	cmd.Stdout, cmd.Stderr = &out, &out
	gently(cmd)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	settle(cmd)
	err := cmd.Wait()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", err
	}
	return out.String(), nil
}

// faultsIn reads lines of the form path:line:column: text.
func faultsIn(out, dir string, line *regexp.Regexp) (faults []Fault) {
	for l := range strings.Lines(out) {
		m := line.FindStringSubmatch(strings.TrimRight(l, "\r\n"))
		if m == nil {
			continue
		}
		file := filepath.ToSlash(m[1])
		if rel, err := filepath.Rel(dir, m[1]); err == nil && filepath.IsAbs(m[1]) {
			file = filepath.ToSlash(rel)
		}
		n, _ := strconv.Atoi(m[2])
		f := Fault{Path: strings.TrimPrefix(file, "./"), Line: n, Text: strings.TrimSpace(m[3])}
		if !slices.Contains(faults, f) {
			faults = append(faults, f)
		}
	}
	return faults
}

var goFault = regexp.MustCompile(`^(?:vet: )?(?:\./)?(\S+?\.go):(\d+)(?::\d+)?: (.*)$`)

// goEnv keeps Go from running anything of the repository: no C, no other
// toolchain, nothing from the network, no flags that would start a program. Nor
// is git asked of the folder (-buildvcs).
var goEnv = []string{
	"GOFLAGS=", "GOENV=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "CGO_ENABLED=0", "GOVCS=*:off", "GOTELEMETRY=off",
	"GOMAXPROCS=2", "GOMEMLIMIT=1GiB",
}

// vet has Go's compiler look at packages: go build tells all that is wrong with
// them, go vet the first thing that is wrong with their tests. Of vet's own
// checks a cheap one is asked for: the types are what matters.
func vet(ctx context.Context, c *Check, dir string, files []string) ([]Fault, bool, error) {
	program, err := exec.LookPath("go")
	if err != nil {
		return nil, false, nil
	}
	var faults []Fault
	found := false
	for module, packages := range goPackages(dir, files) {
		found = true
		at := filepath.Join(dir, filepath.FromSlash(module))
		for _, args := range [][]string{
			{"build", "-trimpath", "-buildvcs=false", "-p=2", "-gcflags=-e", "-o", os.DevNull},
			{"vet", "-trimpath", "-buildvcs=false", "-p=2", "-atomic"},
		} {
			out, err := run(ctx, at, goEnv, program, append(args, packages...)...)
			if err != nil {
				return nil, false, err
			}
			for _, f := range faultsIn(out, at, goFault) {
				if f.Path = path.Join(module, f.Path); !slices.Contains(faults, f) {
					faults = append(faults, f)
				}
			}
		}
	}
	return faults, found, nil
}

// goPackages are the folders of files, by the module that they are in.
func goPackages(dir string, files []string) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		folder := path.Dir(f)
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(folder))); err != nil || !info.IsDir() {
			continue // gone
		}
		for module := folder; ; module = path.Dir(module) {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(module), "go.mod")); err == nil {
				rel := "./" + strings.TrimPrefix(strings.TrimPrefix(folder, module), "/")
				if !slices.Contains(out[module], rel) && len(out[module]) < maxPackages {
					out[module] = append(out[module], rel)
				}
				break
			}
			if module == "." {
				break
			}
		}
	}
	return out
}

var tscFault = regexp.MustCompile(`^(\S+?\.[cm]?tsx?)\((\d+),\d+\): (error .*)$`)

// tsc runs the repository's own compiler, with the packages that are installed
// in the working copy.
func tsc(ctx context.Context, c *Check, dir string, files []string) ([]Fault, bool, error) {
	compiler := filepath.Join(c.Repo.Root, "node_modules", "typescript", "bin", "tsc")
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(compiler); missing != nil || err != nil {
		return nil, false, nil
	}
	var faults []Fault
	found := false
	for _, project := range upTo(dir, files, "tsconfig.json") {
		for _, place := range []string{"", project} { // packages have some of their own
			link(filepath.Join(c.Repo.Root, place, "node_modules"), filepath.Join(dir, place, "node_modules"))
		}
		found = true
		info := filepath.Join(c.Dir, filepath.Base(dir)+"-"+strings.ReplaceAll(project, "/", "-")+".tsbuildinfo")
		out, err := run(ctx, dir, nil, node, "--max-old-space-size=2048", compiler, "--noEmit", "--pretty", "false", "--incremental",
			"--tsBuildInfoFile", info, "--skipLibCheck", "-p", filepath.Join(dir, filepath.FromSlash(project)))
		if err != nil {
			return nil, false, err
		}
		faults = append(faults, faultsIn(out, dir, tscFault)...)
	}
	return faults, found, nil
}

// link makes one folder stand in for another, if that is there.
func link(from, to string) {
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		_ = os.Symlink(from, to) // there already, mostly
	}
}

// upTo returns the nearest folders around the files that hold a file of a name.
func upTo(dir string, files []string, name string) (out []string) {
	for _, f := range files {
		for folder := path.Dir(f); ; folder = path.Dir(folder) {
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(folder), name)); err == nil {
				if !slices.Contains(out, folder) && len(out) < maxPackages {
					out = append(out, folder)
				}
				break
			}
			if folder == "." {
				break
			}
		}
	}
	return out
}

var mypyFault = regexp.MustCompile(`^(\S+?\.pyi?):(\d+)(?::\d+)?: (error: .*)$`)

// mypy runs where the repository is set up for it, on the changed files.
func mypy(ctx context.Context, c *Check, dir string, files []string) ([]Fault, bool, error) {
	program, err := exec.LookPath("mypy")
	if err != nil || !configured(dir) {
		return nil, false, nil
	}
	args := []string{"--no-error-summary", "--no-color-output", "--hide-error-context", "--cache-dir",
		filepath.Join(c.Dir, filepath.Base(dir)+".mypy")}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f))); err == nil {
			args = append(args, f)
		}
	}
	out, err := run(ctx, dir, nil, program, args...)
	return faultsIn(out, dir, mypyFault), true, err
}

// configured reports whether a tree has settings for mypy.
func configured(dir string) bool {
	for file, mark := range map[string]string{"mypy.ini": "", ".mypy.ini": "", "setup.cfg": "[mypy", "pyproject.toml": "[tool.mypy"} {
		if data, err := os.ReadFile(filepath.Join(dir, file)); err == nil && bytes.Contains(data, []byte(mark)) {
			return true
		}
	}
	return false
}

var cargoFault = regexp.MustCompile(`^(\S+?\.rs):(\d+):\d+: (error.*)$`)

// cargo checks the packages of the files, with what has been fetched before.
func cargo(ctx context.Context, c *Check, dir string, files []string) ([]Fault, bool, error) {
	program, err := exec.LookPath("cargo")
	if err != nil {
		return nil, false, nil
	}
	var faults []Fault
	found := false
	for _, project := range upTo(dir, files, "Cargo.toml") {
		found = true
		out, err := run(ctx, filepath.Join(dir, filepath.FromSlash(project)), []string{"CARGO_TARGET_DIR=" + filepath.Join(c.Dir, "target")},
			program, "check", "--offline", "--quiet", "--message-format", "short", "--jobs", "1", "--tests")
		if err != nil {
			return nil, false, err
		}
		faults = append(faults, faultsIn(out, dir, cargoFault)...)
	}
	return faults, found, nil
}
