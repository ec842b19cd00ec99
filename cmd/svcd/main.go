// Svcd is the svc server.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/dashboard"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(daemon.Main(ctx, daemon.Env{
		Program: os.Args[0],
		Args:    os.Args[1:],
		Environ: os.Environ(),
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Version: version.Version,
		Pages:   dashboard.Handler(),
	}))
}
