package mergecheck

import (
	"context"
	"path"
	"path/filepath"
	"regexp"
)

var cargoFault = regexp.MustCompile(`^(\S.*?\.rs):(\d+):\d+: (error.*)$`)

// cargo checks the packages of the files, with what has been fetched before. It
// has a folder of its own for what it makes: the person's would be locked.
func cargo(ctx context.Context, c *Check, w work) (outcome, error) {
	program := c.program("cargo")
	all := outcome{none: true}
	if program == "" {
		return all, nil
	}
	for _, project := range upTo(w.dir, w.files, "Cargo.toml") {
		a, err := c.run(ctx, program, call{
			dir: filepath.Join(w.dir, filepath.FromSlash(project)),
			env: []string{"CARGO_TARGET_DIR=" + filepath.Join(c.Dir, "target"), "CARGO_NET_OFFLINE=true", "RUSTUP_AUTO_INSTALL=0",
				"RUSTC_WRAPPER=", "CARGO_TERM_COLOR=never"},
			args: []string{"check", "--offline", "--quiet", "--message-format", "short", "--jobs", "1", "--tests"},
		})
		if err != nil {
			return outcome{}, err
		}
		all.add(a.outcome(faultsIn(a.out, w.dir, cargoWorkspace(w.dir, project), cargoFault)))
	}
	return all, nil
}

// cargoWorkspace is the folder that cargo names files from: that of the
// workspace around a package, or the package itself.
func cargoWorkspace(dir, project string) string {
	root := project
	for folder := project; ; folder = path.Dir(folder) {
		if configured(filepath.Join(dir, filepath.FromSlash(folder)), map[string]string{"Cargo.toml": "[workspace"}) {
			root = folder
		}
		if folder == "." {
			return root
		}
	}
}
