package mergecheck

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

var (
	goFault = regexp.MustCompile(`^(?:vet: )?(?:\./)?(\S+?\.go):(\d+)(?::\d+)?: (.*)$`)
	// goEmpty is a folder that has nothing for this system: Go compiles none then.
	goEmpty = regexp.MustCompile(`(?m)(?:no (?:non-test )?Go files in|build constraints exclude all Go files in) (\S.*)$`)
	// goMissing is how Go says that it compiled nothing, for want of others' code.
	goMissing = regexp.MustCompile(`module lookup disabled by GOPROXY=off|no required module provides package|missing go\.sum entry`)
	goCycle   = regexp.MustCompile(`(?m)^\s*imports (\S+)(?: from (\S+\.go))?: (import cycle not allowed.*)$`)
)

// goEnv keeps Go from running anything of the repository: no C, no other
// toolchain, nothing from the network, no flags that would start a program. Nor
// is git asked of the folder (-buildvcs).
var goEnv = []string{
	"GOFLAGS=", "GOENV=off", "GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "CGO_ENABLED=0", "GOVCS=*:off", "GOTELEMETRY=off",
	"GOMAXPROCS=2", "GOMEMLIMIT=1GiB",
}

// goBuild has Go's compiler look at packages: go build tells all that is wrong
// with them. Where tests changed, go vet tells the first thing that is wrong with
// those, whether or not some package fails to build: one that never does, for
// want of generated code, is no reason to leave the others' tests out. Go builds
// vet itself when it first needs it, which takes a while. Of its own checks a
// cheap one is asked for: the types are what matters.
func goBuild(ctx context.Context, c *Check, w work) (outcome, error) {
	program := c.program("go")
	modules := goPackages(w.dir, w.files)
	if program == "" || len(modules) == 0 {
		return outcome{none: true}, nil
	}
	var all outcome
	for module, packages := range modules {
		at := filepath.Join(w.dir, filepath.FromSlash(module))
		env := append(slices.Clone(goEnv), "GOWORK="+workspace(w.dir, module))
		commands := [][]string{{"build", "-trimpath", "-buildvcs=false", "-p=2", "-gcflags=-e", "-o", os.DevNull}}
		if slices.ContainsFunc(w.files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
			commands = append(commands, []string{"vet", "-trimpath", "-buildvcs=false", "-p=2", "-atomic"})
		}
		for _, args := range commands {
			a, err := c.goRun(ctx, program, call{dir: at, env: env, args: args}, packages)
			if err != nil {
				return outcome{}, err
			}
			found := faultsIn(a.out, w.dir, module, goFault)
			for _, m := range goCycle.FindAllStringSubmatch(a.out, -1) {
				found = append(found, Fault{Path: path.Join(module, "go.mod"), Line: 1, Text: m[3] + ": " + m[1]})
			}
			if goMissing.MatchString(a.out) {
				a.broken = "modules that it needs are not on this machine (go mod download)"
			}
			all.add(a.outcome(found))
		}
	}
	return all, nil
}

// goRun runs Go on packages, those that it has something of.
func (c *Check) goRun(ctx context.Context, program string, in call, packages []string) (answer, error) {
	args := in.args
	for {
		in.args = slices.Concat(args, packages)
		a, err := c.run(ctx, program, in)
		empty := goEmpty.FindAllStringSubmatch(a.out, -1)
		rest := slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
			at := filepath.Join(in.dir, filepath.FromSlash(p))
			return slices.ContainsFunc(empty, func(m []string) bool { return m[1] == at })
		})
		switch {
		case err != nil || len(rest) == len(packages):
			return a, err
		case len(rest) == 0:
			return answer{}, nil
		}
		packages = rest
	}
}

// workspace is the go.work around a module in the tree that the module is part
// of; one outside of the tree is somebody else's.
func workspace(dir, module string) string {
	for folder := module; ; folder = path.Dir(folder) {
		name := filepath.Join(dir, filepath.FromSlash(folder), "go.work")
		if data, err := os.ReadFile(name); err == nil {
			file, err := modfile.ParseWork(name, data, nil)
			if err == nil && slices.ContainsFunc(file.Use, func(u *modfile.Use) bool { return path.Join(folder, u.Path) == module }) {
				return name
			}
			return "off"
		}
		if folder == "." {
			return "off"
		}
	}
}

// goPackages are the folders of files, by the module that they are in.
func goPackages(dir string, files []string) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		folder := path.Dir(f)
		if !hasGo(dir, folder) {
			continue // gone
		}
		for _, module := range upTo(dir, []string{f}, "go.mod") {
			rel := "./" + strings.TrimPrefix(strings.TrimPrefix(folder, module), "/")
			if module == "." {
				rel = "./" + folder
			}
			if !slices.Contains(out[module], rel) && len(out[module]) < maxPackages {
				out[module] = append(out[module], rel)
			}
		}
	}
	return out
}

// hasGo reports whether a folder of a tree has a package still.
func hasGo(dir, folder string) bool {
	list, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
	return err == nil && slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") })
}
