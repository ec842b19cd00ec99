package spool

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
)

// A server that nobody can reach costs an agent its whole budget at every edit.
// After Limit such failures in a row hooks give a connection little time for a
// while, so that edits go on; they still ask each time. Whatever fails at once,
// as a refused connection does, costs nothing and changes nothing.
const (
	Limit       = 3
	briefWhile  = 30 * time.Second
	maxFailures = 64 << 10 // bytes of the file
)

// ErrDead is a connection that was not made in time.
var ErrDead = errors.New("no connection in time")

// A Breaker counts the events that failed open since the last success. Its
// file has a line for each; appending to it is safe with other hooks.
type Breaker struct {
	file  string
	key   string // by which a line is known as one of ours
	count int    // failures when this run began
	dead  int    // connections that were not made in time
	last  time.Time
	died  time.Time // when the last of those was tried
}

// Breaker reads the state for one server. In good times there is no file.
// Lines that do not show the key take no time from a connection: anybody can write
// to the file.
func (s *Spool) Breaker(server, key string) *Breaker {
	b := &Breaker{key: key}
	if s.base == "" {
		return b
	}
	b.file = filepath.Join(s.base, "failures-"+Hash(server)[:16])
	data, err := plain.ReadHere(b.file, plain.State)
	if err != nil {
		return b
	}
	for line := range strings.Lines(string(data)) {
		text, proof, _ := strings.Cut(strings.TrimSpace(line), "\t")
		kind, at, _ := strings.Cut(text, " ")
		b.count++
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			continue
		}
		b.last = time.UnixMilli(ms)
		if kind == "dead" && proof == b.proof(text) {
			b.dead, b.died = b.dead+1, b.last
		}
	}
	return b
}

// Brief reports whether to give a connection little time.
func (b *Breaker) Brief() bool {
	since := time.Since(b.died)
	return b.dead >= Limit && since >= 0 && since < briefWhile
}

// Count is how many events had not been answered when this run began.
func (b *Breaker) Count() int { return b.count }

// Failed notes an event that was not answered, and why.
func (b *Breaker) Failed(err error) {
	if errors.Is(err, ErrDead) && !b.Brief() { // a brief try says nothing of one that takes its time
		b.note("dead")
		return
	}
	b.note("fail")
}

// Slow reports whether a service that was reached did not answer in time.
func Slow(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

func (b *Breaker) note(kind string) {
	if b.file == "" {
		return
	}
	if os.MkdirAll(filepath.Dir(b.file), 0o700) != nil {
		return
	}
	if info, err := os.Lstat(b.file); err == nil && info.Mode().IsRegular() && info.Size() > maxFailures {
		_ = os.Truncate(b.file, 0)
	}
	text := kind + " " + strconv.FormatInt(time.Now().UnixMilli(), 10)
	_ = plain.Append(b.file, text+"\t"+b.proof(text)+"\n")
}

// proof shows that a line was written by who knows the key.
func (b *Breaker) proof(text string) string {
	m := hmac.New(sha256.New, []byte(b.key))
	m.Write([]byte("svc failures " + filepath.Base(b.file) + " " + text))
	return hex.EncodeToString(m.Sum(nil)[:8])
}

// Succeeded forgets the failures that the service was just told of.
func (b *Breaker) Succeeded() {
	if b.file == "" || b.count == 0 {
		return
	}
	taken := b.file + "-" + unique()
	if os.Rename(b.file, taken) != nil {
		return // another hook was quicker
	}
	defer os.Remove(taken)
	data, err := plain.ReadHere(taken, plain.State)
	if err != nil {
		return
	}
	// Others may have failed since this run began: those are still to be told.
	for range strings.Count(string(data), "\n") - b.count {
		b.note("fail")
	}
	b.count = 0
}
