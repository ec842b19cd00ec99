package term

import (
	"context"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"
)

// CompileFilter makes a filter of a jq program.
func CompileFilter(program string) (Filter, error) {
	q, err := gojq.Parse(program)
	if err != nil {
		return nil, Usagef("--jq: %v", err)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, Usagef("--jq: %v", err)
	}
	return func(ctx context.Context, v any, each func(any) error) error {
		for found := code.RunWithContext(ctx, v); ; {
			x, ok := found.Next()
			if !ok {
				return nil
			}
			if err, failed := x.(error); failed {
				var halt *gojq.HaltError
				if errors.As(err, &halt) && halt.Value() == nil {
					return nil
				}
				return fmt.Errorf("--jq: %w", err)
			}
			if err := each(x); err != nil {
				return err
			}
		}
	}, nil
}
