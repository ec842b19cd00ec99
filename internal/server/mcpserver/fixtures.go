//go:build conformance

package mcpserver

import "github.com/svc-hq/svc/internal/server/api"

func init() {
	Tools = append(Tools,
		Tool{
			Name:        "test_simple_text",
			Title:       "Fixture",
			Description: "A tool of the conformance suite",
			words:       words(func(f api.Fixture) string { return f.Text }),
		},
		Tool{Name: "test_error_handling", Title: "Fixture", Description: "A tool of the conformance suite"})
}
