package cli

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/doctor"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/setup"
)

// hostChecks examines the agent hosts of a repository: those that are set up
// there, and those that the user has.
func (a *app) hostChecks(root string) func(context.Context) []doctor.Check {
	return func(context.Context) []doctor.Check {
		home := login.Home(a.Getenv)
		found := setup.Detect(root, home, exec.LookPath)
		var checks []doctor.Check
		var ready []string
		var more []string    // found, but not set up
		var topOnly []string // of those that are, the ones that run no hooks in a folder
		for _, id := range setup.IDs() {
			opts := setup.Options{Root: root, Home: home, CodexHome: a.Getenv("CODEX_HOME"), Plugin: host.Plugin}
			r, err := setup.Status(opts, id)
			if err != nil {
				checks = append(checks, doctor.Check{Name: id, Level: doctor.Fail, Detail: err.Error()})
				continue
			}
			everywhere := a.everywhere(opts, id)
			if everywhere.Hooks.Present {
				if !r.Hooks.Present {
					r.Hooks, r.Trust = everywhere.Hooks, everywhere.Trust
				}
				if !everywhere.Hooks.OK() {
					checks = append(checks, partCheck(id+" user hooks", everywhere.Hooks, doctor.Init{User: true, Tools: []string{id}}))
				}
			}
			if everywhere.Server.Present && !r.Server.Present {
				r.Server = everywhere.Server
			}
			away := !setup.Installed(id, home, exec.LookPath)
			if away {
				r.Trust = setup.TrustUnknown // who does not have it was never asked
			}
			if r.Hooks.Present && !everywhere.Hooks.Present && setup.HereOnly(id) && !away {
				topOnly = append(topOnly, id)
			}
			present := r.Hooks.Present || r.Server.Present
			switch used := slices.Contains(found, id); {
			case present:
				ready = append(ready, id)
				checks = append(checks, switchedOff(opts, id)...)
				checks = append(checks, a.otherSide(id)...)
			case used:
				more = append(more, id)
			}
			if present || slices.Contains(more, id) && r.Hooks.Err != nil {
				checks = append(checks, reportChecks(r, home)...)
			}
		}
		if len(topOnly) > 0 {
			checks = append(checks, a.folderCheck(root, topOnly))
		}
		return a.mendable(append(checks, a.agentsCheck(root, home, ready, more)))
	}
}

// mendable gives the findings that svc init repairs their repair.
func (a *app) mendable(checks []doctor.Check) []doctor.Check {
	for i, c := range checks {
		if c.Level == doctor.OK || c.Init == nil {
			continue // which hosts somebody wants is not ours to choose
		}
		checks[i].Mend = func(ctx context.Context) error {
			quiet := *a
			quiet.Env = &Env{}
			*quiet.Env = *a.Env
			quiet.Stdout, quiet.json = io.Discard, false
			return quiet.runInit(ctx, initFlags{yes: true, home: c.Init.Home, user: c.Init.User, tools: strings.Join(c.Init.Tools, ",")})
		}
	}
	return checks
}

// switchedOff tells of settings of a host's own beside which ours do nothing.
func switchedOff(opts setup.Options, id string) (out []doctor.Check) {
	for _, s := range setup.Switches(opts, id) {
		c := doctor.Check{Name: id + " switch", Level: doctor.Warn, Detail: s.File + " has " + s.Says + ": " + s.Does,
			Fix: "take " + s.Says + " out of " + s.File}
		if s.Undo != nil {
			c.Mend = func(context.Context) error { return s.Undo() }
		}
		out = append(out, c)
	}
	return out
}

// windowsSide is where Windows keeps programs, as Linux beside it sees them.
var windowsSide = regexp.MustCompile(`(?i)^/mnt/[a-z]/|/AppData/(Roaming|Local)/`)

// otherSide tells of a host of Windows that is found from the Linux beside it:
// it runs there, and starts no svc of here.
func (a *app) otherSide(id string) []doctor.Check {
	path := setup.Program(id, exec.LookPath)
	if a.Getenv("WSL_DISTRO_NAME") == "" || !windowsSide.MatchString(filepath.ToSlash(path)) {
		return nil
	}
	return []doctor.Check{{Name: id + " side", Level: doctor.Warn,
		Detail: path + " is the host of Windows: it runs there, and starts none of our hooks from this side",
		Fix:    "install " + id + " in " + a.Getenv("WSL_DISTRO_NAME") + ", or svc on Windows"}}
}

// everywhere returns how a host is set up for all folders of the user.
func (a *app) everywhere(opts setup.Options, id string) setup.Report {
	if opts.Home == "" {
		return setup.Report{}
	}
	opts.User = true
	r, err := setup.Status(opts, id)
	if err != nil {
		return setup.Report{}
	}
	return r
}

// folderCheck tells where hosts would not run our hooks: some read them only
// in the folder that they are started in.
func (a *app) folderCheck(root string, ids []string) doctor.Check {
	c := doctor.Check{Name: "folders", Level: doctor.OK, Detail: strings.Join(ids, ", ") + " run our hooks only when started in " + root +
		"; for every folder: svc init --user"}
	dir := a.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top := root
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	if dir != top {
		c = c.FixedBy(doctor.Init{User: true, Tools: ids})
		c.Level = doctor.Warn
		c.Detail = "started in this folder, " + strings.Join(ids, ", ") + " would run none of our hooks: they read them only in " + root
	}
	return c
}

// agentsCheck says whether any agent is connected here, and is one that the
// person has.
func (a *app) agentsCheck(root, home string, ready, more []string) doctor.Check {
	c := doctor.Check{Name: "agents", Level: doctor.OK, Detail: fmt.Sprintf("%d set up here", len(ready))}
	if len(more) > 0 {
		c.Detail += "; you also have " + strings.Join(more, ", ")
	}
	away := slices.DeleteFunc(slices.Clone(ready), func(id string) bool { return setup.Installed(id, home, exec.LookPath) })
	switch {
	case len(ready) == 0:
		c.Level, c.Fix = doctor.Warn, "svc init"
		c.Detail = "no agent host is set up in this repository"
		if outer, ids := a.around(root, home); len(ids) > 0 {
			c.Detail += ", though in " + outer + ": hosts read what they run from the copy that they are started in"
			c = c.FixedBy(doctor.Init{Tools: ids})
		}
	case len(away) == len(ready):
		c.Level = doctor.Warn
		c.Detail = "set up here for " + strings.Join(ready, ", ") + ", which is not installed on this machine"
		if len(more) > 0 {
			c = c.FixedBy(doctor.Init{Tools: more})
			c.Detail += "; you have " + strings.Join(more, ", ")
		} else {
			c.Fix = "install " + strings.Join(ready, " or ") + ", or svc init --tools with the host that you use"
		}
	case len(away) > 0:
		c.Detail += "; not installed on this machine: " + strings.Join(away, ", ")
	}
	return c
}

// around returns the working copy that this one belongs to, as a linked worktree
// or a submodule does, and the hosts that are set up there.
func (a *app) around(root, home string) (outer string, ids []string) {
	repo, ok := gitrepo.At(root)
	if !ok {
		return "", nil
	}
	if repo.CommonDir != repo.GitDir {
		outer = filepath.Dir(repo.CommonDir) // a worktree of it
	} else if above, ok := gitrepo.Find(filepath.Dir(root)); ok {
		outer = above.Root
	} else {
		return "", nil
	}
	for _, id := range setup.IDs() {
		opts := setup.Options{Root: outer, Home: home, CodexHome: a.Getenv("CODEX_HOME"), Plugin: host.Plugin}
		if r, err := setup.Status(opts, id); err == nil && r.Hooks.Present {
			ids = append(ids, id)
		}
	}
	return outer, ids
}

// reportChecks are the findings about one host.
func reportChecks(r setup.Report, home string) []doctor.Check {
	fix := doctor.Init{Tools: []string{r.Host}, User: strings.HasPrefix(r.Hooks.File, "~/")}
	checks := []doctor.Check{partCheck(r.Host+" hooks", r.Hooks, fix)}
	if r.Server.File != "" {
		tools := partCheck(r.Host+" tools", r.Server, fix)
		if strings.HasPrefix(r.Hooks.File, "~/") && !r.Server.Present {
			if p, add := setup.UserServer(home, r.Host); add != "" {
				tools = partCheck(r.Host+" tools", p, fix)
				if tools.Level == doctor.Warn {
					tools.Fix, tools.Init = add, nil
				}
			}
		}
		checks = append(checks, tools)
	}
	switch r.Trust {
	case setup.Untrusted:
		checks = append(checks, doctor.Check{Name: r.Host + " trust", Level: doctor.Warn,
			Detail: "the host does not run our hooks until you accept them. " + setup.Notes(r.Host, false)})
	case setup.Stale:
		checks = append(checks, doctor.Check{Name: r.Host + " trust", Level: doctor.Warn,
			Detail: "the hooks have changed since you accepted them, and the host skips them until you do so again. " + setup.Notes(r.Host, false)})
	case setup.Trusted:
		checks = append(checks, doctor.Check{Name: r.Host + " trust", Level: doctor.OK, Detail: "the hooks are accepted"})
	}
	return checks
}

func partCheck(name string, p setup.Part, fix doctor.Init) doctor.Check {
	fix.Home = strings.HasPrefix(p.File, "~/") && !fix.User
	switch {
	case p.Err != nil:
		return doctor.Check{Name: name, Level: doctor.Fail, Detail: fmt.Sprintf("%s cannot be read: %v", p.File, p.Err),
			Fix: "mend or delete " + p.File + " by hand, then " + fix.String()}
	case p.Taken:
		return doctor.Check{Name: name, Level: doctor.Warn,
			Detail: p.File + " has another tool server under the name svc, so agents reach that one",
			Fix:    "rename it in " + p.File + ", then " + fix.String()}
	case !p.Present:
		return doctor.Check{Name: name, Level: doctor.Warn, Detail: "missing in " + p.File}.FixedBy(fix)
	case len(p.Missing) > 0:
		return doctor.Check{Name: name, Level: doctor.Warn, Detail: p.File + ": " + strings.Join(p.Missing, "; ")}.FixedBy(fix)
	}
	return doctor.Check{Name: name, Level: doctor.OK, Detail: p.File}
}
