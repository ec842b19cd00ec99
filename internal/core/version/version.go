// Package version says which version this build is. Both programs print it
// and send it along. Nothing may decide by it but whether to offer an update:
// what a peer can do is asked of the peer.
package version

import "runtime"

// Version is set by the linker: -X .../internal/core/version.Version=1.2.3.
// A build without it is a developer's and never updates itself.
var Version = Development

// Development is the version of a build that nobody released.
const Development = "0.0.0-dev"

// Line is what --version prints for a program.
func Line(program string) string {
	return program + " " + Version + " " + runtime.GOOS + "/" + runtime.GOARCH
}
