// Package odb reads the files of a git folder: objects in files of their own and
// in packs, the index, references. It needs the standard library alone and does
// not start git; whatever is damaged, odd or too large is an error, and callers
// ask git. Whoever made a working copy chose what lies in its git folder: no
// chain of objects, references or folders is followed without an end.
package odb

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/client/plain"
)

// A Store reads objects straight from the files of a repository, without
// starting git. It knows loose objects and packs, here and in the places the
// repository borrows from. What it does not find or cannot read, git may:
// callers ask git then. It is not safe for concurrent use.
type Store struct {
	dirs   []string // folders of objects
	width  int      // bytes of an id
	packs  []*pack
	listed bool
}

// errObject is wrapped by every complaint about what an object file holds.
var errObject = errors.New("damaged object")

// ErrTooLarge is returned for an object over the limit that was asked for.
var ErrTooLarge = errors.New("object is too large")

// ErrMissing is returned for an object that the repository does not have.
var ErrMissing = errors.New("no such object")

// An Entry is a file of a tree.
type Entry struct {
	Path string
	Mode int
	ID   string
	Size int64 // -1 for a submodule, or where nobody looked
}

// Open opens the objects in a folder, whose ids have width bytes. Close it after
// use.
func Open(dir string, width int) *Store {
	s := &Store{width: width}
	s.add(dir, 5)
	return s
}

// maxFolders is how many folders of objects are looked into: its own, and those
// that a repository borrows from.
const maxFolders = 17

// add takes in a folder of objects and those that it borrows from.
func (s *Store) add(dir string, depth int) {
	if len(s.dirs) == maxFolders {
		return
	}
	s.dirs = append(s.dirs, dir)
	if depth == 0 {
		return
	}
	data, err := plain.ReadHere(filepath.Join(dir, "info", "alternates"), MaxText)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '"' {
			if line = filepath.FromSlash(line); !filepath.IsAbs(line) {
				line = filepath.Join(dir, line)
			}
			s.add(filepath.Clean(line), depth-1)
		}
	}
}

// Close lets go of the files.
func (s *Store) Close() {
	for _, p := range s.packs {
		p.close()
	}
	s.packs = nil
}

// Read returns an object's type and content, or ErrTooLarge when it has more
// than limit bytes.
func (s *Store) Read(id string, limit int64) (kind string, data []byte, err error) {
	return s.read(id, limit, 0)
}

// read is Read for an object that depth others differ from.
func (s *Store) read(id string, limit int64, depth int) (kind string, data []byte, err error) {
	name, err := hex.DecodeString(id)
	if err != nil || len(name) != s.width {
		return "", nil, fmt.Errorf("%q: %w", id, ErrMissing)
	}
	for _, dir := range s.dirs {
		kind, data, err = recent.read(filepath.Join(dir, id[:2], id[2:]), limit)
		if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, errObject) {
			return kind, data, err
		}
	}
	s.list()
	for i, p := range s.packs {
		offset, ok := p.find(name)
		if !ok {
			continue
		}
		s.packs[0], s.packs[i] = s.packs[i], s.packs[0] // the next is likely here, too
		k, data, err := s.packed(p, offset, limit, depth)
		return objectKinds[k], data, err
	}
	return "", nil, fmt.Errorf("%q: %w", id, ErrMissing)
}

// recent holds the objects that were last read, which never change: one event
// looks at the same version of a file up to four times, and to inflate it is
// what that costs. Whoever gets one only reads it.
var recent = loose{objects: map[string]object{}}

const (
	maxRecent       = 1 << 20
	maxRecentObject = 256 << 10
)

type loose struct {
	sync.Mutex
	objects map[string]object // by the name of their file
	size    int
}

type object struct {
	kind string
	data []byte
}

func (l *loose) read(name string, limit int64) (kind string, data []byte, err error) {
	l.Lock()
	known, ok := l.objects[name]
	l.Unlock()
	if ok && int64(len(known.data)) <= limit {
		return known.kind, known.data, nil
	}
	kind, data, err = readLoose(name, limit)
	if err != nil || len(data) > maxRecentObject {
		return kind, data, err
	}
	l.Lock()
	defer l.Unlock()
	if l.size += len(data); l.size > maxRecent {
		clear(l.objects)
		l.size = len(data)
	}
	l.objects[name] = object{kind, data}
	return kind, data, nil
}

// readLoose reads an object in a file of its own.
func readLoose(name string, limit int64) (kind string, data []byte, err error) {
	raw, err := plain.ReadHere(name, limit+limit/8+1024)
	if errors.Is(err, plain.ErrNotPlain) {
		return "", nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	if err != nil {
		return "", nil, err
	}
	z, done, err := inflater(bytes.NewReader(raw))
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, errObject)
	}
	defer done()
	head := make([]byte, 0, 32)
	for one := [1]byte{}; ; {
		if _, err := io.ReadFull(z, one[:]); err != nil || len(head) == 32 {
			return "", nil, fmt.Errorf("%s: %w", name, errObject)
		}
		if one[0] == 0 {
			break
		}
		head = append(head, one[0])
	}
	kind, text, _ := strings.Cut(string(head), " ")
	size, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || size < 0:
		return "", nil, fmt.Errorf("%s: %w", name, errObject)
	case size > limit:
		return kind, nil, fmt.Errorf("%s: %w", name, ErrTooLarge)
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(z, data); err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, errObject)
	}
	return kind, data, nil
}

// maxTree bounds a folder's or commit's object: a folder of 300,000 files.
const maxTree = 16 << 20

// tree returns the tree of a commit or tree.
func (s *Store) tree(id string) ([]byte, error) {
	for range 3 {
		kind, data, err := s.Read(id, maxTree)
		if err != nil {
			return nil, err
		}
		switch kind {
		case "tree":
			return data, nil
		case "commit", "tag":
			rest, ok := bytes.CutPrefix(data, []byte(map[string]string{"commit": "tree ", "tag": "object "}[kind]))
			line, _, _ := bytes.Cut(rest, []byte{'\n'})
			if !ok {
				return nil, fmt.Errorf("%s: %w", id, errObject)
			}
			id = string(line)
		default:
			return nil, fmt.Errorf("%s is a %s: %w", id, kind, ErrMissing)
		}
	}
	return nil, fmt.Errorf("%s: %w", id, ErrMissing)
}

// Entry returns what a commit or tree has at path, or nil if there is nothing.
func (s *Store) Entry(treeish, path string) (*Entry, error) {
	data, err := s.tree(treeish)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		mode, child := s.inTree(data, part)
		switch {
		case child == "":
			return nil, nil
		case i == len(parts)-1:
			return &Entry{Path: path, Mode: mode, ID: child, Size: -1}, nil
		case mode != modeTree:
			return nil, nil
		}
		var kind string
		if kind, data, err = s.Read(child, maxTree); err != nil {
			return nil, err
		}
		if kind != "tree" {
			return nil, fmt.Errorf("%s: %w", child, errObject)
		}
	}
	return nil, nil
}

const modeTree = 0o040000

// inTree finds a name in a folder's object: mode, name and id of each follow
// one another.
func (s *Store) inTree(data []byte, name string) (mode int, id string) {
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		if space < 0 {
			return 0, ""
		}
		end := bytes.IndexByte(data[space:], 0)
		if end < 0 || len(data) < space+end+1+s.width {
			return 0, ""
		}
		if string(data[space+1:space+end]) == name {
			n, err := strconv.ParseInt(string(data[:space]), 8, 32)
			if err != nil {
				return 0, ""
			}
			return int(n), hex.EncodeToString(data[space+end+1 : space+end+1+s.width])
		}
		data = data[space+end+1+s.width:]
	}
	return 0, ""
}

// BlobID returns the id that git gives a content.
func (s *Store) BlobID(content []byte) string {
	var h hash.Hash = sha1.New()
	if s.width == sha256.Size {
		h = sha256.New()
	}
	h.Write([]byte("blob " + strconv.Itoa(len(content)) + "\x00"))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
