package analysis

import "github.com/svc-hq/svc/internal/core/coord"

type tree interface{}
type moduleCache struct{}
type gitTree struct{ ctx, root, treeish, objects any }

func diskTree(root string) tree { return nil }
func (r *run) references(f *coord.FileFacts, old, new *version) []coord.Reference {
	return []coord.Reference{}
}
