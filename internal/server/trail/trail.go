// Package trail follows one request through the house: which operation it was,
// who asked, and how long each part of the way took. The log has it as a line,
// the metrics as the time of a decision by stage, and a collector of traces as
// child spans: three views of the same notes, taken once. It decides nothing, and
// nothing that is decided depends on it.
package trail

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// A Stage is a part of the way. One may lie within another: a read within the
// index that is brought up to date.
type Stage int

const (
	Authentication Stage = iota // who it is
	Room                        // waiting for a place among the calls at work
	Index                       // what is live, in memory
	Read                        // reading from the database
	Transaction                 // a change, from waiting for its turn among the org's writers until it is committed
	CommitWait                  // the end of it: from when all is said until it is committed, with whatever shares the commit
	Outgoing                    // a request to another service
	stages
)

var names = [stages]string{"authentication", "room", "index", "read", "transaction", "commit_wait", "outgoing"}

func (s Stage) String() string { return names[s] }

// A Trail is what was noted of one request. The nil Trail notes nothing.
type Trail struct {
	began time.Time
	mu    sync.Mutex
	Notes
}

// Notes are what a Trail holds.
type Notes struct {
	Operation        string // a route, or a tool; empty until it is known
	Org, User, Token string // ids, never names: what is logged outlives an erased person
	took             [stages]time.Duration
	passed           [stages]bool
}

// Took calls fn for each stage that was passed, with its time.
func (n *Notes) Took(fn func(Stage, time.Duration)) {
	for s := range stages {
		if n.passed[s] {
			fn(s, n.took[s])
		}
	}
}

type key struct{}

// Begin begins the trail of a request that arrived at a time.
func Begin(ctx context.Context, at time.Time) (context.Context, *Trail) {
	t := &Trail{began: at}
	return context.WithValue(ctx, key{}, t), t
}

// Age is how long ago the request arrived.
func (t *Trail) Age() time.Duration {
	if t == nil {
		return 0
	}
	return time.Since(t.began)
}

// Of returns the trail of the request that ctx is of, nil if it is of none.
func Of(ctx context.Context) *Trail {
	t, _ := ctx.Value(key{}).(*Trail)
	return t
}

// Name notes which operation it is.
func (t *Trail) Name(operation string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Operation = operation
}

// By notes who asks.
func (t *Trail) By(org, user, token string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Org, t.User, t.Token = org, user, token
}

// Noted returns what was noted so far.
func (t *Trail) Noted() (n Notes) {
	if t == nil {
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Notes
}

func (t *Trail) passed(s Stage, took time.Duration) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.took[s] += took
	t.Notes.passed[s] = true
}

// A Step is a stage under way.
type Step struct {
	stage Stage
	trail *Trail
	span  trace.Span
	began time.Time
}

// In begins a stage of the request that ctx is of. What happens within it has
// the context that In returns.
func In(ctx context.Context, s Stage) (context.Context, Step) {
	step := Step{stage: s, trail: Of(ctx)}
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		ctx, step.span = parent.TracerProvider().Tracer(tracer).Start(ctx, s.String(), trace.WithSpanKind(kind(s)))
	}
	if step.trail != nil || step.span != nil {
		step.began = time.Now()
	}
	return ctx, step
}

// End ends the stage.
func (s Step) End() {
	if s.began.IsZero() {
		return
	}
	s.trail.passed(s.stage, time.Since(s.began))
	if s.span != nil {
		s.span.End()
	}
}

// To notes where an outgoing call goes: the host alone, since an address may
// hold a secret.
func (s Step) To(host string) Step {
	if s.span != nil {
		s.span.SetAttributes(attribute.String("server.address", host))
	}
	return s
}

type providerKey struct{}

// Traced returns a context for background work whose spans p takes.
func Traced(ctx context.Context, p trace.TracerProvider) context.Context {
	return context.WithValue(ctx, providerKey{}, p)
}

// Job begins the span of a background job, which nobody's request is the parent
// of.
func Job(ctx context.Context, name string) (_ context.Context, end func()) {
	p, _ := ctx.Value(providerKey{}).(trace.TracerProvider)
	if p == nil {
		return ctx, func() {}
	}
	ctx, span := p.Tracer(tracer).Start(ctx, "job "+name)
	return ctx, func() { span.End() }
}

const tracer = "svcd"

func kind(s Stage) trace.SpanKind {
	if s == Outgoing {
		return trace.SpanKindClient
	}
	return trace.SpanKindInternal
}
