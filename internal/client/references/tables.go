package references

import (
	"slices"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/core/coord"
)

// DefinesTable reports whether a file of the tree defines a table, by a
// statement that creates it or by a model.
func (r *Repo) DefinesTable(file, key string) bool {
	v := r.versionOf(file)
	return v != nil && slices.ContainsFunc(v.Contracts, func(c contract.Contract) bool {
		return c.Key == key && c.Role == coord.Provides && len(c.Ops) == 0
	})
}
