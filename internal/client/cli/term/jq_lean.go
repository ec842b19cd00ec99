//go:build lean

package term

import "errors"

// CompileFilter is not in the lean svc.
func CompileFilter(string) (Filter, error) {
	return nil, errors.New("this svc is without --jq; pipe the answer into jq")
}
