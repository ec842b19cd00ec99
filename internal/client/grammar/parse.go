package grammar

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// names are the languages in the order of the table in flatten.c.
var names = [...]string{"c", "cpp", "csharp", "elixir", "go", "java", "javascript", "kotlin", "php",
	"python", "ruby", "rust", "scala", "swift", "tsx", "typescript"}

// Names lists the languages that a whole build can parse.
func Names() []string { return names[:] }

// loaded holds the languages that were used, by number.
var loaded [len(names)]struct {
	once sync.Once
	lang *Language
	err  error
}

func number(lang string) int {
	for i, n := range names {
		if n == lang {
			return i
		}
	}
	return -1
}

// Load returns a language's tables.
func Load(lang string) (*Language, error) {
	if !Supported(lang) {
		return nil, fmt.Errorf("%s: %w", lang, ErrUnsupported)
	}
	n := number(lang)
	l := &loaded[n]
	l.once.Do(func() {
		var kinds, fields []string
		if kinds, l.err = list(n, false); l.err != nil {
			return
		}
		if fields, l.err = list(n, true); l.err == nil {
			l.lang = &Language{Name: lang, kinds: kinds, fields: fields}
		}
	})
	return l.lang, l.err
}

// Parse parses source as lang. Text that does not parse gives Broken nodes,
// never an error. Zero limit means no limit.
func Parse(lang string, source []byte, limit time.Duration) (*Tree, error) {
	l, err := Load(lang)
	if err != nil {
		return nil, err
	}
	if len(source) > math.MaxInt32 {
		return nil, fmt.Errorf("%s of %d bytes: %w", lang, len(source), ErrTimeout)
	}
	old, _, err := parse(number(lang), source, nil, nil, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", lang, err)
	}
	return newTree(l, source, old), nil
}

// ParsePair parses two versions of a text. What they share is parsed once, so
// that it costs little more than one Parse when they differ in one place.
func ParsePair(lang string, old, new []byte, limit time.Duration) (*Tree, *Tree, error) {
	l, err := Load(lang)
	if err != nil {
		return nil, nil, err
	}
	if len(old) > math.MaxInt32 || len(new) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%s of %d bytes: %w", lang, len(new), ErrTimeout)
	}
	d := difference(old, new)
	oldNodes, newNodes, err := parse(number(lang), old, new, &d, limit)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", lang, err)
	}
	return newTree(l, old, oldNodes), newTree(l, new, newNodes), nil
}

// What the C says of a parse, if not that it went well.
func failure(result int32) error {
	switch {
	case result == -1:
		return ErrTimeout
	case result == -2:
		return ErrMemory
	}
	return ErrUnsupported
}
