// Package scope reads and compares what work is about: paths and globs,
// symbols and contract keys, and the fingerprints of repositories. It decides
// whether two selectors can mean the same code, and nothing more: who holds
// them and what follows is the engine's matter.
//
// Every selector has one canonical form, so that equal things are equal
// strings. Parsing canonical text gives the same text again.
package scope

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// MaxSelector is the length that no selector may exceed, in characters.
const MaxSelector = 1024

// CleanPath returns a file's path relative to its repository's root, with
// forward slashes and without "." and "..", or says why p is not such a path.
func CleanPath(p string) (string, error) {
	if isClean(p) {
		return p, nil // nearly always: spare the hot path two copies
	}
	if slashed := strings.ReplaceAll(p, `\`, "/"); strings.Contains(slashed, "/../") && !strings.HasPrefix(slashed, "/") {
		p = path.Clean(slashed)
	}
	elems, err := cleanElems(p)
	if err != nil {
		return "", err
	}
	return strings.Join(elems, "/"), nil
}

// cleanElems splits p and drops what does not change its meaning. Backslashes
// are separators: agents on Windows send them.
func cleanElems(p string) ([]string, error) {
	if err := checkText(p); err != nil {
		return nil, err
	}
	p = strings.ReplaceAll(p, `\`, "/")
	if strings.HasPrefix(p, "/") || hasDrive(p) {
		return nil, absolute(p)
	}
	var elems []string
	for elem := range strings.SplitSeq(p, "/") {
		switch strings.Trim(elem, " ") {
		case "", ".":
		case "..":
			return nil, fmt.Errorf("%q contains .., which may lead out of the repository; write it without", p)
		default:
			elems = append(elems, elem)
		}
	}
	if len(elems) == 0 {
		return nil, fmt.Errorf("%q names no file; use ** for the whole repository", p)
	}
	if hasDrive(elems[0] + "/") { // as in ./C:/x, which is C:/x
		return nil, absolute(p)
	}
	return elems, nil
}

// isClean reports whether p is surely canonical: plain names joined by single
// slashes.
func isClean(p string) bool {
	if p == "" || len(p) > MaxSelector || len(p) > 1 && p[1] == ':' {
		return false
	}
	last := byte('/')
	for i := range len(p) {
		c := p[i]
		if c <= ' ' || c >= 0x7f || c == '\\' || last == '/' && (c == '/' || c == '.') {
			return false
		}
		last = c
	}
	return last != '/'
}

func absolute(p string) error {
	return fmt.Errorf("%q is absolute; give the path from the repository's root", p)
}

func hasDrive(p string) bool {
	return len(p) >= 3 && p[1] == ':' && p[2] == '/' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// checkText refuses what no selector may contain.
func checkText(s string) error {
	switch {
	case strings.Trim(s, " ") == "":
		return fmt.Errorf("is empty")
	case len(s) > MaxSelector && utf8.RuneCountInString(s) > MaxSelector:
		return fmt.Errorf("is longer than %d characters", MaxSelector)
	case !utf8.ValidString(s):
		return fmt.Errorf("%q is not valid UTF-8", s)
	case hasControl(s):
		return fmt.Errorf("%q contains a control character", s)
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
