package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/svc-hq/svc/internal/client/remote"
)

// send sends a request and prints the answer: as JSON, or as show says it.
func send[T any](ctx context.Context, a *app, method, path string, in any, show func(T)) error {
	c, _, err := a.client()
	if err != nil {
		return err
	}
	var out T
	if err := c.Send(ctx, method, path, in, &out); err != nil {
		return err
	}
	if a.json {
		return a.PrintJSON(out)
	}
	show(out)
	return nil
}

// shown asks for what is wanted and prints it.
func shown[W, T any](ctx context.Context, a *app, want W, ask func(*remote.Client, context.Context, W) (T, error), show func(T)) error {
	c, _, err := a.client()
	if err != nil {
		return err
	}
	got, err := ask(c, ctx, want)
	if err != nil {
		return err
	}
	if a.json {
		return a.PrintJSON(got)
	}
	show(got)
	return nil
}

// do makes a request whose answer matters to programs only.
func (a *app) do(ctx context.Context, method, path string, in any, did string) error {
	c, _, err := a.client()
	if err != nil {
		return err
	}
	out, err := c.Raw(ctx, method, path, in)
	if err != nil {
		return err
	}
	if a.json {
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
