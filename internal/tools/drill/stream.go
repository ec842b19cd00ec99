package drill

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Follow reads an org's events from a server, from after an id on, until the
// stream ends or says nothing for a while, and calls fn with each id and type.
// An error is what fn said; that a stream broke off is none.
func (c *Client) Follow(ctx context.Context, at *Server, after int, fn func(id int, kind string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+at.Addr+"/v1/stream", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Last-Event-ID", strconv.Itoa(after))
	quiet := time.AfterFunc(streamQuiet, cancel)
	defer quiet.Stop()
	res, err := (&http.Client{Transport: c.HTTP.Transport}).Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil
	}
	id := 0
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(make([]byte, 4<<10), 4<<20)
	for lines.Scan() {
		quiet.Reset(streamQuiet)
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			if id, err = strconv.Atoi(value); err != nil {
				return fmt.Errorf("an event's id is %q", value)
			}
		case "event":
			if id > 0 {
				if err := fn(id, value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// streamQuiet is how long a stream may say nothing: it says that it is alive
// more often.
const streamQuiet = 20 * time.Second
