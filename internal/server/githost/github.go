package githost

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
)

// GitHub is a client of one or more GitHubs, as the apps that were made there.
type GitHub struct {
	http *http.Client

	mu     sync.Mutex
	tokens map[Access]*installationToken
}

// NewGitHub returns a client that sends its requests through transport.
func NewGitHub(transport http.RoundTripper) *GitHub {
	return &GitHub{http: client(transport), tokens: map[Access]*installationToken{}}
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

// call asks GitHub with the given access, in which nothing may be set but where
// it is.
func (g *GitHub) call(ctx context.Context, a Access, method, path string, query url.Values, in, out any) (http.Header, error) {
	auth, err := g.authorization(ctx, a)
	if err != nil {
		return nil, err
	}
	return g.ask(ctx, a.API, auth, method, path, query, in, out)
}

func (g *GitHub) ask(ctx context.Context, api, auth, method, path string, query url.Values, in, out any) (http.Header, error) {
	header := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"}}
	if auth != "" {
		header.Set("Authorization", "Bearer "+auth)
	}
	return exchange(ctx, g.http, "GitHub", method, api+"/"+path+"?"+query.Encode(), header, in, out)
}

// pages asks for one page of a list after the other.
func pages[T any](ctx context.Context, g *GitHub, a Access, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for query = page(query); query != nil; {
			var out T
			header, err := g.call(ctx, a, http.MethodGet, path, query, nil, &out)
			if !yield(out, err) || err != nil {
				return
			}
			query = nextPage(header)
		}
	}
}

// nextPage returns what to ask for after a page, nil after the last. Of the
// address that GitHub gives only the query counts: the token goes nowhere else.
func nextPage(header http.Header) url.Values {
	for link := range strings.SplitSeq(strings.Join(header.Values("Link"), ","), ",") {
		address, rest, _ := strings.Cut(strings.TrimSpace(link), ">")
		if !strings.Contains(rest, `rel="next"`) {
			continue
		}
		if u, err := url.Parse(strings.TrimPrefix(address, "<")); err == nil {
			return u.Query()
		}
	}
	return nil
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
	var made struct {
		ID            int64
		Slug, Name    string
		Owner         account
		HTMLURL       string `json:"html_url"`
		ClientID      string `json:"client_id"`
		ClientSecret  string `json:"client_secret"`
		WebhookSecret string `json:"webhook_secret"`
		PEM           string
	}
	if _, err := g.ask(ctx, api, "", http.MethodPost, "app-manifests/"+url.PathEscape(code)+"/conversions", nil, nil, &made); err != nil {
		return App{}, err
	}
	a := App{
		ID:            made.ID,
		Slug:          made.Slug,
		Name:          made.Name,
		Owner:         made.Owner.Login,
		URL:           made.HTMLURL,
		ClientID:      made.ClientID,
		PEM:           made.PEM,
		WebhookSecret: made.WebhookSecret,
		ClientSecret:  made.ClientSecret,
	}
	if a.ID == 0 || a.PEM == "" || a.WebhookSecret == "" {
		return App{}, errors.New("GitHub made an app without an id, a private key or a webhook secret")
	}
	return a, nil
}

// Installations returns where an app is installed, without the repositories.
func (g *GitHub) Installations(ctx context.Context, a Access) (out []Installed, err error) {
	for list, err := range pages[[]installation](ctx, g, a, "app/installations", url.Values{}) {
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			out = append(out, *i.installed())
		}
	}
	return out, nil
}

// Repositories returns the names of an installation's repositories.
func (g *GitHub) Repositories(ctx context.Context, a Access) (out []string, err error) {
	type list struct{ Repositories []repository }
	for l, err := range pages[list](ctx, g, a, "installation/repositories", url.Values{}) {
		if err != nil {
			return nil, err
		}
		out = append(out, names(l.Repositories)...)
	}
	return unique(out), nil
}

// Redeliver asks GitHub, which never does so by itself, to send again what did
// not arrive since a moment: deliveries that failed and were not followed by
// one of the same name that succeeded. It returns how many there were.
func (g *GitHub) Redeliver(ctx context.Context, a Access, since coord.Time) (n int, err error) {
	type delivery struct {
		ID          int64
		GUID        string
		DeliveredAt hubTime `json:"delivered_at"`
		StatusCode  int     `json:"status_code"`
	}
	failed, order := map[string]int64{}, []string{}
	arrived := map[string]bool{}
	reached := false
	for list, err := range pages[[]delivery](ctx, g, a, "app/hook/deliveries", url.Values{}) { // newest first
		if err != nil {
			return 0, err
		}
		for _, d := range list {
			if reached = coord.Time(d.DeliveredAt) < since; reached {
				break
			}
			switch ok := d.StatusCode >= 200 && d.StatusCode < 300; {
			case ok:
				arrived[d.GUID] = true
			case refusedForGood(d.StatusCode):
			case failed[d.GUID] == 0 && !arrived[d.GUID]:
				failed[d.GUID] = d.ID
				order = append(order, d.GUID)
			}
		}
		if reached {
			break
		}
	}
	for _, guid := range order {
		if arrived[guid] {
			continue
		}
		path := "app/hook/deliveries/" + strconv.FormatInt(failed[guid], 10) + "/attempts"
		if _, err := g.call(ctx, a, http.MethodPost, path, nil, nil, nil); err != nil {
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
