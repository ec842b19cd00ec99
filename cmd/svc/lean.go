//go:build lean

// Svc, lean, is what agents and shells wait for: svc hook and svc prompt. All
// else is done by the svc inside it, which has every command.
package main

import (
	"os"

	_ "github.com/svc-hq/svc/cmd/svc/internal/early" // begins svc hook
	"github.com/svc-hq/svc/cmd/svc/internal/first"   // svc --version
	_ "github.com/svc-hq/svc/cmd/svc/internal/over"  // hands all else over
	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/reader"
)

func main() {
	if first.Prompt() {
		os.Exit(attend.PrintPrompt(os.Stdin, os.Stdout))
	}
	os.Exit(attend.Finish(reader.Facts, os.Args[2:]))
}
