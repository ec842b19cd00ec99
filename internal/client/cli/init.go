package cli

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/setup"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// initFlags are the flags of svc init.
type initFlags struct {
	tools  string
	server string
	yes    bool
	home   bool
	user   bool
	remove bool
	dryRun bool
	status bool
}

func initCommand(a *app.Run) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [--tools IDS|all] [--yes] [--server URL]",
		Short: "Set up agent hosts in this repository",
		Long: "Write hooks, the tool server and instructions into the configuration of the\n" +
			"agent hosts you use. What is not ours in those files stays as it is, and no\n" +
			"token is ever written. It is safe to run again; --remove takes it all out.\n\n" +
			"With --user it writes the hooks that hosts run for you in whatever folder they\n" +
			"are started: several hosts read a repository's hooks only at its top. In a\n" +
			"repository that your team's server does not know, those tell it nothing.",
		Example: "  svc init\n  svc init --user\n  svc init --tools claude_code,cursor --yes\n  svc init --dry-run --tools all",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runInit(cmd.Context(), a, f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.tools, "tools", "", "hosts, separated by commas, or all")
	term.ChoicesOf(cmd, "tools", func() []string { return append(setup.IDs(), "all") })
	fs.StringVar(&f.server, "server", "", "the server you are going to use")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask; without --tools: "+strings.Join(setup.Default, ","))
	fs.BoolVar(&f.home, "home", false, "also edit the home folder, for hosts that look only there")
	fs.BoolVar(&f.user, "user", false, "set up your home folder, for every folder that a host is started in")
	fs.BoolVar(&f.status, "status-line", false, "show svc prompt in Claude Code's status line; edits ~/.claude")
	fs.BoolVar(&f.remove, "remove", false, "take svc out of the hosts' configuration")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show the changes and write nothing")
	return cmd
}

// An initReport is the JSON of svc init.
type initReport struct {
	Root     string       `json:"root"`
	Tools    []string     `json:"tools"`
	Files    []initChange `json:"files"`
	Warnings []string     `json:"warnings"`
	Notes    []string     `json:"notes"`
	Applied  bool         `json:"applied"`
}

// An initChange is one file that svc init writes.
type initChange struct {
	Path   string `json:"path"`
	Change string `json:"change"`
}

func runInit(ctx context.Context, a *app.Run, f initFlags) error {
	if f.server != "" {
		if _, err := login.CleanServer(f.server); err != nil {
			return &term.Exit{Code: term.ExitUsage, Err: err}
		}
	}
	root, inRepo := setup.FindRoot(a.Dir)
	if f.user {
		if root, inRepo = login.Home(a.Getenv), true; root == "" {
			return fmt.Errorf("there is no home folder: set HOME")
		}
	}
	tools, err := chooseTools(ctx, a, f, root)
	if err != nil {
		return err
	}
	opts := setup.Options{Root: root, Hosts: tools, CodexHome: a.Getenv("CODEX_HOME"), Plugin: host.Plugin, User: f.user,
		StatusLine: f.status}
	if f.user {
		opts.Program = thisProgram(ctx)
	}
	if opts.Home, err = leaveForHome(ctx, a, f, tools); err != nil {
		return err
	}
	plan := setup.Plan
	if f.remove {
		plan = setup.Remove
	}
	changes, err := plan(opts)
	if err != nil {
		return fmt.Errorf("%w; nothing was written", err)
	}
	rep := reportOf(root, tools, changes, f, opts.Home != "")
	if !inRepo {
		rep.Warnings = append(rep.Warnings, root+" is in no git repository; hooks do nothing until it is")
	}
	if _, err := program(ctx); err != nil && !f.remove {
		rep.Warnings = append(rep.Warnings, err.Error())
	}
	if f.dryRun && !a.JSON {
		printWarnings(a, rep.Warnings)
		_, err := a.Stdout.Write(changes.Diff())
		return err
	}
	if !f.dryRun {
		if err := changes.Apply(); err != nil {
			return err
		}
		if err := hostServers(ctx, a, f, opts, &rep); err != nil {
			return err
		}
		rep.Applied = true
	}
	if a.JSON {
		return a.PrintJSON(rep)
	}
	printInit(a, rep, f)
	return nil
}

// hostServers has hosts that write their tool servers themselves add or remove
// ours, for svc init --user.
func hostServers(ctx context.Context, a *app.Run, f initFlags, opts setup.Options, rep *initReport) error {
	switch {
	case !f.user:
		return nil
	case f.remove:
		files, err := dropServers(ctx, opts.Home, opts.Hosts)
		for _, file := range files {
			rep.Files = append(rep.Files, initChange{file, "update"})
		}
		return err
	}
	servers, notes := lackingServers(opts.Home, opts.Program, opts.Hosts)
	rep.Notes = append(rep.Notes, notes...)
	for _, s := range servers {
		rep.Files = append(rep.Files, initChange{s.file, "update"})
	}
	rep.Warnings = append(rep.Warnings, addServers(ctx, servers)...)
	return nil
}

func reportOf(root string, tools []string, changes *setup.Changes, f initFlags, home bool) initReport {
	rep := initReport{Root: root, Tools: tools, Files: []initChange{}, Warnings: append([]string{}, changes.Warnings...), Notes: []string{}}
	for _, c := range changes.Files {
		rep.Files = append(rep.Files, initChange{c.Path, c.Kind()})
	}
	for _, id := range tools {
		note := setup.Notes(id, home)
		if f.user {
			note = setup.UserNotes(id)
		}
		if note != "" && !f.remove {
			rep.Notes = append(rep.Notes, note)
		}
	}
	return rep
}

func printInit(a *app.Run, rep initReport, f initFlags) {
	for _, c := range rep.Files {
		fmt.Fprintf(a.Stdout, "%s %s\n", c.Change, peertext.Path(c.Path))
	}
	if len(rep.Files) == 0 {
		fmt.Fprintln(a.Stdout, "Nothing to change.")
	}
	printWarnings(a, rep.Warnings)
	for _, n := range rep.Notes {
		fmt.Fprintln(a.Stdout, peertext.Line(n, 500))
	}
	l, _, err := a.Login(login.Overrides{Server: f.server})
	if err == nil && !l.LoggedIn() && !f.remove {
		fmt.Fprintf(a.Stdout, "Next: svc login --server %s\n", l.Server)
	}
}

func printWarnings(a *app.Run, list []string) {
	for _, w := range list {
		fmt.Fprintln(a.Stderr, "svc: "+peertext.Line(w, 500))
	}
}

// chooseTools returns the hosts that the flags name, or the user, or nobody.
func chooseTools(ctx context.Context, a *app.Run, f initFlags, root string) ([]string, error) {
	switch {
	case f.tools != "":
		return parseTools(strings.Split(f.tools, ","), setup.IDs())
	case f.remove && f.user:
		return setup.UserHosts(), nil
	case f.remove:
		return setup.IDs(), nil
	}
	offer, found := setup.IDs(), setup.Detect(root, login.Home(a.Getenv), exec.LookPath)
	if f.user {
		offer = setup.UserHosts()
		found = slices.DeleteFunc(found, func(id string) bool { return !slices.Contains(offer, id) })
	}
	switch {
	case f.yes || !a.Terminal.In || a.JSON:
		if f.user && len(found) > 0 { // those on this machine; nobody else is concerned
			return found, nil
		}
		return setup.Default, nil
	}
	fmt.Fprintln(a.Stderr, "Agent hosts (x: found on this machine):")
	for i, id := range offer {
		mark, h := " ", id
		if slices.Contains(found, id) {
			mark = "x"
		}
		if known, ok := setup.ByID(id); ok {
			h = known.Title
		}
		fmt.Fprintf(a.Stderr, " %2d [%s] %-16s %s\n", i+1, mark, id, h)
	}
	line, err := a.Ask(ctx, "Set up which? Numbers or names; Enter for those marked; q to stop: ")
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	switch {
	case err != nil:
		return nil, err
	case len(words) == 1 && (words[0] == "q" || words[0] == "quit"):
		return nil, term.ErrCancelled
	case len(words) > 0:
		return parseTools(words, offer)
	case len(found) == 0:
		return nil, &term.Exit{Code: term.ExitCancelled, Err: fmt.Errorf("no agent host was found; name one with --tools")}
	}
	return found, nil
}

// parseTools reads ids, numbers of the list, or all of it.
func parseTools(words, ids []string) ([]string, error) {
	var out []string
	for _, w := range words {
		w = strings.TrimSpace(w)
		if w == "all" {
			return ids, nil
		}
		if n, err := strconv.Atoi(w); err == nil && n >= 1 && n <= len(ids) {
			w = ids[n-1]
		}
		if !slices.Contains(ids, w) {
			return nil, term.Usagef("no agent host %q; there are %s", w, strings.Join(ids, ", "))
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out, nil
}

// leaveForHome returns the home folder if it may be edited: some hosts look
// for tool servers nowhere else.
func leaveForHome(ctx context.Context, a *app.Run, f initFlags, tools []string) (string, error) {
	files := setup.HomeFiles(tools)
	home := login.Home(a.Getenv)
	switch {
	case f.user, f.status && home != "":
		return home, nil
	case len(files) == 0 || home == "":
		return "", nil
	case f.home:
		return home, nil
	case f.yes || !a.Terminal.In || a.JSON:
		return "", nil
	}
	yes, err := a.Confirm(ctx, fmt.Sprintf("May svc also edit %s?", strings.Join(files, ", ")))
	if err != nil || !yes {
		return "", err
	}
	return home, nil
}
