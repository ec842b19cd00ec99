package term

import (
	"context"
	"io"
)

// A Template prints a value by a template.
type Template func(w io.Writer, v any) error

// A Filter hands what it picks of a value to each.
type Filter func(ctx context.Context, v any, each func(any) error) error
