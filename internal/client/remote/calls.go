package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Health asks whether the server is there; it needs no token. Date is the
// server's clock, zero when it did not say.
func (c *Client) Health(ctx context.Context) (date time.Time, err error) {
	req, err := c.request(ctx, http.MethodGet, "/healthz", nil)
	if err != nil {
		return date, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return date, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	var out wire.Health
	if err := c.decode(res, &out); err != nil {
		return date, err
	}
	if out.Status != "ok" {
		return date, &Unreachable{Server: c.server, Detail: c.server + " says it is not well: status " + strconv.Quote(out.Status)}
	}
	date, _ = http.ParseTime(res.Header.Get("Date"))
	return date, nil
}

// Version returns the release that the server is of, as its document of the API
// says.
func (c *Client) Version(ctx context.Context) (string, error) {
	data, err := c.Fetch(ctx, "/openapi.json", maxReply)
	if err != nil {
		return "", err
	}
	var doc struct {
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}
	err = json.Unmarshal(data, &doc)
	return doc.Info.Version, err
}

// Me returns who the token is.
func (c *Client) Me(ctx context.Context) (wire.Me, error) { return get[wire.Me](ctx, c, "/v1/me", nil) }

// Usage returns what the org uses of its plan.
func (c *Client) Usage(ctx context.Context) (wire.Usage, error) {
	return get[wire.Usage](ctx, c, "/v1/usage", nil)
}

// A Filter narrows a list; empty fields do not.
type Filter struct {
	Repo   string
	Owner  string // me or an email
	Status string // live or statuses, comma-separated
	Person string // me or an email, a party of a conflict
	// Kind and Severity are of conflicts, comma-separated.
	Kind, Severity string
	Mine           bool
	Intent         string
	Unread         bool
	Limit          int
	Cursor         string
}

func (f Filter) query() url.Values {
	q := url.Values{}
	for k, v := range map[string]string{"repo": f.Repo, "owner": f.Owner, "status": f.Status, "intent": f.Intent, "cursor": f.Cursor,
		"person": f.Person, "kind": f.Kind, "severity": f.Severity} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if f.Mine {
		q.Set("mine", "true")
	}
	if f.Unread {
		q.Set("unread_only", "true")
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return q
}

// Intents returns one page of intents.
func (c *Client) Intents(ctx context.Context, f Filter) (wire.Page[coord.Intent], error) {
	return get[wire.Page[coord.Intent]](ctx, c, "/v1/intents", f.query())
}

// Intent returns one intent.
func (c *Client) Intent(ctx context.Context, ref string) (coord.Intent, error) {
	return get[coord.Intent](ctx, c, "/v1/intents/"+url.PathEscape(ref), nil)
}

// Handoff gives an intent to another member.
func (c *Client) Handoff(ctx context.Context, ref, to, note string) (wire.HandedOff, error) {
	in := map[string]string{"to": to}
	if note != "" {
		in["note"] = note
	}
	return post[wire.HandedOff](ctx, c, "/v1/intents/"+url.PathEscape(ref)+"/handoff", in)
}

// Conflicts returns one page of conflicts.
func (c *Client) Conflicts(ctx context.Context, f Filter) (wire.Page[coord.Conflict], error) {
	return get[wire.Page[coord.Conflict]](ctx, c, "/v1/conflicts", f.query())
}

// Conflict returns one conflict.
func (c *Client) Conflict(ctx context.Context, ref string) (coord.Conflict, error) {
	return get[coord.Conflict](ctx, c, "/v1/conflicts/"+url.PathEscape(ref), nil)
}

// Inbox returns one page of the caller's messages, which become read.
func (c *Client) Inbox(ctx context.Context, f Filter) (wire.Page[coord.Message], error) {
	return get[wire.Page[coord.Message]](ctx, c, "/v1/messages", f.query())
}

// SendMessage posts body to a target such as user:<email> or channel:team.
func (c *Client) SendMessage(ctx context.Context, to, body string) (coord.Message, error) {
	return post[coord.Message](ctx, c, "/v1/messages", map[string]string{"to": to, "body": body})
}

// CheckScope tells what editing something would run into.
func (c *Client) CheckScope(ctx context.Context, in wire.ScopeCheck) (wire.ScopeChecked, error) {
	return post[wire.ScopeChecked](ctx, c, "/v1/scope-check", in)
}

// ExchangePatches hands over work that is not pushed, and returns what related
// work has.
func (c *Client) ExchangePatches(ctx context.Context, in wire.ExchangePatches) (out wire.Patches, err error) {
	return out, c.Send(ctx, http.MethodPost, "/v1/patches", in, &out)
}

// CheckPush asks whether commits may arrive on a branch.
func (c *Client) CheckPush(ctx context.Context, in wire.CheckPush) (wire.PushChecked, error) {
	return post[wire.PushChecked](ctx, c, "/v1/push-check", in)
}

// Presence returns teammates' live agents.
func (c *Client) Presence(ctx context.Context, repo string) (wire.Page[wire.Online], error) {
	return get[wire.Page[wire.Online]](ctx, c, "/v1/presence", Filter{Repo: repo, Limit: 100}.query())
}

// Live tells what is under way in a file; lines are told in the count of base
// where the server knows how.
func (c *Client) Live(ctx context.Context, repo, path, base string) (wire.LiveFile, error) {
	q := url.Values{"repo": {repo}, "path": {path}}
	if base != "" {
		q.Set("base", base)
	}
	return get[wire.LiveFile](ctx, c, "/v1/live", q)
}

// Attention returns what waits for the caller.
func (c *Client) Attention(ctx context.Context, limit int) (wire.Attention, error) {
	return get[wire.Attention](ctx, c, "/v1/attention", Filter{Limit: limit}.query())
}

// Members returns every member of the org.
func (c *Client) Members(ctx context.Context) ([]coord.Membership, error) {
	return all[coord.Membership](ctx, c, "/v1/members")
}

// AddMember adds a member and returns a token of theirs, which an admin may
// make.
func (c *Client) AddMember(ctx context.Context, email string) (token string, err error) {
	if _, err := post[json.RawMessage](ctx, c, "/v1/members", map[string]string{"email": email, "role": string(coord.Member)}); err != nil {
		return "", err
	}
	made, err := post[struct {
		Token string `json:"token"`
	}](ctx, c, "/v1/tokens", map[string]string{"name": "made for " + email, "user_email": email})
	return made.Token, err
}

// Repos returns every repository that the org has registered.
func (c *Client) Repos(ctx context.Context) ([]coord.Repo, error) {
	return all[coord.Repo](ctx, c, "/v1/repos")
}

// CreateRepo registers a repository.
func (c *Client) CreateRepo(ctx context.Context, in wire.CreateRepo) error {
	_, err := post[coord.Repo](ctx, c, "/v1/repos", in)
	return err
}

// Declare says what will be done.
func (c *Client) Declare(ctx context.Context, in wire.DeclareIntent) (wire.Declared, error) {
	return post[wire.Declared](ctx, c, "/v1/intents", in)
}

// CloseIntent ends an intent.
func (c *Client) CloseIntent(ctx context.Context, ref string, outcome coord.Outcome, note string) error {
	in := map[string]string{"outcome": string(outcome), "note": note}
	_, err := post[coord.Intent](ctx, c, "/v1/intents/"+url.PathEscape(ref)+"/close", in)
	return err
}

// all returns every page of a list.
func all[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	return allOf[T](ctx, c, path, Filter{Limit: 200})
}

// allOf returns every page of what a filter lets through.
func allOf[T any](ctx context.Context, c *Client, path string, f Filter) ([]T, error) {
	var all []T
	for {
		page, err := get[wire.Page[T]](ctx, c, path, f.query())
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.NextCursor == nil {
			return all, nil
		}
		f.Cursor = *page.NextCursor
	}
}

// Evaluate sends a hook event.
func (c *Client) Evaluate(ctx context.Context, in wire.HookRequest) (out wire.HookReply, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/hooks/evaluate", http.Header{"X-Svc-Protocol": {wire.HookProtocol}}, in, &out)
	return out, err
}

// Visit plays a session that nobody else sees anything of, and returns how its
// beginning was answered. The first event in a repository makes it known.
func (c *Client) Visit(ctx context.Context, name string, client wire.HookClient, repo wire.HookRepo) (reply wire.HookReply, err error) {
	req := wire.HookRequest{Session: wire.HookSession{ExternalID: name, Tool: wire.DoctorTool}, Client: client, Repo: repo}
	for _, e := range []wire.HookEvent{wire.HookSessionStart, wire.HookSessionEnd} {
		req.Event, req.DedupeKey = e, name+"-"+string(e)
		said, err := c.Evaluate(ctx, req)
		if err != nil {
			return reply, fmt.Errorf("%s failed: %w", e, err)
		}
		if e == wire.HookSessionStart {
			reply = said
		}
		if reply.SessionID == nil {
			break
		}
	}
	return reply, nil
}

// StartDevice begins a login in the browser.
func (c *Client) StartDevice(ctx context.Context, hostname, org string, admin bool) (wire.DeviceStarted, error) {
	in := wire.StartDevice{Hostname: hostname, CLIVersion: version.Version, Admin: admin, Org: org}
	return post[wire.DeviceStarted](ctx, c, "/v1/auth/device", in)
}

// PollDevice asks whether the login was approved. Not yet is a problem of
// kind AuthorizationPending or SlowDown.
func (c *Client) PollDevice(ctx context.Context, deviceCode string) (wire.DeviceIssued, error) {
	return post[wire.DeviceIssued](ctx, c, "/v1/auth/device/token", wire.DeviceToken{DeviceCode: deviceCode})
}

// RevokeToken makes a token invalid.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/v1/tokens/"+url.PathEscape(id), nil, nil, nil)
}

// Fetch reads a document of the server that needs no token, such as the
// release manifest, at most limit bytes of it.
func (c *Client) Fetch(ctx context.Context, path string, limit int64) ([]byte, error) {
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Del("Authorization")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		if err := c.decode(res, nil); err != nil {
			return nil, err
		}
	}
	if kind := res.Header.Get("Content-Type"); !strings.Contains(kind, "json") {
		return nil, &Unreachable{Server: c.server, Detail: c.server + path + " is " + orNothing(kind) + ", not JSON; is the address right?"}
	}
	return io.ReadAll(io.LimitReader(res.Body, limit))
}

// Index feeds a repo's contract index; repo is a selector, escaped for a path.
func (c *Client) Index(ctx context.Context, repo string, in wire.IndexFiles) (out wire.Indexed, err error) {
	// in as it is would send the path's parameter in the body too.
	body := map[string]any{"files": in.Files, "removed": in.Removed, "complete": in.Complete}
	err = c.call(ctx, http.MethodPost, "/v1/repos/"+repo+"/index", nil, body, &out)
	return out, err
}

// Send makes any request of the API and decodes the reply into out, if any.
func (c *Client) Send(ctx context.Context, method, path string, in, out any) error {
	return c.call(ctx, method, path, nil, in, out)
}

// Raw makes any request of the API and returns the reply as it came; nothing
// where there is none.
func (c *Client) Raw(ctx context.Context, method, path string, in any) (json.RawMessage, error) {
	var out json.RawMessage
	err := c.call(ctx, method, path, nil, in, &out)
	return out, err
}

// Tagged is Send for what has versions: it changes only the version that match
// names, if any, and returns the version of the reply.
func (c *Client) Tagged(ctx context.Context, method, path, match string, in, out any) (version string, err error) {
	header := http.Header{}
	if match != "" {
		header.Set("If-Match", match)
	}
	err = c.exchange(ctx, method, path, header, in, out, func(res *http.Response) { version = res.Header.Get("ETag") })
	return version, err
}

// LiveSessions returns every session whose agent is at work, or was a moment
// ago.
func (c *Client) LiveSessions(ctx context.Context) ([]coord.Session, error) {
	return allOf[coord.Session](ctx, c, "/v1/sessions", Filter{Status: "live", Limit: 200})
}

// LiveIntents returns every intent that has not ended.
func (c *Client) LiveIntents(ctx context.Context) ([]coord.Intent, error) {
	return allOf[coord.Intent](ctx, c, "/v1/intents", Filter{Status: "live", Limit: 200})
}

// Branches returns the work of people who do not use svc, in a repository or in
// all. A server that is older than that knows of none.
func (c *Client) Branches(ctx context.Context, repo string) ([]wire.Branch, error) {
	all, err := allOf[wire.Branch](ctx, c, "/v1/branches", Filter{Repo: repo, Limit: 200})
	if problem.KindOf(err) == problem.NotFound {
		return nil, nil
	}
	return all, err
}

// LiveIn returns every session and intent of a repository that has not ended.
func (c *Client) LiveIn(ctx context.Context, repo string) (sessions []coord.Session, intents []coord.Intent, err error) {
	f := Filter{Repo: repo, Status: "live", Limit: 200}
	if sessions, err = allOf[coord.Session](ctx, c, "/v1/sessions", f); err != nil {
		return nil, nil, err
	}
	intents, err = allOf[coord.Intent](ctx, c, "/v1/intents", f)
	return sessions, intents, err
}

// LiveConflicts returns every conflict that has not ended.
func (c *Client) LiveConflicts(ctx context.Context) ([]coord.Conflict, error) {
	return allOf[coord.Conflict](ctx, c, "/v1/conflicts", Filter{Status: "live", Limit: 200})
}
