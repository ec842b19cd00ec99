package analysis

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/kept"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/references"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// A CheckedRule is a rule of a repository, and what it finds there.
type CheckedRule struct {
	Rule     string      `json:"rule"` // its file and line
	Role     string      `json:"role"`
	Contract string      `json:"contract"`
	Found    []RuleFound `json:"found"`
}

// A RuleFound is a contract that a rule found.
type RuleFound struct {
	Path string             `json:"path"`
	Line int                `json:"line"`
	Role coord.ContractRole `json:"role"`
	Key  string             `json:"key"`
}

// CheckRules tells what each rule of a set finds in the files of a working copy
// that git knows. Nil rules give nothing.
func CheckRules(ctx context.Context, root string, own *rules.Set) ([]CheckedRule, error) {
	out := []CheckedRule{}
	at := map[string]int{}
	for _, r := range own.Rules() {
		at[r.Place()] = len(out)
		out = append(out, CheckedRule{Rule: r.Place(), Role: r.Role, Contract: r.Contract, Found: []RuleFound{}})
	}
	if len(out) == 0 {
		return out, nil
	}
	files, err := gitrepo.Files(ctx, root)
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	repo := references.Open(locate.OnDisk(ctx, root, &kept.Book{}), false).Under(own)
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if lang := rules.LanguageOf(file); !outline.CanRead(lang) || rules.GeneratedPath(file) {
			continue
		}
		v, err := repo.Read(file, func() ([]byte, error) {
			return plain.ReadHere(filepath.Join(root, filepath.FromSlash(file)), locate.MaxSource)
		})
		if err != nil || v.Generated { // as svc index, it reads what it can
			continue
		}
		repo.Complete(file, v)
		for _, c := range v.Contracts {
			if i, ok := at[c.Rule]; ok {
				out[i].Found = append(out[i].Found, RuleFound{file, c.Line, c.Role, c.Key})
			}
		}
	}
	return out, nil
}
