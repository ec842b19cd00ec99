package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
)

// factsCommand is how a lean svc asks the one with the grammars. It is between
// the two alone: they are of one build.
const factsCommand = "companion-facts"

type factsRequest struct {
	Root         string   `json:"root"`
	Base         string   `json:"base"` // empty to find it
	Paths        []string `json:"paths"`
	MetadataOnly bool     `json:"metadata_only"`
	WithinMS     int64    `json:"within_ms"` // 0 for as long as it takes
}

func (in factsRequest) facts(ctx context.Context) (*coord.Analysis, error) {
	debug.SetGCPercent(1000) // the process ends with its answer: what it leaves is collected by that
	return analysis.WorkingTree(ctx, in.Root, in.Paths, analysis.Options{Base: in.Base, MetadataOnly: in.MetadataOnly})
}

// light reports whether the facts need no grammar: nothing has changed, or
// only files that are read without one.
func (in factsRequest) light(ctx context.Context) bool {
	if !slices.ContainsFunc(in.Paths, analysis.NeedsGrammar) {
		return true
	}
	return in.Base != "" && gitrepo.Same(ctx, in.Root, in.Base, in.Paths)
}

// handBack is what the companion's answer takes on its way.
const handBack = 20 * time.Millisecond

// askFacts has the companion read the files.
func askFacts(ctx context.Context, in factsRequest) (*coord.Analysis, error) {
	program, err := companion.Path(companion.Reader)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		in.WithinMS = max(1, (time.Until(end) - handBack).Milliseconds())
	}
	request, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, factsCommand)
	cmd.Stdin = bytes.NewReader(request)
	answer, err := cmd.Output()
	if err != nil {
		if ctx.Err() == nil && companion.Repair(program) {
			return askFacts(ctx, in) // from a new copy, which is not damaged
		}
		return nil, fmt.Errorf("the part that reads code failed: %w", err)
	}
	var out coord.Analysis
	return &out, json.Unmarshal(answer, &out)
}

// answerFacts answers askFacts.
func answerFacts(ctx context.Context, stdin io.Reader, stdout io.Writer) int {
	var in factsRequest
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return ExitUsage
	}
	if in.WithinMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(in.WithinMS)*time.Millisecond)
		defer cancel()
	}
	out, err := in.facts(ctx)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitError
	}
	return ExitOK
}

// handOver runs a command in the companion as if it were this program.
func handOver(args []string) int {
	program, err := companion.Path(companion.Reader)
	if err != nil {
		fmt.Fprintln(os.Stderr, "svc:", err)
		return ExitError
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	told := make(chan os.Signal, 4)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	if err = cmd.Start(); err == nil {
		go func() {
			for s := range told {
				if s != os.Interrupt { // of which the terminal tells the companion, too
					cmd.Process.Signal(s)
				}
			}
		}()
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return max(exit.ExitCode(), ExitError)
	case err != nil:
		fmt.Fprintln(os.Stderr, "svc:", err)
		return ExitError
	}
	return ExitOK
}
