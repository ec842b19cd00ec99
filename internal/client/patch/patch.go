// Package patch finds the files that a patch text touches, in the shapes that
// agents send: the "*** Begin Patch" envelope, hash-line edits and unified
// diffs. It reads no files and changes none.
package patch

import (
	"slices"
	"strconv"
	"strings"
)

// Begin is the line that opens a patch envelope.
const Begin = "*** Begin Patch"

var headers = []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"}

// Paths returns the files that text touches, whichever shape it has, in the
// order of their appearance and each once.
func Paths(text string) []string {
	if out := Envelope(text); len(out) > 0 {
		return out
	}
	if out := Diff(text, -1); len(out) > 0 {
		return out
	}
	return hashLines(text)
}

// Envelope returns the files named by the headers of a patch envelope,
// both the old and the new name of a moved one.
func Envelope(text string) []string {
	var out []string
	inHunk := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.HasPrefix(line, "@@") {
			inHunk = true
			continue
		}
		// Hosts allow white space before a header, but within a hunk a leading
		// blank marks a line of the file itself.
		if !inHunk {
			line = strings.TrimLeft(line, " \t")
		}
		for _, h := range headers {
			if path, ok := strings.CutPrefix(line, h); ok {
				inHunk = false
				out = add(out, strings.TrimSpace(path))
			}
		}
	}
	return out
}

// hashLines returns the files of an edit whose sections begin with
// "[path#tag]".
func hashLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]") {
			continue
		}
		if i := strings.LastIndexByte(line, '#'); i > 1 && alphanumeric(line[i+1:len(line)-1]) {
			out = add(out, line[1:i])
		}
	}
	return out
}

func alphanumeric(s string) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}

// Diff returns the files of a unified diff. strip is the number of leading
// folders to drop from each name, as for patch -p; -1 drops one where the
// names carry git's a/ and b/.
func Diff(text string, strip int) []string {
	var out []string
	before := ""
	remaining := hunkSize{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if remaining.counts(line) {
			continue
		}
		switch {
		case strings.HasPrefix(line, "@@ -"):
			remaining = parseHunk(line)
		case strings.HasPrefix(line, "--- "):
			before = diffName(line[4:])
		case strings.HasPrefix(line, "+++ "):
			for _, name := range []string{before, diffName(line[4:])} {
				if name != "/dev/null" && name != "" {
					out = add(out, stripFolders(name, strip))
				}
			}
		case strings.HasPrefix(line, "rename from "), strings.HasPrefix(line, "rename to "), strings.HasPrefix(line, "copy to "):
			_, name, _ := strings.Cut(line, " ")
			_, name, _ = strings.Cut(name, " ")
			out = add(out, unquote(name)) // these never carry a/ or b/
		case strings.HasPrefix(line, "diff --git "):
			if name := gitHeaderName(line[len("diff --git "):]); name != "" {
				out = add(out, stripFolders(name, strip))
			}
		}
	}
	return out
}

// A hunkSize counts the lines of a hunk that are still to come, so that file
// content that looks like a header is not taken for one.
type hunkSize struct{ old, new int }

func (h *hunkSize) counts(line string) bool {
	if h.old <= 0 && h.new <= 0 {
		return false
	}
	switch {
	case strings.HasPrefix(line, "-"):
		h.old--
	case strings.HasPrefix(line, "+"):
		h.new--
	case strings.HasPrefix(line, "\\"):
	case strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff --git "):
		*h = hunkSize{} // the counts were wrong
		return false
	default:
		h.old--
		h.new--
	}
	return true
}

// parseHunk reads "@@ -1,2 +3,4 @@".
func parseHunk(line string) hunkSize {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return hunkSize{}
	}
	return hunkSize{count(fields[1]), count(fields[2])}
}

func count(s string) int {
	_, n, ok := strings.Cut(s, ",")
	if !ok {
		return 1
	}
	i, err := strconv.Atoi(n)
	if err != nil || i < 0 {
		return 0
	}
	return i
}

// diffName returns the name in a --- or +++ line, without the time stamp that
// diff puts after a tab.
func diffName(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	return unquote(strings.TrimSpace(s))
}

// gitHeaderName returns the common name in "a/x b/x"; a header with two names
// is followed by lines that say them apart.
func gitHeaderName(s string) string {
	half := len(s) / 2
	if len(s)%2 == 1 && s[half] == ' ' && strings.HasPrefix(s, "a/") && strings.HasPrefix(s[half+1:], "b/") && s[1:half] == s[half+2:] {
		return s[:half]
	}
	return ""
}

func unquote(s string) string {
	if strings.HasPrefix(s, `"`) {
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
	}
	return s
}

func stripFolders(name string, strip int) string {
	if strip < 0 {
		if strings.HasPrefix(name, "a/") || strings.HasPrefix(name, "b/") {
			return name[2:]
		}
		return name
	}
	for range strip {
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return name
		}
		name = rest
	}
	return name
}

func add(out []string, path string) []string {
	if path == "" || slices.Contains(out, path) {
		return out
	}
	return append(out, path)
}
