// Package kept remembers from one hook to the next what was found out about the
// files of a working copy: which there are of a kind, and which words stand in
// them. To list a large repository, or to read the files around an edited one,
// costs several times what the edit itself does, and hardly anything of it
// changes between two edits. What is kept holds only as long as the file it
// was found in is as it was; what holds no more is found out again. It keeps no
// text: of words a sketch, which cannot be read back.
package kept

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
)

const (
	maxLists = 200      // that are kept of a working copy
	maxLong  = 5000     // files of a list: to read a longer one costs what finding it does
	maxFile  = 16 << 20 // bytes of one of its two files
	maxAge   = 30 * 24 * time.Hour
	// settling is how long before now a file must have changed last for what is
	// in it to be kept: times are coarse, and what changes next must show.
	settling = 50 * time.Millisecond
	// lately is how long what was found out of many files holds without looking at
	// them again, unless svc hears of an edit that ends it.
	lately = 10 * time.Minute
)

// A Book is what is known of one working copy. The zero Book remembers until it
// is forgotten itself. It is not safe for concurrent use.
type Book struct {
	file string // without an ending; "" to keep nothing
	root string

	head   string // of git's index, which the lists are about
	lists  map[string]*list
	listed bool // lists were read
	found  bool // lists that the file does not have

	pages  map[string]*page
	paged  bool // pages were read
	size   int  // bytes of the file of pages, those of older versions included
	newest []byte
}

// Open opens the book of the working copy at root in a folder of the user's,
// "" to keep nothing. program tells builds of svc apart, which may look for other
// things; index is git's index, whose files the lists are about.
func Open(folder, program, root, index string) *Book {
	info, err := os.Lstat(index)
	if folder == "" || program == "" || err != nil {
		return &Book{root: root}
	}
	sum := sha256.Sum256([]byte(program + "\n" + root))
	b := &Book{file: filepath.Join(folder, hex.EncodeToString(sum[:16])), root: root}
	if settled(info) {
		b.head = stamp(info)
	}
	return b
}

// Program tells this build of svc from another one.
func Program() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(self)
	if err != nil {
		return ""
	}
	return stamp(info)
}

func settled(info fs.FileInfo) bool { return time.Since(plain.ChangedAt(info)) > settling }

// stamp tells one state of a file from another.
func stamp(info fs.FileInfo) string {
	return strconv.FormatInt(plain.ChangedAt(info).UnixNano(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36) + "." +
		strconv.FormatInt(info.Size(), 36)
}

// A list is of files, as the book has it until somebody asks for it: most that
// are kept, an edit does not need, and some are long.
type list struct {
	text  []byte // with a line for each
	files []string
}

func (l *list) all() []string {
	if len(l.text) > 0 {
		l.files, l.text = strings.Split(strings.TrimSuffix(string(l.text), "\n"), "\n"), nil
	}
	return l.files
}

// List returns the files that a key stands for, found anew if they are not
// known. What they are may depend on git's index and on svc alone.
func (b *Book) List(key string, find func() []string) []string {
	b.readLists()
	if l := b.lists[key]; l != nil {
		return l.all()
	}
	files := find()
	b.lists[key] = &list{files: files}
	b.found = b.found || len(files) <= maxLong
	return files
}

// Lately reports what find does, or that it did ten minutes ago or less, with the
// same index: for what seldom changes, and hardly ever by an edit that svc does
// not hear of. Whoever hears of one calls Anew.
func (b *Book) Lately(key string, find func() bool) bool {
	b.readLists()
	key = latelyMark + key
	if l := b.lists[key]; l != nil && len(l.all()) == 1 {
		at, err := strconv.ParseInt(l.files[0], 36, 64)
		if since := time.Since(time.Unix(at, 0)); err == nil && since >= 0 && since < lately {
			return true
		}
	}
	if !find() {
		return false
	}
	b.lists[key] = &list{files: []string{strconv.FormatInt(time.Now().Unix(), 36)}}
	b.found = true
	return true
}

const latelyMark = "lately "

// Anew ends what held lately.
func (b *Book) Anew() {
	b.readLists()
	for key := range b.lists {
		if strings.HasPrefix(key, latelyMark) {
			delete(b.lists, key)
			b.found = true
		}
	}
}

// readLists reads what was kept of this index: a line that says of which, and
// then for each list its key, how many bytes it has, and these.
func (b *Book) readLists() {
	if b.listed {
		return
	}
	b.listed, b.lists = true, map[string]*list{}
	if b.head == "" {
		return
	}
	data, err := plain.ReadHere(b.file+".lists", maxFile)
	head, rest, ok := bytes.Cut(data, []byte{'\n'})
	if err != nil || !ok || string(head) != b.head {
		return
	}
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		key, size, _ := bytes.Cut(line, []byte{'\t'})
		n, err := strconv.Atoi(string(size))
		if err != nil || n < 0 || n > len(after) || n > 0 && after[n-1] != '\n' {
			clear(b.lists) // cut short
			return
		}
		b.lists[string(key)], rest = &list{text: after[:n]}, after[n:]
	}
}

// Close keeps what was found out. What cannot be kept is found out again.
func (b *Book) Close() {
	if b.file == "" || (!b.found || b.head == "") && len(b.newest) == 0 {
		return
	}
	dir := filepath.Dir(b.file)
	if _, err := os.Lstat(dir); err != nil && os.MkdirAll(dir, 0o700) != nil {
		return
	}
	b.keepLists()
	b.keepPages()
}

func (b *Book) keepLists() {
	if len(b.lists) > maxLists {
		b.Anew() // there is one for each folder in which somebody works
	}
	if !b.found || b.head == "" || len(b.lists) > maxLists {
		return
	}
	var out strings.Builder
	out.WriteString(b.head + "\n")
	for key, l := range b.lists {
		if len(l.files) > maxLong || strings.ContainsAny(key, "\t\n") {
			continue
		}
		if len(l.files) > 0 {
			l.text = []byte(strings.Join(l.files, "\n") + "\n")
			if bytes.Count(l.text, []byte{'\n'}) != len(l.files) {
				return // a name has one, too
			}
		}
		out.WriteString(key + "\t" + strconv.Itoa(len(l.text)) + "\n")
		out.Write(l.text)
	}
	if out.Len() <= maxFile {
		b.replace(".lists", []byte(out.String()))
	}
}

// replace writes a file in one step. The first time that a working copy has one,
// those are removed of which nobody has heard for long.
func (b *Book) replace(end string, data []byte) {
	if _, err := os.Lstat(b.file + end); err != nil {
		b.forgetOld()
	}
	f, err := os.CreateTemp(filepath.Dir(b.file), ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), b.file+end) != nil {
		os.Remove(f.Name())
	}
}

func (b *Book) forgetOld() {
	entries, err := os.ReadDir(filepath.Dir(b.file))
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxAge {
			os.Remove(filepath.Join(filepath.Dir(b.file), e.Name()))
		}
	}
}
