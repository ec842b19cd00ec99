package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/selfupdate"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

const maxManifest = 1 << 20

func (a *app) updateCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "update [--check]",
		Short: "Install the newest svc",
		Long: "Install the newest svc that the server tells of. It must be signed by a key\n" +
			"that is built into this one; whatever fails, the svc you have keeps working.",
		Example: "  svc update --check\n  svc update",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runUpdate(cmd.Context(), check) },
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

func (a *app) runUpdate(ctx context.Context, check bool) error {
	l, _, err := a.login(login.Overrides{})
	if err != nil {
		return err
	}
	c, err := a.connect(l)
	if err != nil {
		return err
	}
	r, err := a.latest(ctx, c)
	if err != nil {
		return err
	}
	rep := updateReport{Current: version.Version, Latest: r.Version, Newer: selfupdate.Newer(r, version.Version), NotesURL: r.NotesURL}
	if rep.Newer && !check {
		if err := a.install(ctx, r, l.Server); err != nil {
			return err
		}
		rep.Installed = true
	}
	if a.json {
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

// latest returns the newest release that the server tells of, verified.
func (a *app) latest(ctx context.Context, c *remote.Client) (wire.Release, error) {
	manifest, err := c.Fetch(ctx, wire.ReleasePath, maxManifest)
	if err != nil {
		return wire.Release{}, err
	}
	return a.ReleaseKeys.Verify(manifest, a.Now())
}

// install replaces this program, unless somebody else looks after it.
func (a *app) install(ctx context.Context, r wire.Release, server string) error {
	p, err := selfupdate.Running(a.Now)
	if err != nil {
		return err
	}
	if name, command, ok := selfupdate.ManagedBy(p.Path); ok {
		return fmt.Errorf("svc was installed by %s, which would not know of an update; run: %s", name, command)
	}
	if a.envSet("CI") {
		return fmt.Errorf("svc does not replace itself in CI; install version %s in the image instead", r.Version)
	}
	if !a.json {
		fmt.Fprintf(a.Stderr, "Installing svc %s ...\n", r.Version)
	}
	return p.Install(ctx, r, server)
}
