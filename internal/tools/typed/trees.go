package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// tree reads the Go files of a commit or tree.
func (d *draw) tree(id string) (tree, error) {
	return d.some(id, func(name string) bool { return strings.HasSuffix(name, ".go") || filepath.Base(name) == "go.mod" })
}

// some reads some files of a commit or tree.
func (d *draw) some(id string, want func(name string) bool) (tree, error) {
	list, err := d.git("", "ls-tree", "-r", id)
	if err != nil {
		return nil, err
	}
	var names []string
	var ask strings.Builder
	for l := range strings.Lines(list) {
		about, name, _ := strings.Cut(strings.TrimRight(l, "\n"), "\t")
		if f := strings.Fields(about); len(f) == 3 && f[0] != "120000" && f[1] == "blob" && want(name) {
			names = append(names, name)
			fmt.Fprintln(&ask, f[2])
		}
	}
	out, err := d.raw(ask.String(), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	t := tree{}
	for _, name := range names {
		head, rest, _ := strings.Cut(out, "\n")
		var size int
		if _, err := fmt.Sscanf(head[strings.LastIndexByte(head, ' ')+1:], "%d", &size); err != nil || size > len(rest) {
			return nil, fmt.Errorf("git says %q of %s", head, name)
		}
		t[name], out = []byte(rest[:size]), rest[size+1:]
	}
	return t, nil
}

// commit makes a commit of the base with some files changed.
func (d *draw) commit(base string, files tree) (string, error) {
	if _, err := d.git("", "read-tree", base); err != nil {
		return "", err
	}
	for name, text := range files {
		id, err := d.git(string(text), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		if _, err := d.git("", "update-index", "--cacheinfo", "100644,"+id+","+name); err != nil {
			return "", err
		}
	}
	t, err := d.git("", "write-tree")
	if err != nil {
		return "", err
	}
	return d.git("", "commit-tree", t, "-p", base, "-m", "A")
}
