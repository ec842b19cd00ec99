// Package records has the commands that show and change the team's records: what
// is at work, what was said about it, and who may do what. It holds no rule of the
// service: what somebody may do, the server says.
package records

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/remote"
)

// send sends a request and prints the answer: as JSON, or as show says it.
func send[T any](ctx context.Context, a *app.Run, method, path string, in any, show func(T)) error {
	var out T
	if err := change(ctx, a, method, path, func(c *remote.Client) error { return c.Send(ctx, method, path, in, &out) }); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	show(out)
	return nil
}

// shown asks for what is wanted and prints it.
func shown[W, T any](ctx context.Context, a *app.Run, want W, ask func(*remote.Client, context.Context, W) (T, error), show func(T)) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	got, err := ask(c, ctx, want)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(got)
	}
	show(got)
	return nil
}

// do makes a request whose answer matters to programs only.
func do(ctx context.Context, a *app.Run, method, path string, in any, did string) error {
	var out json.RawMessage
	err := change(ctx, a, method, path, func(c *remote.Client) (err error) {
		out, err = c.Raw(ctx, method, path, in)
		return err
	})
	if err != nil {
		return err
	}
	if a.JSON {
		if len(out) == 0 {
			out = json.RawMessage(`{}`)
		}
		return a.PrintJSON(out)
	}
	fmt.Fprintln(a.Stdout, strings.TrimSuffix(did, "\n"))
	return nil
}

// query is a path with parameters; empty ones are left out.
func query(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

func orEmpty(list []string) []string { return append([]string{}, list...) }

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
