package odb

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/plain"
)

// Refs are the references of a worktree.
type Refs struct {
	Dir    string // the worktree's own git folder
	Common string // the one that linked worktrees share
}

// Commit returns the commit that a full reference name such as refs/heads/main
// points to, or "" if there is none.
func (r Refs) Commit(name string) string {
	for range 5 { // a reference may point to another; git allows five steps
		if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") {
			return ""
		}
		line := ReadLine(filepath.Join(r.Dir, filepath.FromSlash(name)))
		if line == "" && r.Common != r.Dir {
			line = ReadLine(filepath.Join(r.Common, filepath.FromSlash(name)))
		}
		target, symbolic := strings.CutPrefix(line, "ref: ")
		switch {
		case line == "":
			return r.packed(name)
		case !symbolic:
			return CommitID(line)
		}
		name = target
	}
	return ""
}

// packed looks name up in packed-refs, where git moves references that do
// not change often.
func (r Refs) packed(name string) string {
	data, err := plain.ReadHere(filepath.Join(r.Common, "packed-refs"), maxRefs)
	if err != nil {
		return ""
	}
	want := []byte(" " + name + "\n")
	for from := 0; ; {
		at := bytes.Index(data[from:], want)
		if at < 0 {
			return ""
		}
		at += from
		start := bytes.LastIndexByte(data[:at], '\n') + 1
		if id := CommitID(string(data[start:at])); id != "" {
			return id
		}
		from = at + 1
	}
}

// CommitID returns s if it is an object id other than zero.
func CommitID(s string) string {
	if (len(s) != 40 && len(s) != 64) || strings.Trim(s, "0123456789abcdef") != "" || strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}
