//go:build !lean

package reader

import (
	"context"
	"encoding/json"
	"io"
	"runtime/debug"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Facts finds the facts.
func (in Request) Facts(ctx context.Context) (*coord.Analysis, error) {
	debug.SetGCPercent(1000) // the process ends with its answer: what it leaves is collected by that
	return analysis.WorkingTree(ctx, in.Root, in.Paths, analysis.Options{Base: in.Base, MetadataOnly: in.MetadataOnly,
		Deltas: in.Deltas, Along: in.Along, Keep: keep(), Rules: ownRules(in.Root)})
}

// AnswerDocument reads a document and writes what it describes. It returns the
// exit code of the process.
func AnswerDocument(stdin io.Reader, stdout io.Writer) int {
	var in document
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 2
	}
	var out answer
	out.Contracts, out.Parsed = formats.Document(in.Source, in.File)
	if err := json.NewEncoder(stdout).Encode(out); err != nil {
		return 1
	}
	return 0
}
