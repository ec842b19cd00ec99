//go:build lean

package cli

import (
	"context"
	"errors"

	"github.com/svc-hq/svc/internal/client/cli/app"
)

func runTop(context.Context, *app.Run, bool) error {
	return errors.New("this svc is without svc top; svc status --watch shows the same in plain lines")
}
