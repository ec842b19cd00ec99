package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// After Limit failures in a row the service is left alone for breakerPause, so
// that an agent does not wait for a dead server on every edit. A slow answer is
// not a dead server: one that is far away or busy is asked every time.
const (
	Limit        = 3
	breakerPause = 30 * time.Second
	maxFailures  = 64 << 10 // bytes of the file
)

// A Breaker counts the events that failed open since the last success. Its
// file has a line for each; appending to it is safe with other hooks.
type Breaker struct {
	file  string
	count int // failures and skipped events when this run began
	fails int // connections that were refused
	slow  int // answers that did not come in time
	last  time.Time
}

// Breaker reads the state for one server. In good times there is no file.
func (s *Spool) Breaker(server string) *Breaker {
	b := &Breaker{}
	if s.base == "" {
		return b
	}
	b.file = filepath.Join(s.base, "failures-"+Hash(server)[:16])
	data, err := os.ReadFile(b.file)
	if err != nil {
		return b
	}
	for line := range strings.Lines(string(data)) {
		kind, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == reached {
			b.fails, b.slow = 0, 0
			continue
		}
		b.count++
		if ms, err := strconv.ParseInt(at, 10, 64); err == nil && kind != "skip" {
			if kind == "slow" {
				b.slow++
			} else {
				b.fails++
			}
			b.last = time.UnixMilli(ms)
		}
	}
	return b
}

// reached is the line of a command that has just talked to the service.
const reached = "reached"

// Reached has hooks ask a service again that a command of the user has just
// reached. What went unanswered still counts until a hook has told it. temp is
// "" for the system's temporary folder.
func Reached(temp, server string) {
	if b := Open(temp, "", "").Breaker(strings.TrimRight(server, "/")); b.fails+b.slow > 0 {
		b.note(reached)
	}
}

// Open reports whether the service is to be left alone.
func (b *Breaker) Open() bool {
	since := time.Since(b.last)
	if since < 0 || since >= breakerPause {
		return false
	}
	return b.fails >= Limit
}

// Count is how many events had not been answered when this run began.
func (b *Breaker) Count() int { return b.count }

// Failed notes an event that was not answered, and why.
func (b *Breaker) Failed(err error) {
	if Slow(err) {
		b.note("slow")
		return
	}
	b.note("fail")
}

// Slow reports whether a service that was reached did not answer in time.
func Slow(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// Skipped notes an event that the service was not asked about.
func (b *Breaker) Skipped() { b.note("skip") }

func (b *Breaker) note(kind string) {
	if b.file == "" {
		return
	}
	if os.MkdirAll(filepath.Dir(b.file), 0o700) != nil {
		return
	}
	if info, err := os.Stat(b.file); err == nil && info.Size() > maxFailures {
		if kind == "skip" {
			return
		}
		_ = os.Truncate(b.file, 0)
	}
	f, err := os.OpenFile(b.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(kind + " " + strconv.FormatInt(time.Now().UnixMilli(), 10) + "\n")
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
	data, err := os.ReadFile(taken)
	if err != nil {
		return
	}
	// Others may have failed since this run began: those are still to be told.
	since := strings.Count(string(data), "\n") - strings.Count("\n"+string(data), "\n"+reached+" ") - b.count
	for range since {
		b.note("skip")
	}
	b.count = 0
}
