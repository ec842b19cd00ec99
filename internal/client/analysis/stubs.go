package analysis

import "github.com/svc-hq/svc/internal/core/coord"

func hasFormat(l language, file string) bool                       { return false }
func readFormat(source []byte, file string, l language) []contract { return nil }

type tree interface{}
type moduleCache struct{}
type gitTree struct{ ctx, root, treeish, objects any }

func diskTree(root string) tree { return nil }
func (r *run) references(f *coord.FileFacts, old, new *version) []coord.Reference {
	return []coord.Reference{}
}

func operationContracts(s string, offset int) []contract { return nil }
func schemaContracts(s string, offset int) []contract    { return nil }
