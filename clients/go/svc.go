// Package svc is a client of svc for programs that start agents: boards and
// managers of worktrees. It declares work on behalf of the agents, follows what
// happens, asks in which order the work should land, and ends it. See
// docs/orchestrators.md.
//
// The types are generated from the API's document (make clients); the rest is
// written by hand, and needs no module but this one.
package svc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/svc-hq/svc/internal/client/local"
)

// A Client speaks with one service. It is safe for concurrent use.
type Client struct {
	Server string       // such as https://svc.example.com
	Token  string       // such as svc_...
	HTTP   *http.Client // nil for http.DefaultClient
}

// ErrNoService means that nothing says which service to speak with.
var ErrNoService = errors.New("no svc here: run svc up, or set SVC_SERVER and SVC_TOKEN")

// Find returns a client of the service that SVC_SERVER and SVC_TOKEN name, else
// of the local service, if it runs.
func Find() (*Client, error) {
	if server, token := os.Getenv("SVC_SERVER"), os.Getenv("SVC_TOKEN"); server != "" && token != "" {
		return &Client{Server: server, Token: token}, nil
	}
	place, err := local.Locate(os.Getenv)
	if err != nil {
		return nil, err
	}
	if s, ok := place.Running(); ok {
		return &Client{Server: s.Server, Token: s.Token}, nil
	}
	return nil, ErrNoService
}

// A Problem is the service's refusal, as RFC 9457 has it.
type Problem struct{ Body }

// Kind is what went wrong in one word: validation, not-found, rate-limited.
func (p *Problem) Kind() string { return strings.TrimPrefix(p.Type, "urn:svc:problem:") }

func (p *Problem) Error() string {
	text := fmt.Sprintf("svc: %s (%d)", p.Title, p.Status)
	if p.Detail != nil {
		text += ": " + *p.Detail
	}
	if p.Errors != nil {
		for _, e := range *p.Errors {
			text += fmt.Sprintf("; %s %s", e.Path, e.Message)
		}
	}
	return text
}

// Work is what an agent is about to do.
type Work = PostIntentsJSONBody

// Register makes a repository known, as its first agent's hook would. One that
// is known already is no error.
func (c *Client) Register(ctx context.Context, fullName string, remotes ...string) error {
	in := PostReposJSONBody{FullName: fullName}
	if len(remotes) > 0 {
		in.Remotes = &remotes
	}
	err := c.call(ctx, http.MethodPost, "/v1/repos", in, nil)
	var refused *Problem
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil
	}
	return err
}

// Declare announces work, and returns it with what it collides with. Declared
// again on the same branch, it is updated. SessionId says for which agent it is.
func (c *Client) Declare(ctx context.Context, work Work) (out Declared, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/intents", work, &out)
	return out, err
}

// Session returns the live session of an agent on a branch of a repository, nil
// where there is none (yet).
func (c *Client) Session(ctx context.Context, repo, branch string) (*Session, error) {
	for cursor := ""; ; {
		var page SessionPage
		q := url.Values{"repo": {repo}, "status": {"live"}, "limit": {"200"}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		if err := c.call(ctx, http.MethodGet, "/v1/sessions?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for i, s := range page.Items {
			if s.Branch != nil && *s.Branch == branch {
				return &page.Items[i], nil
			}
		}
		if page.NextCursor == nil {
			return nil, nil
		}
		cursor = *page.NextCursor
	}
}

// Landing returns the order in which the live work of a repository costs the
// fewest lines to redo.
func (c *Client) Landing(ctx context.Context, repo string) (out Landing, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/repos/"+url.PathEscape(repo)+"/landing", nil, &out)
	return out, err
}

// End closes work as merged or abandoned, and with it what it claimed.
func (c *Client) End(ctx context.Context, ref string, outcome PostIntentsByRefCloseJSONBodyOutcome) error {
	return c.call(ctx, http.MethodPost, "/v1/intents/"+url.PathEscape(ref)+"/close", PostIntentsByRefCloseJSONBody{Outcome: outcome}, nil)
}

func (c *Client) request(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.Server, "/")+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	with := c.HTTP
	if with == nil {
		with = http.DefaultClient
	}
	res, err := with.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	refused := &Problem{Body{Status: res.StatusCode, Title: res.Status}}
	_ = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&refused.Body) // a proxy's answer is none of ours
	return nil, refused
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	res, err := c.request(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
