package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/core/version"
)

func versionCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and what this build can read",
		Example: "  svc version\n  svc --version",
		Args:    term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := printVersion(a); err != nil || a.JSON {
				return err
			}
			how, languages := reads()
			_, err := fmt.Fprintf(a.Stdout, "reads %s (grammars: %s)\n", strings.Join(languages, ", "), how)
			return err
		},
	}
}

func printVersion(a *app.Run) error {
	if a.JSON {
		how, languages := reads()
		return a.PrintJSON(map[string]any{"version": version.Version, "os": runtime.GOOS, "arch": runtime.GOARCH, "go": runtime.Version(),
			"languages": languages, "grammars": how, "server": companion.Carries(companion.Server)})
	}
	_, err := fmt.Fprintln(a.Stdout, version.Line("svc"))
	return err
}

// reads returns the languages whose definitions this build knows, and in what
// form it has their grammars. Go needs none.
func reads() (how string, languages []string) {
	languages = slices.DeleteFunc(slices.Clone(grammar.Names()), func(l string) bool { return l != "go" && !grammar.Supported(l) })
	if len(languages) == 1 {
		return "none", languages
	}
	return grammar.How, languages
}

// unpacked tells why a part of svc that reads code cannot be used, where there
// are such.
func unpacked() error {
	for _, p := range []companion.Program{companion.Reader, companion.Parser} {
		if _, err := companion.Path(p); err != nil && !errors.Is(err, companion.ErrNone) {
			return err
		}
	}
	return nil
}
