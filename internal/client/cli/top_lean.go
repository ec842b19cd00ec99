//go:build lean

package cli

import (
	"context"
	"errors"
)

func (a *app) runTop(context.Context, bool) error {
	return errors.New("this svc is without svc top; svc status --watch shows the same in plain lines")
}
