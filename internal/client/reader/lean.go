//go:build lean

package reader

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Facts finds the facts with the program that has the grammars, or, where this
// svc carries none, in the svc that has them itself.
func (in Request) Facts(ctx context.Context) (*coord.Analysis, error) {
	if !companion.Carries(companion.Parser) {
		return in.ask(ctx)
	}
	useProgram()
	defer grammar.Stop()
	return analysis.WorkingTree(ctx, in.Root, in.Paths, analysis.Options{Base: in.Base, MetadataOnly: in.MetadataOnly,
		Deltas: in.Deltas, Along: in.Along, Keep: keep(), Rules: ownRules(in.Root)})
}

// portable returns deltas that JSON carries as they are, or none: paths that
// are not UTF-8 it would change.
func portable(deltas []diff.Delta) []diff.Delta {
	if slices.ContainsFunc(deltas, func(d diff.Delta) bool { return !utf8.ValidString(d.Path) || !utf8.ValidString(d.OldPath) }) {
		return nil
	}
	return deltas
}

// handBack is what the companion's answer takes on its way.
const handBack = 20 * time.Millisecond

// ask has the companion read the files.
func (in Request) ask(ctx context.Context) (*coord.Analysis, error) {
	if end, ok := ctx.Deadline(); ok {
		in.WithinMS = max(1, (time.Until(end) - handBack).Milliseconds())
	}
	in.Deltas = portable(in.Deltas)
	var out coord.Analysis
	return &out, companions(ctx, Command, in, &out)
}

// documentLimit is longer than a hook waits for facts.
const documentLimit = 10 * time.Second

func init() { formats.Elsewhere = askDocument }

// askDocument has the companion read a document.
func askDocument(source []byte, file string) ([]contract.Contract, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), documentLimit)
	defer cancel()
	var out answer
	err := companions(ctx, DocumentCommand, document{file, source}, &out)
	return out.Contracts, err == nil && out.Parsed
}

// companions is the companion's answer to a request.
func companions(ctx context.Context, command string, request, out any) error {
	path, err := companion.Path(companion.Reader)
	if err != nil {
		return err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, command)
	cmd.Stdin = bytes.NewReader(text)
	said, err := cmd.Output()
	if err != nil {
		if ctx.Err() == nil && companion.Repair(cmd.Path) {
			return companions(ctx, command, request, out) // from a new copy, which is not damaged
		}
		return fmt.Errorf("the part that reads code failed: %w", err)
	}
	return json.Unmarshal(said, out)
}
