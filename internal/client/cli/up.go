package cli

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/setup"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/version"
)

func upCommand(a *app.Run) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "up [--yes] [--tools IDS|all]",
		Short: "Start svc for you alone, on this machine",
		Long: "Start the service of one person on this machine, if it does not run yet, and\n" +
			"set up the hooks and tools of the agent hosts you have, for every folder. There\n" +
			"is no login, no password, and a repository needs no remote. From then on the\n" +
			"hooks start the service when it is needed, and it stops when idle.\n" +
			"svc down stops it; svc login adds the server of a team.",
		Example: "  svc up\n  svc up --yes\n  svc up --tools claude_code,codex",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUp(cmd.Context(), a, f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.tools, "tools", "", "hosts, separated by commas, or all")
	term.ChoicesOf(cmd, "tools", func() []string { return append(setup.UserHosts(), "all") })
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask before writing the hooks")
	return cmd
}

// An upReport is the JSON of svc up.
type upReport struct {
	Server  string   `json:"server"`
	Data    string   `json:"data"`
	Started bool     `json:"started"`
	Hooks   []string `json:"hooks"`
	Written []string `json:"written"`
}

func runUp(ctx context.Context, a *app.Run, f initFlags) error {
	if a.Getenv("SVC_SERVER") != "" || a.Getenv("SVC_TOKEN") != "" {
		return fmt.Errorf("SVC_SERVER or SVC_TOKEN is set: work would go there; unset them for a service of your own")
	}
	place, err := local.Locate(a.Getenv)
	if err != nil {
		return err
	}
	inTime, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	s, started, err := place.Up(inTime, ownAddress(inTime, a), version.Version)
	if err != nil {
		return err
	}
	svc := thisProgram(ctx)
	rep := upReport{Server: s.Server, Data: place.Dir, Started: started}
	f.user = true
	if rep.Hooks, rep.Written, err = upHooks(ctx, a, f, svc); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(rep)
	}
	how := "runs"
	if started {
		how = "started"
	}
	fmt.Fprintf(a.Stdout, "The service %s on %s; its data is in %s.\n", how, rep.Server, peertext.Path(rep.Data))
	switch {
	case len(rep.Hooks) == 0:
		fmt.Fprintln(a.Stdout, "No agent host was found, so no hooks were written. Install one and run svc up again;\n"+
			"svc init --user --tools claude_code sets up a host that was not found.")
	case len(rep.Written) == 0:
		fmt.Fprintf(a.Stdout, "The hooks and tools of %s are there already.\n", setup.Titles(rep.Hooks...))
	default:
		fmt.Fprintf(a.Stdout, "Set up the hooks and tools of %s, for every folder.\n", setup.Titles(rep.Hooks...))
	}
	if len(rep.Hooks) > 0 {
		if err := tryHook(ctx, svc, place.Dir); err != nil {
			printWarnings(a, []string{err.Error()})
		} else {
			fmt.Fprintln(a.Stdout, "Restart your agents. They now warn each other before editing the same code.")
		}
	}
	fmt.Fprintln(a.Stdout, "Next: svc status shows who works on what, svc open the dashboard, svc down stops it.")
	return nil
}

// upHooks writes the hooks of the installed hosts, which start svc by this
// path, after asking.
func upHooks(ctx context.Context, a *app.Run, f initFlags, svc string) (hosts, written []string, err error) {
	home := login.Home(a.Getenv)
	if home == "" {
		return nil, nil, fmt.Errorf("there is no home folder: set HOME")
	}
	if f.tools != "" {
		hosts, err = parseTools(strings.Split(f.tools, ","), setup.UserHosts())
	} else {
		hosts = slices.DeleteFunc(setup.Detect(home, home, exec.LookPath), func(id string) bool {
			return !slices.Contains(setup.UserHosts(), id)
		})
	}
	if err != nil || len(hosts) == 0 {
		return nil, nil, err
	}
	changes, err := setup.Plan(setup.Options{
		Root: home, Home: home, Hosts: hosts, CodexHome: a.Getenv("CODEX_HOME"), Plugin: host.Plugin, User: true, Program: svc,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%w; no hooks were written", err)
	}
	for _, c := range changes.Files {
		written = append(written, c.Path)
	}
	servers, notes := lackingServers(home, svc, hosts)
	printWarnings(a, notes)
	for _, s := range servers {
		written = append(written, s.file)
	}
	if len(written) == 0 {
		return hosts, nil, nil
	}
	if a.Terminal.In && !f.yes && !a.JSON {
		question := fmt.Sprintf("Write the hooks and tools of %s into %s? [Y/n] ", setup.Titles(hosts...), peertext.Path(home))
		if line, err := a.Ask(ctx, question); err != nil || strings.HasPrefix(strings.ToLower(line), "n") {
			return nil, nil, err
		}
	}
	if err := changes.Apply(); err != nil {
		return hosts, nil, err
	}
	printWarnings(a, addServers(ctx, servers))
	return hosts, written, nil
}

// ownAddress is how the person's work is signed: as git signs it.
func ownAddress(ctx context.Context, a *app.Run) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "config", "--global", "user.email")
	out, err := cmd.Output()
	email := strings.TrimSpace(string(out))
	if err != nil || !strings.Contains(email, "@") || strings.ContainsAny(email, " \t\n<>") {
		return ""
	}
	return email
}

func downCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the service of svc up",
		Long: "Stop the local service. Hooks do not start it again until svc up; the data\n" +
			"stays. svc init --user --remove takes the hooks out.",
		Example: "  svc down",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			place, err := local.Locate(a.Getenv)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 20*time.Second)
			defer cancel()
			was, err := place.Down(ctx)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON(map[string]bool{"stopped": was})
			case was:
				fmt.Fprintln(a.Stdout, "Stopped. Hooks let agents go on without it; svc up starts it again.")
			default:
				fmt.Fprintln(a.Stdout, "It was not running. Hooks will not start it; svc up does.")
			}
			return nil
		},
	}
}
