// Package rules holds what is known of languages and frameworks, as data: one
// folder per language, read into tables. README.md describes the files. It
// knows nothing of any source text; extract matches rules with outlines.
package rules

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
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
	Options Options
}

// Options are what a line says as key=value. There are few in a line, so that
// to look one up in a list is quicker than in a map, and to read them much.
type Options []Option

// An Option is one of them.
type Option struct{ Key, Value string }

// Get returns the value of a key, or nothing.
func (o Options) Get(key string) string {
	for i := range o {
		if o[i].Key == key {
			return o[i].Value
		}
	}
	return ""
}

// Only returns the options of the given keys.
func (o Options) Only(keys ...string) Options {
	return slices.DeleteFunc(slices.Clone(o), func(one Option) bool { return !slices.Contains(keys, one.Key) })
}

// Without returns the options but for one.
func (o Options) Without(key string) Options {
	return slices.DeleteFunc(slices.Clone(o), func(one Option) bool { return one.Key == key })
}

// Lines reads a rules file. # starts a comment at a line's start or after
// a space.
func Lines(name string) ([]Line, error) {
	if u, ok := unpack(packed, name); ok {
		return u.lines(), nil
	}
	file, err := rulesFS.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	return linesOf(file), nil
}

func linesOf(file []byte) []Line {
	count := func(c string) int { return bytes.Count(file, []byte(c)) }
	n, out := 0, make([]Line, 0, count("\n")+1)
	words, options := make([]string, 0, count(" ")+count("\t")+cap(out)), make(Options, 0, count("=")) // room for all of them
	for text := range strings.SplitSeq(string(file), "\n") {
		n++
		if strings.HasPrefix(text, "#") {
			continue
		}
		text, _, _ = strings.Cut(text, " #")
		word, option := len(words), len(options)
		for w := range strings.FieldsSeq(text) {
			if key, value, ok := strings.Cut(w, "="); ok && key != "" {
				options = append(options, Option{key, value})
			} else {
				words = append(words, w)
			}
		}
		if len(words) > word || len(options) > option {
			out = append(out, Line{Number: n, Words: words[word:len(words):len(words)], Options: options[option:len(options):len(options)]})
		}
	}
	return out
}

// frameworkFiles lists a language's rule files other than its syntax.
func frameworkFiles(lang string) ([]string, error) {
	dir := Folder(lang)
	entries, err := fs.ReadDir(rulesFS, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a language of whose frameworks nothing is known
	}
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
