// Package companion starts the svc with the grammars, which a lean svc carries
// inside itself.
//
// Agents wait for svc hook at every edit, and a program that links C starts
// slower by a fifth, used or not. So make build makes two: one with the
// grammars' C, and a lean one without, which holds the first as a compressed
// file and unpacks it into the user's cache when code is to be read. It stays
// one file to install and to update. A svc that go build made carries nothing
// and has the grammars itself. It must not be reached by a hook that reads no
// code: unpacking is what the lean one saves.
package companion

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed all:program
var files embed.FS

// ErrNone means that this svc carries no other.
var ErrNone = errors.New("this svc carries no other")

func packed() ([]byte, error) {
	data, err := files.ReadFile("program/svc.gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	return data, err
}

// Carried reports whether this svc carries another with the grammars.
func Carried() bool {
	f, err := files.Open("program/svc.gz")
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// Path returns where the companion is, unpacked if need be into a folder of
// the user's cache.
func Path() (string, error) {
	data, err := packed()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder for the part that reads code: %w", err)
	}
	return unpack(data, filepath.Join(cache, "svc", "program"))
}

// unpack returns the program in data, which has a place of its own in folder:
// gzip ends with the checksum and size of what it holds.
func unpack(data []byte, folder string) (string, error) {
	if len(data) < 18 {
		return "", errors.New("the part of svc that reads code is damaged; install svc again")
	}
	name := "svc-" + hex.EncodeToString(data[len(data)-8:])
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(folder, name)
	size := int64(data[len(data)-4]) | int64(data[len(data)-3])<<8 | int64(data[len(data)-2])<<16 | int64(data[len(data)-1])<<24
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == size {
		return path, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	if err := write(data, folder, path); err != nil {
		return "", err
	}
	forget(folder, name)
	return path, nil
}

// write makes the file in one step: two hooks may come at once.
func write(data []byte, folder, path string) error {
	from, err := gzip.NewReader(bytes.NewReader(data))
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
func forget(folder, keep string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "svc-") && e.Name() != keep { // not what somebody is writing
			os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
