package ground

import (
	"context"
	"errors"
	"fmt"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/githost"
)

// Ignored tells the sender of a webhook why nothing came of it.
func Ignored(format string, args ...any) wire.HookReceipt {
	return wire.HookReceipt{Status: "ignored", Reason: fmt.Sprintf(format, args...)}
}

// Done tells the sender of a webhook what came of it.
func Done(format string, args ...any) wire.HookReceipt {
	return wire.HookReceipt{Status: "done", Reason: fmt.Sprintf(format, args...)}
}

// RefuseHook logs why a webhook was refused and returns what its sender is
// told.
func (s *Ground) RefuseHook(ctx context.Context, provider, delivery string, err error) error {
	for _, known := range []error{githost.ErrUnsigned, githost.ErrForged, githost.ErrStale} {
		if errors.Is(err, known) {
			err = problem.Newf(problem.Forbidden, "this webhook is refused: %v", known)
		}
	}
	if problem.KindOf(err) != problem.Internal { // which is logged where it is answered
		s.Logger.WarnContext(ctx, "refused a webhook", "provider", provider, "delivery", delivery, "reason", err.Error())
	}
	return err
}
