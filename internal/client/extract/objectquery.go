package extract

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// objectQuery is a text of JPQL or HQL: it names a class and what it is called
// in the rest.
var objectQuery = lazy.Regexp(`(?:^|\s)(?i:from|update)\s+(?:\w+\.)*[A-Z]\w*[a-z]\w*\s+(?:(?i:as)\s+)?([a-z]\w*)\b`)

// queryOfClasses takes such a text.
var queryOfClasses = lazy.Regexp(`@(?:Named)?Query\s*\(|\.createQuery\s*\(`)

// namesClasses tells whether a text that looks like SQL is about the classes of
// a program of the JVM: it says nothing of tables, the classes do.
func (e *extractor) namesClasses(t outline.Text) bool {
	if e.o.Lang != "java" && e.o.Lang != "kotlin" {
		return false
	}
	rest := e.o.Source
	for range max(0, int(t.Line)-1) { // from the line before, where the call may begin
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	if at := bytes.Index(rest, []byte(t.Value[:min(len(t.Value), 12)])); at >= 0 {
		before, after := rest[:at], rest[at:]
		if end := bytes.LastIndexAny(before, ";{}"); end >= 0 {
			before = before[end:]
		}
		after, _, _ = bytes.Cut(after, []byte(";"))
		rest = append(bytes.Clone(before), after...)
	}
	if bytes.Contains(rest, []byte("ativeQuery")) || bytes.Contains(rest, []byte("dbc")) {
		return false
	}
	if queryOfClasses.Get().Match(rest) {
		return true
	}
	m := objectQuery.Get().FindStringSubmatch(t.Value)
	return m != nil && strings.Contains(t.Value, m[1]+".")
}
