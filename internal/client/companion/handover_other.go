//go:build !unix

package companion

// takePlace runs a program beside this one, where none can take its place.
func takePlace(path string, args []string) (int, error) { return beside(path, args) }
