// Svc is the command-line client of the coordination service.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/svc-hq/svc/cmd/svc/internal/first" // svc --version
	"github.com/svc-hq/svc/internal/client/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
