package githost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Both hosts are asked a handful of things, which is less than their libraries
// would bring along: GitHub's alone takes ten seconds of processor time to
// compile.

// maxAnswer is how much of an answer is read.
const maxAnswer = 32 << 20

// A hostError is an answer that is no success.
type hostError struct {
	Host   string
	Status int
	What   string        // was asked
	Said   string        // in the host's words, if any
	Wait   time.Duration // as asked for; 0 if it was not
}

func (e *hostError) Error() string {
	said := e.Said
	if said != "" {
		said = ": " + said
	}
	return fmt.Sprintf("%s answered %d to %s%s", e.Host, e.Status, e.What, said)
}

// client returns one that follows nothing elsewhere: a request carries a token.
func client(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// exchange sends a request, with in as its body unless that is nil, and decodes
// the answer into out, unless that is nil.
func exchange(ctx context.Context, c *http.Client, host, method, address string, header http.Header, in, out any) (http.Header, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("User-Agent", "svc")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	what := method + " " + req.URL.Path
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		var said struct{ Message string }
		_ = json.Unmarshal(text, &said) // the status alone is an answer, too
		return nil, &hostError{Host: host, Status: res.StatusCode, What: what, Said: said.Message, Wait: waitOf(res)}
	}
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer of %s to %s cannot be read: %w", host, what, err)
	}
	return res.Header, nil
}

// waitOf returns how long an answer asks to wait, at most an hour: a minute at
// least where it says only that there were too many requests.
func waitOf(res *http.Response) time.Duration {
	spent := res.Header.Get("X-RateLimit-Remaining") == "0"
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	switch limits := res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusForbidden; {
	case limits && err == nil:
		return min(max(time.Second, time.Duration(seconds)*time.Second), time.Hour)
	case limits && spent:
		reset, _ := strconv.ParseInt(res.Header.Get("X-RateLimit-Reset"), 10, 64)
		return min(max(time.Minute, time.Until(time.Unix(reset, 0))), time.Hour)
	case res.StatusCode == http.StatusTooManyRequests:
		return time.Minute
	}
	return 0
}

// Wait returns how long a host asks to wait after an error, 0 if it does not.
func Wait(err error) time.Duration {
	if e := (*hostError)(nil); errors.As(err, &e) {
		return e.Wait
	}
	return 0
}

// statusOf returns what a host answered, 0 if it did not, or if it only asked to
// wait.
func statusOf(err error) int {
	if e := (*hostError)(nil); errors.As(err, &e) && e.Wait == 0 {
		return e.Status
	}
	return 0
}

// Refused reports whether an error says that a host does not take the token.
func Refused(err error) bool { return statusOf(err) == http.StatusUnauthorized }

// Gone reports whether an error says that what was asked for is not there, or
// that we may not touch it: another try would end alike.
func Gone(err error) bool {
	switch status := statusOf(err); status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return status >= 300 && status < 500
	}
}

// missing reports whether an error says that there is no such thing.
func missing(err error) bool {
	status := statusOf(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// A page asks for a hundred entries of a list.
func page(query url.Values) url.Values {
	query.Set("per_page", "100")
	return query
}
