//go:build !unix

package hook

import (
	"io"
	"time"
)

// bounded is for systems whose files can be waited for.
func bounded(io.Reader, time.Time) (io.Reader, bool) { return nil, false }
