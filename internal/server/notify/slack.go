package notify

import "time"

// Chat posts wait a little for company and are at least this far apart, so
// that a channel stays readable.
const (
	DefaultGather = 10 * time.Second
	DefaultQuiet  = time.Minute
)
