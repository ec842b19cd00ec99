//go:build lean

// Package facts is empty in a lean svc, which asks and does not answer.
package facts
