package analysis

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/kept"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
)

// An Explanation tells what is known of a file, and by which rule, so that what
// is missing can be told and mended.
type Explanation struct {
	Path      string           `json:"path"`
	Language  string           `json:"language"`
	Read      bool             `json:"read"` // false: line facts alone
	Why       string           `json:"why,omitempty"`
	Contracts []ExplainedFact  `json:"contracts"`
	Requests  []string         `json:"requests"` // functions of its own that are HTTP calls
	Missed    []extract.Missed `json:"missed"`
}

// An ExplainedFact is a contract and the rule that found it.
type ExplainedFact struct {
	Role string `json:"role"`
	Key  string `json:"key"`
	Line int    `json:"line"`
	Rule string `json:"rule,omitempty"`
}

// Explain reads one file of the working tree at root as svc index would.
func Explain(ctx context.Context, root, file string, own *rules.Set) (*Explanation, error) {
	lang := rules.LanguageOf(file)
	out := &Explanation{Path: file, Language: lang.Name, Contracts: []ExplainedFact{}, Requests: []string{}, Missed: []extract.Missed{}}
	info, err := os.Lstat(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		out.Why = "it is no file"
	case info.Size() > locate.MaxSource:
		out.Why = fmt.Sprintf("it is larger than %d kB", locate.MaxSource>>10)
	case rules.GeneratedPath(file):
		out.Why = "its name says that a tool wrote it"
	case !outline.CanRead(lang) && !formats.Has(lang):
		out.Why = "its language is not read"
	}
	if out.Why != "" {
		return out, nil
	}
	source, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	s := &extract.Side{File: file, Lang: lang, Source: source, Rules: own}
	if err := s.Read(nil, time.Minute); err != nil {
		return nil, err
	}
	v := s.Version
	if v.Generated {
		out.Why = "its first lines say that a tool wrote it"
		return out, nil
	}
	out.Read = true
	references.Open(locate.OnDisk(ctx, root, &kept.Book{}), false).Under(own).Complete(file, v)
	for _, c := range v.Contracts {
		f := ExplainedFact{string(c.Role), c.Key, c.Line, c.Rule}
		if !slices.Contains(out.Contracts, f) {
			out.Contracts = append(out.Contracts, f)
		}
	}
	slices.SortStableFunc(out.Contracts, func(a, b ExplainedFact) int { return a.Line - b.Line })
	for i := range v.Requests {
		out.Requests = append(out.Requests, v.Requests[i].Words())
	}
	out.Missed = append(out.Missed, v.Missed()...)
	return out, nil
}
