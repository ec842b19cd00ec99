// Package companion holds the programs that svc carries inside itself: the
// grammars, the svc with all commands, and svcd.
//
// Agents wait for svc hook at every edit, and a program that links parsers or a
// command tree starts slower by a third, used or not; svcd is wanted by svc up
// alone. So make build makes a lean svc, which has what is waited for, holds the
// others as compressed files and unpacks them into the user's cache when they
// are wanted. It stays one file to install and to update. Of what the lean one
// carries, the svc inside it asks the lean one (Inner). A svc that go build made
// carries nothing and has the grammars itself. It must not be reached by a hook
// that reads no code: unpacking is what the lean one saves.
package companion

import (
	"compress/gzip"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed all:program
var files embed.FS

// A Program is one that svc may carry.
type Program string

const (
	Reader Program = "reader" // svc with all commands
	Parser Program = "parser" // the grammars alone, where there is a C compiler for the system
	Server Program = "svcd"
)

// ErrNone means that this svc carries no such program.
var ErrNone = errors.New("this svc was built without it")

// Carries reports whether this svc carries a program.
func Carries(p Program) bool {
	if Inner {
		_, err := ask(string(p), onlyAsked)
		return err == nil
	}
	f, err := files.Open("program/" + string(p) + ".gz")
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// Self returns the svc that is installed: this one, or that which carries it
// and gave it its own name.
func Self() (string, error) {
	if Inner && filepath.IsAbs(os.Args[0]) {
		return os.Args[0], nil
	}
	return os.Executable()
}

// Path returns where a program is, unpacked if need be into a folder of the
// user's cache.
func Path(p Program) (string, error) { return PathIn("", p) }

// PathIn is Path with another cache, for who leaves nothing behind.
func PathIn(cache string, p Program) (string, error) {
	if Inner {
		return ask(string(p), cache)
	}
	f, err := files.Open("program/" + string(p) + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNone
	} else if err != nil {
		return "", err
	}
	defer f.Close()
	moves := "TMPDIR"
	if cache == "" {
		moves = cacheMover(runtime.GOOS)
		if cache, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("no cache folder for a part of svc: %w", err)
		}
	}
	// Not ReadFile: a copy of a program costs more than all the rest of a hook.
	path, err := unpack(f.(io.ReadSeeker), filepath.Join(cache, "svc", "program"), string(p))
	return path, advise(err, moves)
}

// advise says what to do where a program cannot be put.
func advise(err error, moves string) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return fmt.Errorf("a part of svc cannot be unpacked: %w; make room there, or set %s to a folder that you can write to", err, moves)
	}
	return err
}

// cacheMover is the variable that moves the user's cache.
func cacheMover(system string) string {
	switch system {
	case "windows":
		return "LocalAppData"
	case "darwin":
		return "HOME"
	}
	return "XDG_CACHE_HOME"
}

// unpack returns the program in data, which has a place of its own in folder:
// gzip ends with the checksum and size of what it holds.
func unpack(data io.ReadSeeker, folder, program string) (string, error) {
	size, err := data.Seek(0, io.SeekEnd)
	var end [8]byte
	if err == nil && size >= 18 {
		if _, err = data.Seek(-int64(len(end)), io.SeekEnd); err == nil {
			_, err = io.ReadFull(data, end[:])
		}
	}
	if err != nil || size < 18 {
		return "", errors.New("a part of svc is damaged; install svc again")
	}
	name := program + "-" + hex.EncodeToString(end[:])
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(folder, name)
	whole := int64(binary.LittleEndian.Uint32(end[4:]))
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == whole {
		return path, nil
	}
	if _, err := data.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	if err := write(data, folder, path); err != nil {
		return "", err
	}
	forget(folder, program, name)
	return path, nil
}

// Repair removes a program that is not what was unpacked, though it has its
// size, so that it is unpacked anew. It reports whether it did. It is for
// those that failed: reading a whole program at each start would cost more
// than the start.
func Repair(path string) bool {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	_, sum, ok := strings.Cut(name, "-")
	want, err := hex.DecodeString(sum)
	if !ok || err != nil || len(want) != 8 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	have := crc32.NewIEEE()
	_, err = io.Copy(have, f)
	f.Close()
	if err == nil && binary.LittleEndian.Uint32(want) == have.Sum32() {
		return false
	}
	return os.Remove(path) == nil
}

// write makes the file in one step: two hooks may come at once.
func write(data io.Reader, folder, path string) error {
	from, err := gzip.NewReader(data)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".svc-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, from) // which checks the sum
	if err == nil {
		err = f.Chmod(0o700)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// forget removes what earlier versions left. One that is still running keeps
// its file, or on Windows is left for the next time.
func forget(folder, program, keep string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), program+"-") && e.Name() != keep { // not what somebody is writing
			os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
