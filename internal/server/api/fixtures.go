//go:build conformance

package api

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
)

// A Fixture is what the conformance suite's own tool answers.
type Fixture struct {
	Text string `json:"text"`
}

// The conformance suite calls tools of these names to see a plain answer and a
// failure. They run as every tool does and are in no other build.
func init() {
	Table = append(Table,
		Op{Tool: "test_simple_text", Success: 200, Run: run(func(*outgoing.Service, context.Context, coord.Caller, wire.None) (Fixture, error) {
			return Fixture{"This is a simple text response for testing."}, nil
		})},
		Op{
			Tool:    "test_error_handling",
			Success: 200,
			Run: run(func(*outgoing.Service, context.Context, coord.Caller, wire.None) (Fixture, error) {
				return Fixture{}, problem.Newf(problem.BadRequest, "This tool intentionally returns an error for testing")
			}),
		})
}
