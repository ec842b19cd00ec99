//go:build !lean

// Package facts answers a lean svc while the program is still starting, as
// package first does: what the rest of svc needs to start (the command tree,
// the network, jq) is a third of what an answer costs.
package facts

import (
	"context"
	"os"

	"github.com/svc-hq/svc/internal/client/reader"
)

func init() {
	if len(os.Args) != 2 {
		return
	}
	switch os.Args[1] {
	case reader.Command:
		os.Exit(reader.Answer(context.Background(), os.Stdin, os.Stdout))
	case reader.DocumentCommand:
		os.Exit(reader.AnswerDocument(os.Stdin, os.Stdout))
	}
}
