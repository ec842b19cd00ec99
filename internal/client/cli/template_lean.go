//go:build lean

package cli

import "errors"

func compileTemplate(string) (pourer, error) {
	return nil, errors.New("this svc is without --template; use --json")
}
