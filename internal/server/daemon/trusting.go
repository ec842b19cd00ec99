//go:build trusting

package daemon

// A svcd built so does not look whether other replicas wrote: the control of
// make chaos, which shows that looking is needed.
func init() { trusting = true }
