package badline

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// A Way is what a client of PostgreSQL sends before it waits for answers: the
// statements that are run, or none, where they are only prepared.
type Way []string

// Besides reports whether a way is none that a request to svcd waits for: a read
// whose answers are there is ended, others are told of a commit, and what svcd
// does by itself.
func (w Way) Besides() bool {
	if len(w) == 1 && (w[0] == "COMMIT" || strings.Contains(w[0], "pg_notify")) {
		return true
	}
	return slices.ContainsFunc(w, func(statement string) bool {
		return slices.ContainsFunc([]string{" fanouts ", " jobs ", " replicas ", " event_heads ", " event_seals "},
			func(what string) bool { return strings.Contains(statement, what) })
	})
}

// Ways returns the ways that were taken since CountWays, or since Ways was last
// asked for. They are the same however busy the machine is.
func (p *Line) Ways() []Way {
	p.mu.Lock()
	defer p.mu.Unlock()
	ways := p.ways
	p.ways = nil
	return ways
}

// CountWays has a line to PostgreSQL count, on the connections that are made from
// now on.
func (p *Line) CountWays() { p.counts.Store(true) }

// A counter reads what one client sends.
type counter struct {
	line    *Line
	started bool              // whether it has said who it is
	rest    []byte            // of a message
	named   map[string]string // statements that were prepared
	run     Way               // so far
}

// What begins a connection with a question instead of saying who it is.
const (
	asksForTLS    = 80877103
	asksForGSSAPI = 80877104
)

// read counts the messages that PostgreSQL answers with being ready for more:
// Sync, after what was sent in one go, and Query.
func (c *counter) read(data []byte) {
	c.rest = append(c.rest, data...)
	for {
		head := 1 // a message begins with its type
		if !c.started {
			head = 0
		}
		if len(c.rest) < head+4 {
			return
		}
		size := head + int(binary.BigEndian.Uint32(c.rest[head:]))
		if len(c.rest) < size {
			return
		}
		switch {
		case !c.started:
			code := binary.BigEndian.Uint32(c.rest[4:])
			c.started = code != asksForTLS && code != asksForGSSAPI
		default:
			c.message(c.rest[0], c.rest[head+4:size])
		}
		c.rest = c.rest[size:]
	}
}

func (c *counter) message(kind byte, body []byte) {
	texts := bytes.SplitN(body, []byte{0}, 3)
	switch kind {
	case 'P': // prepare: the name, the statement
		c.named[string(texts[0])] = string(texts[1])
	case 'B': // run: where its rows are to go, the name
		c.run = append(c.run, c.named[string(texts[1])])
	case 'Q':
		c.run = append(c.run, string(texts[0]))
		fallthrough
	case 'S':
		p := c.line
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ways, c.run = append(p.ways, c.run), nil
	}
}
