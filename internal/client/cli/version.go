package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/core/version"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  svc version\n  svc --version",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.printVersion() },
	}
}

func (a *app) printVersion() error {
	if a.json {
		return a.printJSON(map[string]string{"version": version.Version, "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version()})
	}
	_, err := fmt.Fprintln(a.Stdout, version.Line("svc"))
	return err
}
