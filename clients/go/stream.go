package svc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// An Event is one thing that happened. The types and what their payloads hold
// are in docs/reference/events.md.
type Event struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// Follow hands every event after an id to visit, as it happens, until ctx ends
// or visit returns an error: "" begins now, "0" with the first there is. Where
// the line is cut it goes on after the last event, so none is missed or told
// twice. Types such as conflict.detected limit what is heard; none is all.
func (c *Client) Follow(ctx context.Context, after string, types []string, visit func(Event) error) error {
	if after == "" { // a line that is cut before the first event must not lose any
		var latest struct{ Items []Event }
		if err := c.call(ctx, http.MethodGet, "/v1/events?limit=1", nil, &latest); err != nil {
			return err
		}
		after = "0"
		if len(latest.Items) > 0 {
			after = latest.Items[0].ID
		}
	}
	for {
		err := c.follow(ctx, &after, types, visit)
		var refused *Problem
		var own *visitError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &own):
			return own.error
		case errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(3 * time.Second):
		}
	}
}

type visitError struct{ error }

// follow reads one stream to its end.
func (c *Client) follow(ctx context.Context, after *string, types []string, visit func(Event) error) error {
	q := url.Values{}
	if *after != "" {
		q.Set("last_event_id", *after)
	}
	if len(types) > 0 {
		q.Set("types", strings.Join(types, ","))
	}
	res, err := c.request(ctx, http.MethodGet, "/v1/stream?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e Event
		if json.Unmarshal([]byte(data), &e) != nil || e.ID == "" {
			continue // the service is about to stop
		}
		*after = e.ID
		if err := visit(e); err != nil {
			return &visitError{err}
		}
	}
	return lines.Err()
}
