// Package hosts is what svc doctor says of the agent hosts of a repository. It
// repairs nothing itself: svc init does.
package hosts

import (
	"context"
	"fmt"
	"maps"
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

// Here are the agent hosts of a person, as seen from a folder.
type Here struct {
	Getenv  func(string) string
	Dir     string                       // the working folder
	Program func(context.Context) string // the svc that a person's own hooks name
	// Mend does what svc init does.
	Mend func(context.Context, doctor.Init) error
}

// Checks examines the agent hosts of a repository: those that are set up
// there, and those that the user has.
func (h Here) Checks(root string) func(context.Context) []doctor.Check {
	return func(ctx context.Context) []doctor.Check {
		e := &examination{here: h, home: login.Home(h.Getenv), program: h.Program(ctx), untold: map[string][]string{}}
		e.found = setup.Detect(root, e.home, exec.LookPath)
		for _, id := range setup.IDs() {
			e.host(root, id)
		}
		if len(e.topOnly) > 0 {
			e.checks = append(e.checks, h.folderCheck(root, e.topOnly))
		}
		e.instructions()
		return h.mendable(append(e.checks, h.agentsCheck(root, e.home, e.ready, e.more)))
	}
}

// An examination goes through all hosts.
type examination struct {
	here          Here
	home, program string
	found         []string // that somebody uses here
	checks        []doctor.Check
	ready         []string            // set up, whether or not well
	more          []string            // found, but not set up
	topOnly       []string            // of those that are, the ones that run no hooks in a folder
	untold        map[string][]string // hosts without instructions, by what is wrong
}

func (e *examination) host(root, id string) {
	opts := setup.Options{Root: root, Home: e.home, CodexHome: e.here.Getenv("CODEX_HOME"), Plugin: host.Plugin, Program: e.program}
	r, err := setup.Status(opts, id)
	if err != nil {
		e.checks = append(e.checks, doctor.Check{Name: id, Level: doctor.Fail, Detail: err.Error()})
		return
	}
	away := !setup.Installed(id, e.home, exec.LookPath)
	everywhere := e.here.everywhere(opts, id)
	tools, _ := setup.UserServer(e.home, id, "")
	mine := everywhere.Hooks.Present || (everywhere.Hooks.Err != nil || tools.Present) && !away
	if mine {
		if r.Hooks.Present && !everywhere.Hooks.OK() {
			e.checks = append(e.checks, partCheck(id+" user hooks", everywhere.Hooks, doctor.Init{User: true, Tools: []string{id}}))
		}
		if !r.Hooks.Present {
			r.Hooks, r.Trust, r.Instructions = everywhere.Hooks, everywhere.Trust, everywhere.Instructions
		}
	}
	if everywhere.Server.Present && !r.Server.Present {
		r.Server = everywhere.Server
	}
	if away {
		r.Trust = setup.TrustUnknown // who does not have it was never asked
	}
	if r.Hooks.Present && !everywhere.Hooks.Present && setup.HereOnly(id) && !away {
		e.topOnly = append(e.topOnly, id)
	}
	used := slices.Contains(e.found, id)
	if !r.Hooks.Present && !r.Server.Present && !mine && !(used && r.Hooks.Err != nil) {
		if used {
			e.more = append(e.more, id)
		}
		return
	}
	e.ready = append(e.ready, id)
	off := setup.Switches(opts, id)
	for _, s := range off {
		e.checks = append(e.checks, switchedOff(s))
		if s.Hooks {
			r.Trust = setup.TrustUnknown // consent to hooks that it does not run changes nothing
		}
	}
	e.checks = append(e.checks, e.here.otherSide(id)...)
	e.checks = append(e.checks, reportChecks(r, e.home)...)
	if p := r.Instructions; r.Hooks.OK() && !p.OK() && p.File != "" {
		says := untold(p)
		e.untold[says] = append(e.untold[says], id)
	}
}

// untold says what is wrong with the instructions of a host.
func untold(p setup.Part) string {
	switch {
	case p.Err != nil:
		return p.File + " cannot be read: " + p.Err.Error()
	case p.Present:
		return p.File + " has instructions of another version of svc"
	}
	return p.File + " has no instructions of svc's: agents are not told when to declare their work"
}

// instructions tells once of each file that several hosts read.
func (e *examination) instructions() {
	for _, says := range slices.Sorted(maps.Keys(e.untold)) {
		c := doctor.Check{Name: "instructions", Level: doctor.Warn, Detail: says}
		e.checks = append(e.checks, c.FixedBy(doctor.Init{Tools: e.untold[says], User: strings.HasPrefix(says, "~/")}))
	}
}

// mendable gives the findings that svc init repairs their repair.
func (h Here) mendable(checks []doctor.Check) []doctor.Check {
	for i, c := range checks {
		if c.Level == doctor.OK || c.Init == nil {
			continue // which hosts somebody wants is not ours to choose
		}
		checks[i].Mend = func(ctx context.Context) error { return h.Mend(ctx, *c.Init) }
	}
	return checks
}

// switchedOff tells of a setting of a host's own beside which ours do nothing.
func switchedOff(s setup.Switch) doctor.Check {
	c := doctor.Check{Name: s.Host + " switch", Level: doctor.Warn, Detail: s.File + " has " + s.Says + ": " + s.Does,
		Fix: "take " + s.Says + " out of " + s.File}
	switch {
	case s.Managed:
		c.Fix = "ask the administrator of " + s.File + " to add the hooks that svc init --dry-run --tools " + s.Host + " prints"
	case s.Undo != nil:
		c.Mend = func(context.Context) error { return s.Undo() }
	}
	return c
}

// windowsSide is where Windows keeps programs, as Linux beside it sees them.
var windowsSide = regexp.MustCompile(`(?i)^/mnt/[a-z]/|/AppData/(Roaming|Local)/`)

// otherSide tells of a host of Windows that is found from the Linux beside it:
// it runs there, and starts no svc of here.
func (h Here) otherSide(id string) []doctor.Check {
	path := setup.Program(id, exec.LookPath)
	if h.Getenv("WSL_DISTRO_NAME") == "" || !windowsSide.MatchString(filepath.ToSlash(path)) {
		return nil
	}
	return []doctor.Check{{Name: id + " side", Level: doctor.Warn,
		Detail: path + " is the host of Windows: it runs there, and starts none of our hooks from this side",
		Fix:    "install " + setup.Titles(id) + " in " + h.Getenv("WSL_DISTRO_NAME") + ", or svc on Windows"}}
}

// everywhere returns how a host is set up for all folders of the user.
func (h Here) everywhere(opts setup.Options, id string) setup.Report {
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
func (h Here) folderCheck(root string, ids []string) doctor.Check {
	c := doctor.Check{Name: "folders", Level: doctor.OK, Detail: setup.Titles(ids...) + " run our hooks only when started in " + root +
		"; for every folder: svc init --user"}
	dir := h.Dir
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
		c.Detail = "started in this folder, " + setup.Titles(ids...) + " would run none of our hooks: they read them only in " + root
	}
	return c
}

// agentsCheck says whether any agent is connected here, and is one that the
// person has.
func (h Here) agentsCheck(root, home string, ready, more []string) doctor.Check {
	c := doctor.Check{Name: "agents", Level: doctor.OK, Detail: fmt.Sprintf("%d set up here", len(ready))}
	if len(more) > 0 {
		c.Detail += "; you also have " + setup.Titles(more...)
	}
	away := slices.DeleteFunc(slices.Clone(ready), func(id string) bool { return setup.Installed(id, home, exec.LookPath) })
	switch {
	case len(ready) == 0:
		c.Level, c.Fix = doctor.Warn, "svc init"
		c.Detail = "no agent host is set up in this repository"
		if outer, ids := h.around(root, home); len(ids) > 0 {
			c.Detail += ", though in " + outer + ": hosts read what they run from the copy that they are started in"
			c = c.FixedBy(doctor.Init{Tools: ids})
		}
	case len(away) == len(ready):
		c.Level = doctor.Warn
		c.Detail = "set up here for " + setup.Titles(ready...) + ", which is not installed on this machine"
		if len(more) > 0 {
			c = c.FixedBy(doctor.Init{Tools: more})
			c.Detail += "; you have " + setup.Titles(more...)
		} else {
			c.Fix = "install " + setup.Titles(ready...) + ", or svc init --tools with the host that you use"
		}
	case len(away) > 0:
		c.Detail += "; not installed on this machine: " + setup.Titles(away...)
	}
	return c
}

// around returns the working copy that this one belongs to, as a linked worktree
// or a submodule does, and the hosts that are set up there.
func (h Here) around(root, home string) (outer string, ids []string) {
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
		opts := setup.Options{Root: outer, Home: home, CodexHome: h.Getenv("CODEX_HOME"), Plugin: host.Plugin}
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
			if p, add := setup.UserServer(home, r.Host, ""); add != nil {
				tools = partCheck(r.Host+" tools", p, fix)
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
	case setup.Damaged:
		checks = append(checks, doctor.Check{Name: r.Host + " trust", Level: doctor.Fail, Fix: "mend config.toml by hand",
			Detail: "config.toml cannot be read: it is not valid TOML, and " + setup.Titles(r.Host) + " does not start with it"})
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
