// Package slacktest is a stand-in for Slack's incoming webhooks, for tests. It
// refuses what Slack refuses, with Slack's words: posts that are no JSON, blocks
// that are too many, too long or of no known kind, channels that are gone, and
// who does not wait as asked.
package slacktest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/wire"
)

// What Slack takes, by its documentation of blocks.
const (
	maxBlocks  = 50
	maxSection = 3000
	maxHeader  = 150
	maxText    = 40000
)

// A Channel is one incoming webhook.
type Channel struct {
	URL string

	t      testing.TB
	mu     sync.Mutex
	posts  []wire.ChatPost
	raw    []string
	mood   int // what it answers; 200 is to take posts
	wait   int // seconds, told with 429
	turned int // how many were sent away
}

// Start opens a channel until the test ends.
func Start(t testing.TB) *Channel {
	t.Helper()
	c := &Channel{t: t, mood: http.StatusOK}
	srv := httptest.NewServer(c)
	t.Cleanup(srv.Close)
	c.URL = srv.URL + "/services/T0/B0/x"
	return c
}

// Answers makes the channel answer so: 200, or as Slack does 403
// (action_prohibited), 404 (no_service), 410 (channel_is_archived), 500.
func (c *Channel) Answers(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mood = status
}

// Waits makes the channel ask for a break of so many seconds.
func (c *Channel) Waits(seconds int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mood, c.wait = http.StatusTooManyRequests, seconds
}

// Posts returns what was posted.
func (c *Channel) Posts() []wire.ChatPost {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.posts)
}

// Text returns all that was posted, as it came.
func (c *Channel) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.raw, "\n")
}

// Turned returns how many posts were not taken.
func (c *Channel) Turned() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turned
}

var words = map[int]string{403: "action_prohibited", 404: "no_service", 410: "channel_is_archived", 500: "rollup_error"}

func (c *Channel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mood == http.StatusTooManyRequests {
		c.turned++
		w.Header().Set("Retry-After", fmt.Sprint(c.wait))
		w.WriteHeader(c.mood)
		io.WriteString(w, "rate_limited")
		return
	}
	if c.mood != http.StatusOK {
		c.turned++
		w.WriteHeader(c.mood)
		io.WriteString(w, words[c.mood])
		return
	}
	var p wire.ChatPost
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(body, &p) != nil {
		c.refuse(w, "invalid_payload")
		return
	}
	if why := refusal(p); why != "" {
		c.refuse(w, why)
		return
	}
	c.posts, c.raw = append(c.posts, p), append(c.raw, string(body))
	io.WriteString(w, "ok")
}

// refuse answers as Slack does to what it cannot read, and fails the test: we
// are not to send such a thing.
func (c *Channel) refuse(w http.ResponseWriter, why string) {
	c.turned++
	c.t.Errorf("a post that Slack refuses: %s", why)
	w.WriteHeader(http.StatusBadRequest)
	io.WriteString(w, why)
}

func refusal(p wire.ChatPost) string {
	if p.Text == "" && len(p.Blocks) == 0 {
		return "no_text"
	}
	if len(p.Text) > maxText {
		return "msg_too_long"
	}
	if len(p.Blocks) > maxBlocks {
		return "invalid_blocks"
	}
	for _, b := range p.Blocks {
		text, _ := b["text"].(map[string]any)
		said, _ := text["text"].(string)
		n := utf8.RuneCountInString(said)
		switch b["type"] {
		case "section":
			if n == 0 || n > maxSection || text["type"] != "mrkdwn" {
				return fmt.Sprintf("invalid_blocks: a section of %d", n)
			}
		case "header":
			if n == 0 || n > maxHeader || text["type"] != "plain_text" {
				return fmt.Sprintf("invalid_blocks: a header of %d", n)
			}
		case "context":
			if elements, _ := b["elements"].([]any); len(elements) == 0 || len(elements) > 10 {
				return "invalid_blocks: a context"
			}
		default:
			return fmt.Sprintf("invalid_blocks: %v", b["type"])
		}
	}
	return ""
}
