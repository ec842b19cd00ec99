package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
)

// Replace writes a file that only its owner can read, all at once.
func Replace(name string, content []byte) error {
	temp := filepath.Join(filepath.Dir(name), ".new-"+unique()) // no name that anybody looks for
	if err := os.WriteFile(temp, content, 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, name); err != nil {
		os.Remove(temp)
		return err
	}
	return nil
}

// Append adds text to a file that only its owner can read.
func Append(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// made counts the names that this process has made.
var made atomic.Int64

// unique is a name that no other process of this machine makes. The folders are
// the user's own, so it need not be hard to guess, which costs more than the
// file itself.
func unique() string {
	return strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(made.Add(1), 36)
}

// Hash returns the hash of parts in hex: the names of files are made of it.
func Hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ReadFile returns what is in a plain file of at most limit bytes, as all that
// hooks keep is. What else somebody has put there is not waited for.
func ReadFile(name string, limit int64) ([]byte, error) { return plain.Read(name, limit) }
