package moments

import (
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
)

// canonicalPaths writes the paths of an event as claims are written, so that no
// other way of writing one is another file, and refuses what is no path in the
// repository.
func (e *hookEvent) canonicalPaths() error {
	var bad []problem.Field
	clean := func(p *string, at string, args ...any) {
		canonical, err := scope.CleanPath(*p)
		if err != nil {
			bad = append(bad, problem.Field{Path: fmt.Sprintf(at, args...), Message: err.Error()})
			return
		}
		*p = canonical
	}
	for i := range e.Paths {
		clean(&e.Paths[i], "paths[%d]", i)
	}
	for i, f := range e.Folders {
		glob, err := scope.ParseGlob(f)
		if err != nil {
			bad = append(bad, problem.Field{Path: fmt.Sprintf("folders[%d]", i), Message: err.Error()})
			continue
		}
		e.Folders[i] = glob.String()
	}
	if e.Analysis != nil {
		for i := range e.Analysis.Files {
			f := &e.Analysis.Files[i]
			clean(&f.Path, "analysis.files[%d].path", i)
			if f.OldPath != nil {
				clean(f.OldPath, "analysis.files[%d].old_path", i)
			}
			f.Former = slices.DeleteFunc(f.Former, func(p string) bool { // history has had stranger names
				canonical, err := scope.CleanPath(p)
				return err != nil || canonical != p || p == f.Path
			})
		}
	}
	for i := range e.Pending {
		clean(&e.Pending[i].Path, "pending[%d].path", i)
	}
	if e.Shell != nil {
		for i, git := range e.Shell.Git {
			for j := range git.Files {
				clean(&git.Files[j].Path, "shell.git[%d].files[%d].path", i, j)
			}
		}
	}
	return problem.Invalid(bad)
}

// staleWrite is the rule for edits that would undo lines of others, where it is
// not the usual one.
func staleWrite(rules *policy.Effective) string {
	if rules.StaleWrite == policy.StaleRefuse {
		return ""
	}
	return rules.StaleWrite
}
