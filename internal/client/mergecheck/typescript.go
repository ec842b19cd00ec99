package mergecheck

import (
	"context"
	_ "embed" // the script below
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var tscFault = regexp.MustCompile(`^(\S.*?\.[cm]?tsx?)\((\d+),\d+\): (error .*)$`)

// tscScript has a compiler check the changed files alone: what tsc does to all
// of a project takes several times as long.
//
//go:embed typescript.cjs
var tscScript string

// notALibrary is how the script ends where the compiler has no interface for
// it.
const notALibrary = 64

// tsc runs the repository's own compiler, with the packages that are installed
// in the working copy.
func tsc(ctx context.Context, c *Check, w work) (outcome, error) {
	node := c.program("node")
	all := outcome{none: true}
	for _, project := range upTo(w.dir, w.files, "tsconfig.json") {
		home := c.nearest(project, "node_modules/typescript")
		if node == "" || home == "" {
			continue
		}
		dir := c.oneName()
		a, err := c.tscFiles(ctx, node, home, w, project)
		if err == nil && a.code == notALibrary {
			dir = w.dir
			a, err = c.tscProject(ctx, node, home, w.dir, project)
		}
		if err != nil {
			return outcome{}, err
		}
		all.add(a.outcome(faultsIn(a.out, dir, ".", tscFault)))
	}
	return all, nil
}

// oneName is what the compiler sees as the folder of a tree, be it merged or
// one side's.
func (c *Check) oneName() string { return filepath.Join(c.Dir, "tree") }

// nearest is where the working copy has something, in a folder or one around
// it, or "".
func (c *Check) nearest(folder, name string) string {
	for ; ; folder = path.Dir(folder) {
		if there(c.Repo.Root, folder, name) {
			return filepath.Join(c.Repo.Root, filepath.FromSlash(path.Join(folder, name)))
		}
		if folder == "." {
			return ""
		}
	}
}

// tscFiles has the compiler look at the files that the two sides changed.
func (c *Check) tscFiles(ctx context.Context, node, home string, w work, project string) (answer, error) {
	library := filepath.Join(home, "lib", "typescript.js")
	if _, err := os.Stat(library); err != nil {
		return answer{code: notALibrary}, nil
	}
	script := filepath.Join(c.Dir, "typescript.cjs")
	if err := os.WriteFile(script, []byte(tscScript), 0o600); err != nil {
		return answer{}, err
	}
	in, err := json.Marshal(map[string]any{
		"library": library,
		"root":    filepath.ToSlash(c.root()),
		"tree":    filepath.ToSlash(w.dir),
		"as":      filepath.ToSlash(c.oneName()),
		"config":  filepath.ToSlash(filepath.Join(c.oneName(), filepath.FromSlash(project), "tsconfig.json")),
		"cache":   filepath.Join(c.Dir, "node"),
		"sides":   w.sides,
		"only":    w.only,
	})
	if err != nil {
		return answer{}, err
	}
	args := []string{"--max-old-space-size=2048", "--max-semi-space-size=64", script}
	if a, ok := c.ask(ctx, node, warm{c.warmName(node, library, tscScript), args}, in); ok {
		return a, nil
	}
	if ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	return c.run(ctx, node, call{dir: w.dir, stdin: string(in), args: args})
}

// tscProject runs the compiler as a program, on all of a project.
func (c *Check) tscProject(ctx context.Context, node, home, dir, project string) (answer, error) {
	for folder := project; ; folder = path.Dir(folder) { // packages have some of their own
		from := filepath.Join(c.Repo.Root, filepath.FromSlash(folder), "node_modules")
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			_ = os.Symlink(from, filepath.Join(dir, filepath.FromSlash(folder), "node_modules")) // there already, mostly
		}
		if folder == "." {
			break
		}
	}
	info := filepath.Join(c.Dir, filepath.Base(dir)+"-"+strings.ReplaceAll(project, "/", "-")+".tsbuildinfo")
	return c.run(ctx, node, call{dir: dir, args: []string{"--max-old-space-size=2048", filepath.Join(home, "bin", "tsc"), "--noEmit",
		"--pretty", "false", "--incremental", "--tsBuildInfoFile", info, "--skipLibCheck", "-p",
		filepath.Join(dir, filepath.FromSlash(project))}})
}
