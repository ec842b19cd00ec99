package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

func manCommand(a *app.Run) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "man [COMMAND] [--dir FOLDER]",
		Short:   "Print a manual page, or write them all",
		Example: "  svc man status | man -l -\n  svc man --dir ~/.local/share/man/man1",
		RunE: func(_ *cobra.Command, args []string) error {
			if dir != "" {
				return term.WriteManuals(a.Root, dir)
			}
			at := a.Root
			for _, name := range args {
				next := term.Child(at, name)
				if next == nil {
					return term.Unknown(at, name)
				}
				at = next
			}
			_, err := fmt.Fprint(a.Stdout, term.Manual(at))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write every page into this folder")
	return cmd
}
