package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/top"
)

// pipedColumns is how wide svc top is where there is no terminal.
const pipedColumns = 120

// runTop shows the view.
func runTop(ctx context.Context, a *app.Run, once bool) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	if a.JSON || once || !a.Terminal.Out || !a.Terminal.In {
		p, err := top.Look(ctx, c)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(p)
		}
		columns := a.Terminal.Columns
		if columns == 0 {
			columns = pipedColumns
		}
		return top.Print(a.Stdout, p, a.Now(), columns)
	}
	if a.Getenv("TERM") == "dumb" {
		return fmt.Errorf("this terminal cannot move its cursor; svc top --once prints the same once, svc watch what happens")
	}
	err = top.Run(ctx, top.Options{
		Connect: func() (*remote.Client, error) {
			c, _, err := a.Client()
			return c, err
		},
		Open: func(ctx context.Context, path string) (string, error) { return showPage(ctx, a, path) },
		Now:  a.Now,
		// Without colours there is nothing but text: the mark and the words tell.
		Colour:  a.Getenv("NO_COLOR") == "",
		In:      a.Stdin,
		Out:     a.Stdout,
		Environ: os.Environ(),
	})
	if errors.Is(err, top.ErrInterrupted) {
		return &term.Exit{Code: term.ExitCancelled}
	}
	return err
}
