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

	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Facts finds the facts: here where nothing has changed, or only files in which
// lines are all that is known, and else in the process that reads code.
func (in Request) Facts(ctx context.Context) (*coord.Analysis, error) {
	base, err := in.base(ctx)
	if err != nil {
		return nil, err
	}
	in.Base = base
	deltas, err := gitrepo.WorkingTree(ctx, in.Root, base, in.Paths)
	if err != nil {
		return nil, err
	}
	in.Deltas = portable(deltas)
	if len(deltas) > coord.MaxAnalysisFiles || slices.ContainsFunc(deltas, worthReading) {
		return in.ask(ctx)
	}
	out := &coord.Analysis{Files: []coord.FileFacts{}}
	hunks := 0
	for i := range deltas {
		f := lines.Facts(&deltas[i])
		if hunks += len(f.Hunks); hunks > coord.MaxAnalysisHunks || len(f.Path) > lines.MaxPath {
			return in.ask(ctx) // which knows what to leave out
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// worthReading reports whether more than lines can be found in a change.
func worthReading(d gitrepo.Delta) bool {
	if d.Status == gitrepo.Unchanged || d.Binary || rules.GeneratedPath(d.Path) {
		return false
	}
	return d.Status == gitrepo.Renamed || rules.LanguageOf(d.Path).Read
}

// portable returns deltas that JSON carries as they are, or none: paths that
// are not UTF-8 it would change.
func portable(deltas []gitrepo.Delta) []gitrepo.Delta {
	if slices.ContainsFunc(deltas, func(d gitrepo.Delta) bool { return !utf8.ValidString(d.Path) || !utf8.ValidString(d.OldPath) }) {
		return nil
	}
	return deltas
}

// handBack is what the companion's answer takes on its way.
const handBack = 20 * time.Millisecond

// ask has the companion read the files.
func (in Request) ask(ctx context.Context) (*coord.Analysis, error) {
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
	cmd := exec.CommandContext(ctx, program, Command)
	cmd.Stdin = bytes.NewReader(request)
	answer, err := cmd.Output()
	if err != nil {
		if ctx.Err() == nil && companion.Repair(program) {
			return in.ask(ctx) // from a new copy, which is not damaged
		}
		return nil, fmt.Errorf("the part that reads code failed: %w", err)
	}
	var out coord.Analysis
	return &out, json.Unmarshal(answer, &out)
}
