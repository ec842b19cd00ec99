package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

const maxManifest = 1 << 20

func updateCommand(a *app.Run) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "update [--check]",
		Short: "Install the newest svc",
		Long: "Install the newest svc that your team's server offers, or else the project's\n" +
			"newest release; SVC_RELEASES names another place for those, or off. It must be\n" +
			"signed by a key that is built into this one; whatever fails, the svc you have\n" +
			"keeps working.",
		Example: "  svc update --check\n  svc update",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUpdate(cmd.Context(), a, check) },
	}
	cmd.Flags().BoolVar(&check, "check", false, "only report whether there is a newer one")
	return cmd
}

// An updateReport is the JSON of svc update.
type updateReport struct {
	Current   string `json:"current"`
	Latest    string `json:"latest"`
	Newer     bool   `json:"newer"`
	Installed bool   `json:"installed"`
	NotesURL  string `json:"notes_url"`
}

func runUpdate(ctx context.Context, a *app.Run, check bool) error {
	l, _, err := a.Login(login.Overrides{})
	if err != nil {
		return err
	}
	c, err := a.Connect(l)
	if err != nil {
		return err
	}
	r, from, err := latest(ctx, a, l, c, true)
	if err != nil {
		return err
	}
	rep := updateReport{Current: version.Version, Latest: r.Version, Newer: selfupdate.Newer(r, version.Version), NotesURL: r.NotesURL}
	if rep.Newer && !check {
		if err := install(ctx, a, r, from); err != nil {
			return err
		}
		rep.Installed = true
	}
	if a.JSON {
		return a.PrintJSON(rep)
	}
	fmt.Fprintln(a.Stdout, rep)
	return nil
}

func (r updateReport) String() string {
	switch {
	case r.Installed:
		return fmt.Sprintf("Updated svc from %s to %s. What is new: %s", r.Current, r.Latest, peertext.Line(r.NotesURL, 300))
	case r.Newer:
		return fmt.Sprintf("svc %s is available, you have %s. Run svc update.", r.Latest, r.Current)
	case r.Current == version.Development:
		return fmt.Sprintf("This is a development build; the newest release is %s.", r.Latest)
	}
	return fmt.Sprintf("svc %s is the newest.", r.Current)
}

// latest returns the newest release, verified, and where its manifest is: that of
// the team's server, which decides what its people run, or else the project's. A
// person alone has no other; for a team it is asked only when somebody wants it.
func latest(ctx context.Context, a *app.Run, l login.Login, c *remote.Client, wanted bool) (r wire.Release, from string, err error) {
	var manifest []byte
	if len(a.ReleaseKeys) == 0 { // whatever came could not be told from a forged one
		_, err = a.ReleaseKeys.Verify(nil, a.Now())
		return r, "", err
	}
	alone := l.ServerSource == login.FromLocal
	if from = l.Server + wire.ReleasePath; !alone {
		if manifest, err = c.Fetch(ctx, wire.ReleasePath, maxManifest); err == nil {
			r, err = a.ReleaseKeys.Verify(manifest, a.Now())
		}
		if none := errors.Is(err, selfupdate.ErrUnsigned) || problem.KindOf(err) == problem.NotFound; !wanted || !none {
			return r, from, err
		}
	}
	project := selfupdate.ManifestAt(a.Getenv("SVC_RELEASES"))
	if project == "" {
		return r, "", cmp.Or(err, errors.New("SVC_RELEASES is off, so no release is looked for"))
	}
	if manifest, err = selfupdate.Fetch(ctx, project); err != nil {
		return r, project, err
	}
	r, err = a.ReleaseKeys.Verify(manifest, a.Now())
	return r, project, err
}

// install replaces this program, unless somebody else looks after it.
func install(ctx context.Context, a *app.Run, r wire.Release, manifest string) error {
	p, err := selfupdate.Running(a.Now)
	if err != nil {
		return err
	}
	if name, command, ok := selfupdate.ManagedBy(p.Path); ok {
		return fmt.Errorf("svc was installed by %s, which would not know of an update; run: %s", name, command)
	}
	if a.EnvSet("CI") {
		return fmt.Errorf("svc does not replace itself in CI; install version %s in the image instead", r.Version)
	}
	if !a.JSON {
		fmt.Fprintf(a.Stderr, "Installing svc %s ...\n", r.Version)
	}
	return p.Install(ctx, r, manifest)
}
