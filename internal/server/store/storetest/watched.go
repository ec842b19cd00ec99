//go:build race

package storetest

const watched = true
