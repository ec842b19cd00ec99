//go:build !cgo

package grammar

import (
	"fmt"
	"time"
)

// Supported tells whether this build can parse a language.
func Supported(lang string) bool { return false }

// Load returns a language's tables.
func Load(lang string) (*Language, error) {
	return nil, fmt.Errorf("%s: %w", lang, ErrUnsupported)
}

// Parse parses source as lang.
func Parse(lang string, source []byte, limit time.Duration) (*Tree, error) {
	return nil, fmt.Errorf("%s: %w", lang, ErrUnsupported)
}

// ParsePair parses two versions of a text.
func ParsePair(lang string, old, new []byte, limit time.Duration) (*Tree, *Tree, error) {
	return nil, nil, fmt.Errorf("%s: %w", lang, ErrUnsupported)
}
