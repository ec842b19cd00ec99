//go:build lean

package cli

import "errors"

func compile(string) (picker, error) {
	return nil, errors.New("this svc is without --jq; pipe the answer into jq")
}
