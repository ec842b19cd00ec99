//go:build lean

package term

import "errors"

// CompileTemplate is not in the lean svc.
func CompileTemplate(string) (Template, error) {
	return nil, errors.New("this svc is without --template; use --json")
}
