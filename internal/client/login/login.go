// Package login keeps who the user is on this machine: the config file with
// the server, the token and the machine's id, and which of flag, environment
// and file wins. It talks to no server.
package login

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// DefaultServer is where svcd serve listens unless it was told otherwise.
const DefaultServer = "http://127.0.0.1:7780"

// A Config is the content of the config file.
type Config struct {
	Server    string         `json:"server,omitempty"`
	Token     string         `json:"token,omitempty"`
	MachineID string         `json:"machine_id,omitempty"`
	DataMode  coord.DataMode `json:"data_mode,omitempty"`
	WebURL    string         `json:"web_url,omitempty"`
	// Keychain means that the token is in the operating system's keychain, not
	// in the file.
	Keychain bool `json:"keychain,omitempty"`
	// Insecure remembers that the user accepted plain http to this server.
	Insecure bool `json:"insecure,omitempty"`
}

// A Source tells where a setting came from.
type Source string

const (
	FromFlag    Source = "flag"
	FromEnv     Source = "env"
	FromConfig  Source = "config"
	FromLocal   Source = "local" // the service of one person on this machine
	FromDefault Source = "default"
	FromNowhere Source = "none"
)

// A Login is what a command works with: the server and token that won, and
// why.
type Login struct {
	Config
	ServerSource Source
	TokenSource  Source
	// Elsewhere is the server of the stored token when that is another one:
	// a token never goes to a server it was not made for.
	Elsewhere string
}

// LoggedIn reports whether there is a token to send.
func (l Login) LoggedIn() bool { return l.Token != "" }

// Renew is what to run when the server does not take the token: a variable that
// was left over wins over every login.
func (l Login) Renew() string { return (&Unusable{l.TokenSource, "SVC_TOKEN", nil}).Fix() }

// Unusable is the error of a setting that cannot be used.
type Unusable struct {
	Source   Source
	variable string
	err      error
}

func (e *Unusable) Error() string { return e.err.Error() }

// Fix is what to run.
func (e *Unusable) Fix() string {
	if e.Source == FromEnv {
		return "unset " + e.variable
	}
	return "svc login"
}

// Overrides are a command's flags; empty ones were not given.
type Overrides struct {
	Server string
	Token  string
}

// Resolve decides between flags, SVC_SERVER and SVC_TOKEN, and the file.
func Resolve(c Config, getenv func(string) string, flags Overrides) (Login, error) {
	l := Login{Config: c, ServerSource: FromDefault, TokenSource: FromNowhere}
	l.Server, l.ServerSource = pick(DefaultServer,
		choice{flags.Server, FromFlag}, choice{getenv("SVC_SERVER"), FromEnv}, choice{c.Server, FromConfig})
	var err error
	if l.Server, err = CleanServer(l.Server); err != nil {
		return Login{}, &Unusable{l.ServerSource, "SVC_SERVER", fmt.Errorf("%w (from %s)", err, l.ServerSource)}
	}
	stored := c.Token
	if home := cmp.Or(c.Server, DefaultServer); !sameServer(home, l.Server) {
		if stored != "" {
			stored, l.Elsewhere = "", home
		}
		l.WebURL, l.DataMode, l.Insecure = "", "", false
	}
	l.Token, l.TokenSource = pick("", choice{flags.Token, FromFlag}, choice{getenv("SVC_TOKEN"), FromEnv}, choice{stored, FromConfig})
	if l.Token == "" {
		l.TokenSource = FromNowhere
	} else if !ValidToken(l.Token) {
		return Login{}, &Unusable{l.TokenSource, "SVC_TOKEN",
			fmt.Errorf("the token from %s is not a token: it must be svc_ followed by 43 characters", l.TokenSource)}
	}
	l.WebURL = cmp.Or(getenv("SVC_WEB_URL"), l.WebURL)
	return l, nil
}

type choice struct {
	value string
	from  Source
}

func pick(otherwise string, choices ...choice) (string, Source) {
	for _, c := range choices {
		if v := strings.TrimSpace(c.value); v != "" {
			return v, c.from
		}
	}
	return otherwise, FromDefault
}

// ValidToken reports whether s has the form of a token: svc_ and 43
// characters of base64url.
func ValidToken(s string) bool {
	secret, ok := strings.CutPrefix(s, "svc_")
	return ok && len(secret) == 43 && strings.IndexFunc(secret, notBase64) < 0
}

func notBase64(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// CleanServer checks a server's address and returns it without a slash at
// its end.
func CleanServer(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("%q is not a server address such as https://svc.example.com", s)
	case u.User != nil:
		return "", fmt.Errorf("the server address must not hold a password; use --token")
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("the server address %q must end before ? or #", s)
	}
	return strings.TrimRight(s, "/"), nil
}

// sameServer reports whether two addresses name the same place.
func sameServer(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Scheme == ub.Scheme && strings.EqualFold(ua.Host, ub.Host) &&
		strings.TrimRight(ua.Path, "/") == strings.TrimRight(ub.Path, "/")
}
