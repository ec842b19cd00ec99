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

const (
	// maxOutput is how much of a checker's words is read.
	maxOutput = 1 << 20
	// maxMemory is how much one process of a checker may write to, where the
	// system can be told so. It is above what they are asked to keep to.
	maxMemory = 3 << 30
	// maxFile is how large a file may be that a checker writes.
	maxFile = 1 << 30
	// maxPackages is how many packages are looked at.
	maxPackages = 40
)

// A limited buffer drops what is too much.
type limited struct {
	bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := maxOutput - l.Len()
	l.over = l.over || len(p) > room
	l.Buffer.Write(p[:min(max(room, 0), len(p))])
	return len(p), nil
}

// A call is how a checker is started.
type call struct {
	dir   string
	env   []string // beside what every checker gets
	stdin string
	args  []string
}

// An answer is what a checker wrote, and why that is not to be relied on, if
// so.
type answer struct {
	out    string
	code   int    // 0 for success
	broken string // why it is not all
}

// inherited are the variables of the user's that checkers get: where things
// are, and nothing that would make them start a program.
var inherited = []string{
	"HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "LOCALAPPDATA", "USERPROFILE", "APPDATA", "XDG_CACHE_HOME",
	"GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME", "JAVA_HOME",
}

// run starts a checker behind everything else on the machine, within limits of
// memory, and ends all that it started when it ends or time is up.
func (c *Check) run(ctx context.Context, program string, in call) (answer, error) {
	cmd := exec.CommandContext(ctx, program, in.args...)
	cmd.Dir = in.dir
	cmd.Env = c.env(in.env)
	cmd.WaitDelay = 2 * time.Second
	var out limited
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in.stdin), &out, &out
	gently(cmd)
	if err := cmd.Start(); err != nil {
		return answer{}, err
	}
	settle(cmd, c)
	why := c.watch(cmd.Process.Pid, func() { finish(cmd) })
	err := cmd.Wait()
	ended := why()
	finish(cmd)
	used, room := cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), c.allowed-c.spent
	c.spent += used
	if ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return answer{}, err
	}
	a := answer{out: out.String(), code: cmd.ProcessState.ExitCode()}
	switch {
	case ended != "":
		a.broken = ended
	case a.code < 0 && used >= room: // the kernel's limit was reached before anybody looked
		a.broken = overBudget
	case exhausted.MatchString(a.out) || a.code < 0:
		a.broken = "it took more memory or time than it may"
	case out.over:
		a.broken = "it says more than can be read"
	}
	return a, nil
}

// exhausted is how checkers say that they, or what they started, ran into a
// limit: what they say beside it is not all.
var exhausted = regexp.MustCompile(`(?i)out of memory|cannot allocate memory|allocation failed|OutOfMemoryError|` +
	`signal: (?:killed|aborted)|memory exhausted`)

// env is the environment of a checker.
func (c *Check) env(more []string) (out []string) {
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	out = append(out, "LC_ALL=C", "PATH="+strings.Join(c.path(), string(os.PathListSeparator)))
	return append(out, more...)
}

// outcome turns an answer into what it means.
func (a answer) outcome(faults []Fault) outcome {
	o := outcome{faults: faults, problem: a.broken}
	if o.problem == "" && a.code != 0 && len(faults) == 0 {
		o.problem = "it says " + strconv.Quote(a.firstWords())
	}
	return o
}

// firstWords is what an answer begins with, without headings.
func (a answer) firstWords() string {
	var said string
	for l := range strings.Lines(a.out) {
		if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if said += l; !strings.HasSuffix(l, ":") {
			break
		}
		said += " "
	}
	return said[:min(len(said), 300)]
}

// path is where programs are looked for: never in the repository, unless it is
// trusted.
func (c *Check) path() (out []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && (c.Trusted || !c.inRepository(dir)) {
			out = append(out, dir)
		}
	}
	return out
}

func (c *Check) inRepository(name string) bool {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		real = name
	}
	for _, root := range []string{c.Repo.Root, c.root(), c.Dir} {
		if within(root, real) || within(root, name) {
			return true
		}
	}
	return false
}

// root is the working copy's, without links in its name.
func (c *Check) root() string {
	if real, err := filepath.EvalSymlinks(c.Repo.Root); err == nil {
		return real
	}
	return c.Repo.Root
}

// within reports whether a file is in a folder, or is the folder.
func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// program finds a program of this machine, or "". Those that a trusted
// repository has installed for itself come first, from the folders named.
func (c *Check) program(name string, own ...string) string {
	dirs := c.path()
	if c.Trusted {
		for i, dir := range own {
			own[i] = filepath.Join(c.Repo.Root, filepath.FromSlash(dir))
		}
		dirs = append(own, dirs...)
	}
	for _, dir := range dirs {
		file, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil && (c.Trusted || !c.inRepository(file)) {
			return file
		}
	}
	return ""
}

// faultsIn reads lines of the form path:line:column: text. Paths are relative
// to at, a folder of the tree in dir; what is not in that tree is left out.
func faultsIn(out, dir, at string, line *regexp.Regexp) (faults []Fault) {
	for l := range strings.Lines(out) {
		m := line.FindStringSubmatch(strings.TrimRight(l, "\r\n"))
		if m == nil {
			continue
		}
		if f, ok := faultAt(dir, at, m[1], m[2], m[3]); ok && !slices.Contains(faults, f) {
			faults = append(faults, f)
		}
	}
	return faults
}

func faultAt(dir, at, file, line, text string) (Fault, bool) {
	file = filepath.FromSlash(file)
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, filepath.FromSlash(at), file)
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil || !within(dir, file) {
		return Fault{}, false
	}
	n, _ := strconv.Atoi(line)
	// The same mistake reads the same in every folder.
	text = strings.ReplaceAll(filepath.ToSlash(text), filepath.ToSlash(dir)+"/", "")
	return Fault{Path: filepath.ToSlash(rel), Line: n, Text: strings.TrimSpace(text)}, true
}

// upTo returns the nearest folders around the files that hold a file of a name.
func upTo(dir string, files []string, name string) (out []string) {
	for _, f := range files {
		for folder := path.Dir(f); ; folder = path.Dir(folder) {
			if there(dir, folder, name) {
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

// there reports whether a tree has something at a place.
func there(dir string, place ...string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path.Join(place...))))
	return err == nil
}

// present are those of the files that a tree has.
func present(dir string, files []string) (out []string) {
	for _, f := range files {
		if there(dir, f) {
			out = append(out, f)
		}
	}
	return out
}
