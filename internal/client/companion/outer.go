//go:build !inner

package companion

// Inner says that this is the svc inside a lean one.
const Inner = false
