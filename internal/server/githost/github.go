package githost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v88/github"

	"github.com/svc-hq/svc/internal/core/coord"
)

// GitHub is a client of one or more GitHubs, as the apps that were made there.
type GitHub struct {
	transport http.RoundTripper

	mu      sync.Mutex
	clients map[Access]*github.Client // each keeps its token until it expires
}

// NewGitHub returns a client that sends its requests through transport.
func NewGitHub(transport http.RoundTripper) *GitHub {
	return &GitHub{transport: transport, clients: map[Access]*github.Client{}}
}

// APIOf returns where the API of the GitHub at a web address is: of
// github.com, of a company's own server, or of one on ghe.com.
func APIOf(web string) string {
	u, err := url.Parse(web)
	if err != nil {
		return web
	}
	switch host := strings.ToLower(u.Hostname()); {
	case host == "github.com" || host == "www.github.com":
		return "https://api.github.com"
	case strings.HasSuffix(host, ".ghe.com"):
		return u.Scheme + "://api." + u.Host
	}
	return strings.TrimSuffix(web, "/") + "/api/v3"
}

// Access is what it takes to act as an app, as one of its installations, or as
// whoever a token belongs to.
type Access struct {
	API          string
	AppID        int64
	Installation int64 // 0 for the app itself
	PEM          string
	Token        string // of a person, in place of the app
}

// At returns a GitHub as a host, seen by an installation of an app.
func (g *GitHub) At(a Access) Host { return onGitHub{g, a} }

type onGitHub struct {
	*GitHub
	access Access
}

// client returns a client that acts with the given access.
func (g *GitHub) client(a Access) (*github.Client, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.clients[a]; c != nil {
		return c, nil
	}
	if a.Token != "" {
		return g.plain(a.API, bearer{g.transport, a.Token}) // not kept: a token may be replaced at any time
	}
	app, err := ghinstallation.NewAppsTransport(g.transport, a.AppID, []byte(a.PEM))
	if err != nil {
		return nil, fmt.Errorf("the app's private key: %w", err)
	}
	app.BaseURL = a.API
	var as http.RoundTripper = app
	if a.Installation != 0 {
		t := ghinstallation.NewFromAppsTransport(app, a.Installation)
		t.BaseURL = a.API
		as = t
	}
	c, err := g.plain(a.API, as)
	if err == nil {
		g.clients[a] = c
	}
	return c, err
}

// bearer sends a token along.
type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

func (g *GitHub) plain(api string, t http.RoundTripper) (*github.Client, error) {
	base := api + "/"
	return github.NewClient(github.WithURLs(&base, &base), github.WithUserAgent("svc"),
		github.WithHTTPClient(&http.Client{
			Transport:     t,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}))
}

// An App is a GitHub App that was just made.
type App struct {
	ID                               int64
	Slug, Name, Owner, URL, ClientID string
	PEM, WebhookSecret, ClientSecret string
}

// Convert turns the code that GitHub gave for a manifest into the app. It
// works once.
func (g *GitHub) Convert(ctx context.Context, api, code string) (App, error) {
	c, err := g.plain(api, g.transport)
	if err != nil {
		return App{}, err
	}
	made, _, err := c.Apps.CompleteAppManifest(ctx, url.PathEscape(code))
	if err != nil {
		return App{}, err
	}
	a := App{
		ID:            made.GetID(),
		Slug:          made.GetSlug(),
		Name:          made.GetName(),
		Owner:         made.GetOwner().GetLogin(),
		URL:           made.GetHTMLURL(),
		ClientID:      made.GetClientID(),
		PEM:           made.GetPEM(),
		WebhookSecret: made.GetWebhookSecret(),
		ClientSecret:  made.GetClientSecret(),
	}
	if a.ID == 0 || a.PEM == "" || a.WebhookSecret == "" {
		return App{}, errors.New("GitHub made an app without an id, a private key or a webhook secret")
	}
	return a, nil
}

// Installations returns where an app is installed, without the repositories.
func (g *GitHub) Installations(ctx context.Context, a Access) (out []Installed, err error) {
	c, err := g.client(a)
	if err != nil {
		return nil, err
	}
	for i, err := range c.Apps.ListInstallationsIter(ctx, &github.ListOptions{PerPage: 100}) {
		if err != nil {
			return nil, err
		}
		out = append(out, *installedOf(i))
	}
	return out, nil
}

// Repositories returns the names of an installation's repositories.
func (g *GitHub) Repositories(ctx context.Context, a Access) (out []string, err error) {
	c, err := g.client(a)
	if err != nil {
		return nil, err
	}
	for r, err := range c.Apps.ListReposIter(ctx, &github.ListOptions{PerPage: 100}) {
		if err != nil {
			return nil, err
		}
		out = append(out, r.GetFullName())
	}
	return unique(out), nil
}

// Redeliver asks GitHub, which never does so by itself, to send again what did
// not arrive since a moment: deliveries that failed and were not followed by
// one of the same name that succeeded. It returns how many there were.
func (g *GitHub) Redeliver(ctx context.Context, a Access, since coord.Time) (n int, err error) {
	c, err := g.client(a)
	if err != nil {
		return 0, err
	}
	failed, order := map[string]int64{}, []string{}
	arrived := map[string]bool{}
	for d, err := range c.Apps.ListHookDeliveriesIter(ctx, &github.ListCursorOptions{PerPage: 100}) { // newest first
		if err != nil {
			return 0, err
		}
		if stamp(d.DeliveredAt) < since {
			break
		}
		guid := d.GetGUID()
		switch ok := d.GetStatusCode() >= 200 && d.GetStatusCode() < 300; {
		case ok:
			arrived[guid] = true
		case refusedForGood(d.GetStatusCode()):
		case failed[guid] == 0 && !arrived[guid]:
			failed[guid] = d.GetID()
			order = append(order, guid)
		}
	}
	for _, guid := range order {
		if arrived[guid] {
			continue
		}
		var accepted *github.AcceptedError
		if _, _, err := c.Apps.RedeliverHookDelivery(ctx, failed[guid]); err != nil && !errors.As(err, &accepted) {
			return n, err
		}
		n++
	}
	return n, nil
}

// refusedForGood tells that we refused a delivery, so that another try would
// end alike.
func refusedForGood(status int) bool {
	return status >= 400 && status < 500 && status != 408 && status != 429
}

// Wait returns how long a host asks to wait after an error, 0 if it does not.
func Wait(err error, now time.Time) time.Duration {
	var lab *gitlabError
	var rate *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	switch {
	case errors.As(err, &rate):
		return max(time.Minute, rate.Rate.Reset.Sub(now))
	case errors.As(err, &abuse):
		if abuse.RetryAfter != nil {
			return max(time.Second, *abuse.RetryAfter)
		}
		return time.Minute
	case errors.As(err, &lab):
		return lab.Wait
	}
	return 0
}

// Refused reports whether an error says that a host does not take the token.
func Refused(err error) bool { return statusOf(err) == http.StatusUnauthorized }

// statusOf returns what a host answered, 0 if it did not.
func statusOf(err error) int {
	var lab *gitlabError
	var answer *github.ErrorResponse
	var token *ghinstallation.HTTPError
	switch {
	case errors.As(err, &lab):
		return lab.Status
	case errors.As(err, &answer) && answer.Response != nil:
		return answer.Response.StatusCode
	case errors.As(err, &token) && token.Response != nil:
		return token.Response.StatusCode
	}
	return 0
}

// Gone reports whether an error says that what was asked for is not there, or
// that we may not touch it: another try would end alike.
func Gone(err error) bool {
	var lab *gitlabError
	if errors.As(err, &lab) {
		return lab.gone()
	}
	switch statusOf(err) {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity, http.StatusUnavailableForLegalReasons:
		return true
	}
	return false
}
