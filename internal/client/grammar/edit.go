package grammar

import "bytes"

// A point is a place in a text.
type point struct{ offset, row, column int }

// An edit is the one stretch in which two texts differ.
type edit struct{ start, old, new point }

// difference finds the stretch by what the texts share at both ends.
func difference(old, new []byte) edit {
	start := 0
	for start < len(old) && start < len(new) && old[start] == new[start] {
		start++
	}
	tail := 0
	for tail < len(old)-start && tail < len(new)-start && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	return edit{pointAt(old, start), pointAt(old, len(old)-tail), pointAt(new, len(new)-tail)}
}

func pointAt(s []byte, offset int) point {
	return point{offset, bytes.Count(s[:offset], []byte{'\n'}), offset - 1 - bytes.LastIndexByte(s[:offset], '\n')}
}
