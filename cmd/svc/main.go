// Svc is the command-line client of the coordination service.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/svc-hq/svc/internal/client/cli"
	"github.com/svc-hq/svc/internal/core/version"
)

func main() {
	// Agents start these for every edit: they go before the command tree.
	if len(os.Args) == 2 && (os.Args[1] == "--version" || os.Args[1] == "-v") {
		os.Stdout.WriteString(version.Line("svc") + "\n")
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.OS(), os.Args[1:])
	stop()
	os.Exit(code)
}
