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
	return plain.Replace(temp, name)
}

// Append adds text to a file that only its owner can read.
func Append(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return plain.Append(name, text)
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
