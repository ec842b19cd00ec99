// Package reader finds the facts about edited files. Agents wait for svc at
// every edit, and linking C makes each start slower, used or not: so the svc
// that is installed (built with the tag lean) starts a program that parses, or,
// where there is none for the system, asks the svc that it carries (package
// companion). It may not decide what facts are: analysis does.
package reader

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/ownrules"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// How a lean svc asks the one that reads code, and the one that reads YAML. They
// are between the two alone, which are of one build.
const (
	Command         = "companion-facts"
	DocumentCommand = "companion-document"
)

// A document may describe routes.
type document struct {
	File   string
	Source []byte
}

// An answer is what a document describes, unless it does not parse.
type answer struct {
	Contracts []contract.Contract
	Parsed    bool
}

// A Request says which files are to be compared with what.
type Request struct {
	Root         string   `json:"root"`
	Base         string   `json:"base"` // empty to find it
	Paths        []string `json:"paths"`
	Along        []string `json:"along,omitempty"` // files that may differ, too
	MetadataOnly bool     `json:"metadata_only"`
	WithinMS     int64    `json:"within_ms"` // 0 for as long as it takes
	// Deltas are what the asking svc found already; nil to compare.
	Deltas []diff.Delta `json:"deltas,omitempty"`
}

// Facts finds the facts about files of which it is known how they differ from
// base.
func Facts(ctx context.Context, root, base string, paths, along []string, private bool, deltas []diff.Delta) (*coord.Analysis, error) {
	return Request{Root: root, Base: base, Paths: paths, Along: along, MetadataOnly: private, Deltas: deltas}.Facts(ctx)
}

// Answer reads a request and writes the facts. It returns the exit code of
// the process.
func Answer(ctx context.Context, stdin io.Reader, stdout io.Writer) int {
	var in Request
	if err := json.NewDecoder(stdin).Decode(&in); err != nil {
		return 2
	}
	if in.WithinMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(in.WithinMS)*time.Millisecond)
		defer cancel()
	}
	out, err := in.Facts(ctx)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// ownRules are those of the repository and of the user. Rules that svc refuses
// count for nothing here: svc index and svc rules check say what is wrong.
func ownRules(root string) *rules.Set {
	found, _ := ownrules.Of(root, os.Getenv, false)
	return found.Set
}

// keep is the folder for what holds until the files of a working copy change.
func keep() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "svc", "known")
}
