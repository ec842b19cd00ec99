package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/doctor"
	"github.com/svc-hq/svc/internal/client/doctor/hosts"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

func doctorCommand(a *app.Run) *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything is set up, and say how to repair it",
		Long: "Check the login, the server, this repository and the agent hosts in it. Exits\n" +
			"0 when all is well, 1 with warnings, 2 with failures. With --fix what is svc's\n" +
			"own to repair is repaired, and then everything is checked again.",
		Example: "  svc doctor\n  svc doctor --fix\n  svc doctor --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var seen func(doctor.Check)
			if !a.JSON {
				seen = func(c doctor.Check) { printCheckup(a, c) }
			}
			if fix {
				mend(cmd.Context(), a, doctor.Examine(cmd.Context(), patient(a), nil))
			}
			report := doctor.Examine(cmd.Context(), patient(a), seen)
			if a.JSON {
				if err := a.PrintJSON(report); err != nil {
					return err
				}
			}
			if code := report.ExitCode(); code != term.ExitOK {
				return &term.Exit{Code: code}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "repair what can be repaired")
	return cmd
}

// mend repairs what was found, as far as that is ours to do. What cannot be
// repaired keeps nothing else from it.
func mend(ctx context.Context, a *app.Run, found doctor.Report) {
	done := map[string]bool{} // one repair may serve several findings
	for _, c := range found.Checks {
		if c.Mend == nil || done[c.Fix] {
			continue
		}
		done[c.Fix] = true
		if err := c.Mend(ctx); err != nil {
			fmt.Fprintf(a.Stderr, "not repaired: %s: %s\n", c.Name, peertext.Line(err.Error(), 300))
			continue
		}
		fmt.Fprintf(a.Stderr, "repaired: %s (%s)\n", c.Name, c.Fix)
	}
}

// patient gathers what there is to examine.
func patient(a *app.Run) *doctor.Patient {
	p := &doctor.Patient{Now: a.Now, Getenv: a.Getenv, Client: wire.HookClient{CLIVersion: version.Version, OS: runtime.GOOS}}
	if store, err := login.Locate(a.Getenv); err == nil {
		p.Exposed = store.Exposed() // before it is read, which sets it right
	}
	l, store, err := a.Login(login.Overrides{})
	p.Login, p.LoginErr, p.ConfigPath = l, err, store.Path()
	if err != nil {
		p.RemoteErr = err
	} else {
		p.Remote, p.RemoteErr = a.Connect(l)
	}
	p.Program, p.Writable = func(ctx context.Context) []doctor.Check { return programCheck(ctx, a) }, store.Writable
	temp := a.Getenv("TMPDIR")
	p.Missed = func() (int, time.Time) { return spool.Missed(temp, l.Server) }
	p.Edge = func(ctx context.Context) (*wire.EdgeServerReport, bool) {
		return a.EdgeReport(ctx, l), a.ThroughEdge(l) != nil
	}
	p.Heard = func() { spool.Heard(temp, l.Server) }
	p.Memory, p.Ours, p.Forget = func() (string, error) { return spool.Memory(temp) }, spool.Own, spool.ForgetAll
	p.Reads, p.Unpacked = reads, unpacked
	here, _ := a.Here() // what is missing in it is what the check tells
	p.RepoRoot = here.Root
	p.Repo = wire.HookRepo{RemoteFingerprints: here.Fingerprints, Branch: here.Branch}
	if repo, ok := gitrepo.At(here.Root); ok {
		p.Hosts = hostsHere(a).Checks(here.Root)
		p.Shallow = repo.Shallow()
		for _, r := range repo.Remotes() {
			p.Remotes = append(p.Remotes, r.URL)
		}
	}
	if p.Remote != nil {
		p.Latest = func(ctx context.Context) (string, bool, error) {
			r, _, err := latest(ctx, a, l, p.Remote, false)
			return r.Version, err == nil && selfupdate.Newer(r, version.Version), err
		}
	}
	return p
}

// hostsHere are the agent hosts as seen from the working folder. What is wrong
// with them, a silent svc init repairs.
func hostsHere(a *app.Run) hosts.Here {
	return hosts.Here{Getenv: a.Getenv, Dir: a.Dir, Program: thisProgram, Mend: func(ctx context.Context, fix doctor.Init) error {
		quiet, env := *a, *a.Env
		env.Stdout = io.Discard
		quiet.Env, quiet.JSON = &env, false
		return runInit(ctx, &quiet, initFlags{yes: true, home: fix.Home, user: fix.User, tools: strings.Join(fix.Tools, ",")})
	}}
}

func printCheckup(a *app.Run, c doctor.Check) {
	mark := map[doctor.Level]string{
		doctor.OK:   a.Paint(term.Green, "ok  "),
		doctor.Warn: a.Paint(term.Yellow, "warn"),
		doctor.Fail: a.Paint(term.Red, "FAIL"),
	}
	fmt.Fprintf(a.Stdout, "%s  %-20s %s\n", mark[c.Level], c.Name, peertext.Line(c.Detail, 500))
	if c.Fix != "" {
		fmt.Fprintf(a.Stdout, "      %-20s fix: %s\n", "", a.Paint(term.Bold, c.Fix))
	}
}
