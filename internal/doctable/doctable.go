// Package doctable keeps tables in the documentation true: a test that knows
// what a table must say compares it with what stands between two marks, or
// writes it there.
package doctable

import (
	"os"
	"strings"
	"testing"
)

// A Table is a part of a documentation file, between a line that begins with
// "<!-- name:begin" and one that begins with "<!-- name:end".
type Table struct {
	Text          string // of the whole file
	file          string
	before, after string // the marks belong to these
	Rows          string // what stands between the marks
}

// Read finds the table called name in a file.
func Read(t testing.TB, file, name string) Table {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	begin := strings.Index(text, "<!-- "+name+":begin")
	end := strings.Index(text, "<!-- "+name+":end")
	if begin < 0 || end < begin {
		t.Fatalf("the marks of the table %s are gone from %s", name, file)
	}
	begin += strings.IndexByte(text[begin:], '\n') + 1
	return Table{Text: text, file: file, before: text[:begin], after: text[end:], Rows: text[begin:end]}
}

// Write puts rows between the marks.
func (d Table) Write(t testing.TB, rows string) {
	t.Helper()
	if err := os.WriteFile(d.file, []byte(d.before+rows+d.after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Check compares the table with rows, or with update writes them. How tells
// what to type when they differ.
func (d Table) Check(t testing.TB, rows string, update bool, how string) {
	t.Helper()
	switch {
	case update:
		d.Write(t, rows)
	case d.Rows != rows:
		t.Errorf("%s is not up to date: %s", d.file, how)
	}
}
