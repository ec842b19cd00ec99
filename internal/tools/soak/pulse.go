package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/tools/drill"
)

// A pulse looks at what a slow hook may have waited for: at whether this
// machine runs anything at all, at how long its disk takes for a small write,
// and at how fast svcd answers a question that no other can hold up. Each beat
// that came far too late is kept.
type pulse struct {
	mu   sync.Mutex
	late []held
}

// missed is what makes a beat worth telling of; a healthy one takes a few milliseconds.
const missed = 100 * time.Millisecond

func (p *pulse) start(ctx context.Context, dir string, who *drill.Client, at *drill.Server, began time.Time) {
	beats := map[string]func() error{
		"the machine": func() error { return nil },
		"a write":     func() error { return write(filepath.Join(dir, "pulse")) },
		"/healthz":    func() error { return who.Call(ctx, at, "GET", "/healthz", nil, nil) },
	}
	for kind, beat := range beats {
		go p.run(ctx, kind, beat, began)
	}
}

func (p *pulse) run(ctx context.Context, kind string, beat func() error, began time.Time) {
	const between = 25 * time.Millisecond
	for ctx.Err() == nil {
		from := time.Now()
		pause(ctx, between)
		err := beat()
		if took := time.Since(from) - between; took > missed || err != nil && ctx.Err() == nil {
			p.mu.Lock()
			p.late = append(p.late, held{kind, from.Sub(began), took})
			p.mu.Unlock()
		}
	}
}

func write(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString("as much as a small commit"); err != nil {
		return err
	}
	return f.Sync()
}

// during returns what was late while a request waited, the worst of each kind.
func (p *pulse) during(h held) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	worst := map[string]time.Duration{}
	for _, l := range p.late {
		if l.at < h.at+h.took && h.at < l.at+l.took {
			worst[l.kind] = max(worst[l.kind], l.took)
		}
	}
	var kinds []string
	for k, took := range worst {
		kinds = append(kinds, fmt.Sprintf("%s took %s", k, took.Round(time.Millisecond)))
	}
	slices.Sort(kinds)
	if len(kinds) == 0 {
		return "machine, disk and /healthz were in time"
	}
	return fmt.Sprint(kinds)
}
