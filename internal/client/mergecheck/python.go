package mergecheck

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
)

var (
	mypyFault = regexp.MustCompile(`^(\S.*?\.pyi?):(\d+)(?::\d+)?: (error: .*)$`)
	// mypySame is a file that mypy does not take beside another.
	mypySame     = regexp.MustCompile(`(?m)^(\S.*?\.pyi?): error: (?:Duplicate module named|Source file found twice)`)
	pyrightFault = regexp.MustCompile(`^\s*(\S.*?\.pyi?):(\d+):\d+ - (error: .*)$`)
)

// environments are where a repository's own Python and what is installed for it
// are.
func environments() []string {
	if runtime.GOOS == "windows" {
		return []string{".venv/Scripts", "venv/Scripts"}
	}
	return []string{".venv/bin", "venv/bin"}
}

// setForMypy are the settings of mypy.
var setForMypy = map[string]string{"mypy.ini": "", ".mypy.ini": "", "setup.cfg": "[mypy", "pyproject.toml": "[tool.mypy"}

// mypy runs where the repository is set up for it, on the changed files.
func mypy(ctx context.Context, c *Check, w work) (outcome, error) {
	program := c.program("mypy", environments()...)
	if program == "" || !configured(w.dir, setForMypy) {
		return outcome{none: true}, nil
	}
	args := []string{"--no-error-summary", "--no-color-output", "--hide-error-context", "--no-pretty", "--cache-dir",
		filepath.Join(c.Dir, filepath.Base(w.dir)+".mypy")}
	if python := c.python(); python != "" {
		args = append(args, "--python-executable", python)
	}
	return c.pythonFiles(ctx, program, w, append(args, "--"), mypyFault)
}

// pyright runs where the repository is set up for it, on the changed files; and
// where it is set up for a mypy that is not here. What it makes of code that was
// not written for it is the same on either side alone, so that it tells nothing.
func pyright(ctx context.Context, c *Check, w work) (outcome, error) {
	program := c.program("pyright", append(environments(), "node_modules/.bin")...)
	own := configured(w.dir, map[string]string{"pyrightconfig.json": "", "pyproject.toml": "[tool.pyright"})
	instead := !own && configured(w.dir, setForMypy) && c.program("mypy", environments()...) == ""
	if program == "" || !own && !instead {
		return outcome{none: true}, nil
	}
	var args []string
	if python := c.python(); python != "" {
		args = []string{"--pythonpath", python}
	}
	return c.pythonFiles(ctx, program, w, args, pyrightFault)
}

func (c *Check) pythonFiles(ctx context.Context, program string, w work, args []string, line *regexp.Regexp) (outcome, error) {
	files := present(w.dir, w.files)
	if len(files) == 0 {
		return outcome{}, nil
	}
	var before outcome
	for {
		all := slices.Clone(args)
		for _, f := range files {
			all = append(all, "./"+f) // whatever it begins with
		}
		a, err := c.run(ctx, program, call{dir: w.dir, args: all, env: []string{
			"NODE_OPTIONS=--max-old-space-size=2048", "PYTHONDONTWRITEBYTECODE=1", "PYRIGHT_PYTHON_IGNORE_WARNINGS=1",
		}})
		faults := faultsIn(a.out, w.dir, ".", line)
		stops := stoppedAt(a, faults)
		less := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return slices.Contains(stops, f) })
		if err != nil || len(less) == 0 || len(less) == len(files) {
			if len(stops) > 0 && a.broken == "" {
				a.broken = "it stops at " + stops[0]
			}
			before.add(a.outcome(faults))
			return before, err
		}
		before.add(outcome{faults: faults})
		files = less
	}
}

// stoppedAt are the files that mypy looks at nothing for: one that it does not
// take beside another, or cannot read.
func stoppedAt(a answer, faults []Fault) (out []string) {
	for _, same := range mypySame.FindAllStringSubmatch(a.out, -1) {
		out = append(out, path.Clean(filepath.ToSlash(same[1])))
	}
	const blocked = 2
	for _, f := range faults {
		if a.code == blocked {
			out = append(out, f.Path)
		}
	}
	return out
}

// python is the one that the repository has for itself, or "".
func (c *Check) python() string {
	for _, dir := range environments() {
		for _, name := range []string{"python", "python.exe"} {
			if there(c.Repo.Root, dir, name) {
				return filepath.Join(c.Repo.Root, filepath.FromSlash(dir), name)
			}
		}
	}
	return ""
}

// configured reports whether a tree has settings, in files with what they say.
func configured(dir string, files map[string]string) bool {
	for file, mark := range files {
		if data, err := os.ReadFile(filepath.Join(dir, file)); err == nil && bytes.Contains(data, []byte(mark)) {
			return true
		}
	}
	return false
}
