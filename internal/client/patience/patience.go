// Package patience stretches the time limits of hooks on machines that are too
// slow for them: SVC_PATIENCE=4 makes each four times as long. It knows no limit
// itself.
package patience

import (
	"os"
	"strconv"
	"time"
)

// Variable names the setting.
const Variable = "SVC_PATIENCE"

// most keeps a slip of the finger from making an agent wait for hours.
const most = 100

// Of returns a time limit as this machine needs it.
func Of(limit time.Duration) time.Duration { return limit * times(os.Getenv(Variable)) }

// times reads the setting. What is no number counts as unset: a hook has nobody
// to complain to.
func times(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 1
	}
	return time.Duration(min(n, most))
}
