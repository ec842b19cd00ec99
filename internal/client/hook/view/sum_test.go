package view

import (
	"hash/crc32"
	"strings"
	"testing"
)

// A note has one sum, whatever its length.
func TestTheSumOfANote(t *testing.T) {
	text := []byte(strings.Repeat("a note\tof what\x00was seen\n\xff", 40))
	for n := range len(text) {
		if got, want := sum(text[:n]), crc32.ChecksumIEEE(text[:n]); got != want {
			t.Fatalf("of %d bytes it is %x, not %x", n, got, want)
		}
	}
}
