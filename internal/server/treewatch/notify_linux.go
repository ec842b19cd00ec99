package treewatch

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	heardOf = syscall.IN_CREATE | syscall.IN_DELETE | syscall.IN_MODIFY | syscall.IN_CLOSE_WRITE | syscall.IN_ATTRIB |
		syscall.IN_MOVED_FROM | syscall.IN_MOVED_TO | syscall.IN_DELETE_SELF | syscall.IN_MOVE_SELF
	asFolder = syscall.IN_ONLYDIR | syscall.IN_DONT_FOLLOW
)

// trusted are the kinds of file systems that only this machine writes to. Of what
// others do on a shared one nobody here is told.
var trusted = map[int64]bool{
	0xEF53:     true, // ext2 to ext4
	0x58465342: true, // XFS
	0x9123683E: true, // Btrfs
	0x01021994: true, // tmpfs
	0x2FC12FC1: true, // ZFS
	0xF2F52010: true, // F2FS
	0xCA451A4E: true, // bcachefs
	0x794C7630: true, // overlayfs, which a container's own files are on
}

// An ear hears of what happens in folders. Its file is read by one goroutine,
// which watches new folders before it hears of anything later.
type ear struct {
	*tree
	file    *os.File
	fd      int
	folders map[int32]string // by the system's number: paths from the root
	mark    int32            // that of the folder of cookies
	device  uint64
}

var (
	errTooLarge = errors.New("too many folders")
	errMoved    = errors.New("a folder was moved, and with it all that is watched below")
	errForeign  = errors.New("a file system that others may write to")
)

// run watches until the tree is given up, by us or by the system.
func (t *tree) run() {
	defer t.end()
	var at syscall.Statfs_t
	if syscall.Statfs(t.root, &at) != nil || !trusted[int64(at.Type)] || os.MkdirAll(t.cookies, 0o700) != nil {
		t.refuse()
		return
	}
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		t.refuse()
		return
	}
	e := &ear{tree: t, fd: fd, file: os.NewFile(uintptr(fd), "inotify"), folders: map[int32]string{}}
	defer e.file.Close()
	go func() {
		<-t.gone
		e.file.Close() // ends the reading
	}()
	if err := e.begin(); err != nil {
		t.refuse()
		return
	}
	close(t.ready)
	if err := e.listen(); errors.Is(err, errTooLarge) || errors.Is(err, errForeign) || errors.Is(err, syscall.ENOSPC) {
		t.refuse()
	}
}

func (e *ear) begin() error {
	wd, err := syscall.InotifyAddWatch(e.fd, e.cookies, syscall.IN_CREATE|asFolder)
	if err != nil {
		return err
	}
	e.mark = int32(wd)
	info, err := os.Lstat(e.root)
	if err != nil {
		return err
	}
	e.device = deviceOf(info)
	return e.add(".", false)
}

func deviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

// add watches the folders at and below one. tell notes what is in them: it may
// have been written before they were watched.
func (e *ear) add(rel string, tell bool) error {
	if e.over() {
		return errors.New("given up")
	}
	dir := filepath.Join(e.root, filepath.FromSlash(rel))
	if rel != "." && isRepository(dir) {
		return nil // another one
	}
	if len(e.folders) >= maxFolders {
		return errTooLarge
	}
	wd, err := syscall.InotifyAddWatch(e.fd, dir, heardOf|asFolder)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return nil // gone meanwhile, and heard of
	} else if err != nil {
		return err
	}
	if was, known := e.folders[int32(wd)]; known && was != rel {
		return errMoved // the same folder under another name
	}
	e.folders[int32(wd)] = rel
	info, err := os.Lstat(dir)
	if err == nil && deviceOf(info) != e.device {
		return errForeign // mounted here
	}
	entries, err := os.ReadDir(dir) // after it is watched: what comes now is heard of
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		below := entry.Name()
		if rel != "." {
			below = rel + "/" + below
		}
		if keeps(below) || e.skips(below) {
			continue
		}
		if tell {
			e.note(below)
		}
		if entry.IsDir() {
			if err := e.add(below, tell); err != nil {
				return err
			}
		}
	}
	return nil
}

// keeps reports whether git or Jujutsu keep a repository under a name.
func keeps(name string) bool { return name == ".git" || name == ".jj" }

func isRepository(dir string) bool {
	_, git := os.Lstat(filepath.Join(dir, ".git"))
	_, jj := os.Lstat(filepath.Join(dir, ".jj"))
	return git == nil || jj == nil
}

// listen takes in what the system tells, until it cannot be relied on.
func (e *ear) listen() error {
	buf := make([]byte, 256<<10)
	for {
		n, err := e.file.Read(buf)
		if err != nil {
			return err
		}
		for data := buf[:n]; len(data) >= syscall.SizeofInotifyEvent; {
			wd, mask := int32(binary.NativeEndian.Uint32(data)), binary.NativeEndian.Uint32(data[4:])
			end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(data[12:]))
			if end > len(data) {
				return errors.New("half an event")
			}
			name := strings.TrimRight(string(data[syscall.SizeofInotifyEvent:end]), "\x00")
			if err := e.hear(wd, mask, name); err != nil {
				return err
			}
			data = data[end:]
		}
	}
}

// hear takes one event in.
func (e *ear) hear(wd int32, mask uint32, name string) error {
	if mask&syscall.IN_Q_OVERFLOW != 0 {
		return errors.New("something was missed")
	}
	if wd == e.mark {
		e.cookie(name)
		return nil
	}
	folder, known := e.folders[wd]
	switch {
	case !known: // of one that is gone
		return nil
	case mask&syscall.IN_IGNORED != 0:
		delete(e.folders, wd)
		if folder == "." {
			return errors.New("the working copy is gone")
		}
		return nil
	case mask&(syscall.IN_MOVE_SELF|syscall.IN_UNMOUNT) != 0:
		return errMoved
	case name == "": // of the folder itself: its own folder tells
		return nil
	}
	rel := name
	if folder != "." {
		rel = folder + "/" + name
	}
	if keeps(rel) || e.skips(rel) {
		return nil
	}
	if keeps(name) {
		return errors.New("a folder has become a repository, or none") // and is watched no more, or not yet
	}
	e.note(rel)
	switch {
	case mask&syscall.IN_ISDIR == 0:
		if linked(filepath.Join(e.root, filepath.FromSlash(rel))) {
			e.forget()
		}
		return nil
	case mask&(syscall.IN_CREATE|syscall.IN_MOVED_TO) == 0:
		return nil
	}
	return e.add(rel, true)
}

// linked reports whether a file has other names, of which nobody is told when it
// is written under this one.
func linked(file string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(file, &st) == nil && st.Nlink > 1
}
