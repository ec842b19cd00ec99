//go:build !lean

// Svc is the command-line client of the coordination service.
package main

import (
	"os"

	_ "github.com/svc-hq/svc/cmd/svc/internal/early" // svc hook
	_ "github.com/svc-hq/svc/cmd/svc/internal/facts" // what a lean svc asks
	_ "github.com/svc-hq/svc/cmd/svc/internal/first" // svc --version
	"github.com/svc-hq/svc/internal/client/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:])) }
