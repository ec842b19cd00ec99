//go:build prebuilt

// Package prebuilt brings the C of the parser and of its grammars compiled, for
// tests: compiling it takes a minute. .ci/build-parser --link unpacks it beside
// this file, where Go links it; the Makefile asks for it by the tag. It has no
// code of its own, and it is never part of what is installed.
package prebuilt
