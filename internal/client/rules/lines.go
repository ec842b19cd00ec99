// Package rules holds what is known of languages and frameworks, as data: one
// folder per language, read into tables. README.md describes the files. It
// knows nothing of any source text; extract matches rules with outlines.
package rules

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// words are all words of a rules file.
func words(file string) []string {
	lines, err := Lines(file)
	if err != nil {
		panic(err) // the file is part of the program
	}
	var out []string
	for _, l := range lines {
		out = append(out, l.Words...)
	}
	return out
}

// rulesFS holds the rules, one folder per language; rules/README.md describes
// the format.
//
//go:embed */*.rules *.txt
var rulesFS embed.FS

// Folder is where a language's rules lie: dialects share one folder.
func Folder(lang string) string {
	switch lang {
	case "tsx", "javascript":
		return "typescript"
	}
	return lang
}

// A Line is a line of a rules file: words, and key=value options.
type Line struct {
	Number  int
	Words   []string
	Options map[string]string
}

// Lines reads a rules file. # starts a comment at a line's start or after
// a space.
func Lines(name string) ([]Line, error) {
	f, err := rulesFS.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	defer f.Close()
	var out []Line
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		text := scan.Text()
		if i := strings.Index(" "+text, " #"); i >= 0 {
			text = text[:i]
		}
		l := Line{Number: n, Options: map[string]string{}}
		for _, w := range strings.Fields(text) {
			if key, value, ok := strings.Cut(w, "="); ok && key != "" {
				l.Options[key] = value
			} else {
				l.Words = append(l.Words, w)
			}
		}
		if len(l.Words) > 0 || len(l.Options) > 0 {
			out = append(out, l)
		}
	}
	return out, scan.Err()
}

// frameworkFiles lists a language's rule files other than its syntax.
func frameworkFiles(lang string) ([]string, error) {
	dir := Folder(lang)
	entries, err := fs.ReadDir(rulesFS, dir)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	var out []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".rules") && name != "syntax.rules" {
			out = append(out, path.Join(dir, name))
		}
	}
	return out, nil
}
