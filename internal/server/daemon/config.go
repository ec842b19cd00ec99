package daemon

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/leases"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/ship"
)

// Config is how svcd runs.
type Config struct {
	Addr         string
	Data         string
	Database     string
	PublicURL    string
	LogLevel     string
	LogFormat    string
	TrustProxy   bool
	OTLPEndpoint string
	MetricsAddr  string
	OIDCIssuer   string
	OIDCClientID string
	OIDCSecret   string
	OIDCName     string
	OIDCTrust    bool
	OIDCGroups   string
	OIDCRoles    string
	OIDCDomains  string
	OIDCReplaces string
	OIDCMore     string
	Owner        string
	OrgName      string
	SignUp       string
	Releases     string
	SecretKey    string
	ShipTo       string
	ShipKeep     string
	Allow        string
	SMTPAddr     string
	SMTPUser     string
	SMTPPassword string
	SMTPFrom     string
	SMTPTLS      string
	GitHubURL    string
	Stripe       StripeConfig

	Version string
	Pages   http.Handler     // the dashboard: handed in, so that tests need not run again when a page changed
	Clock   func() time.Time // nil for the real one
	Limits  *api.Limits      // how much is taken on at once; nil for what is usual
	Leases  *leases.Times    // nil for the usual
	Ship    *ship.Times      // nil for the usual
	Listen  net.Listener     // instead of Addr, where a test is the network; nil for that

	local *local // nil unless it serves one person
}

// StripeConfig is what it takes to sell plans; without a key nothing is sold.
type StripeConfig struct {
	Key           string
	WebhookSecret string
	PriceTeam     string
	PriceBusiness string
	Tax           bool
	URL           string
}

// ParseConfig reads flags and variables; a flag wins. The error is for the
// person who typed them. With -h it prints the settings to help and returns
// flag.ErrHelp.
func ParseConfig(command string, args, environ []string, help io.Writer) (Config, error) {
	var c Config
	fs := flag.NewFlagSet("svcd "+command, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, s := range settings {
		switch to := s.to(&c).(type) {
		case *string:
			fs.StringVar(to, s.flag, s.initial, s.doc)
		case *bool:
			fs.BoolVar(to, s.flag, s.initial == "true", s.doc)
		}
	}
	if err := readEnviron(fs, environ); err != nil {
		return c, err
	}
	if err := fs.Parse(args); err != nil {
		if err == flag.ErrHelp {
			printSettings(help, command)
			return c, err
		}
		return c, fmt.Errorf("%w; svcd %s --help lists the flags", err, command)
	}
	if fs.NArg() > 0 {
		return c, fmt.Errorf("svcd %s takes no argument %q; svcd %s --help lists the flags", command, fs.Arg(0), command)
	}
	for _, s := range settings {
		value := fs.Lookup(s.flag).Value.String()
		if s.check != nil && value != "" {
			if err := s.check(value); err != nil {
				return c, fmt.Errorf("--%s (%s): %w", s.flag, s.env, err)
			}
		}
	}
	return c, c.complete(environ)
}

func readEnviron(fs *flag.FlagSet, environ []string) error {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "SVC_") || strings.HasPrefix(name, "SVC_TEST_") || slices.Contains(clientVariables, name) {
			continue
		}
		i := slices.IndexFunc(settings, func(s setting) bool { return s.env == name })
		if i < 0 {
			return fmt.Errorf("unknown variable %s; svcd serve --help lists the variables", name)
		}
		if err := fs.Set(settings[i].flag, value); err != nil {
			return fmt.Errorf("%s=%q is not valid: %w", name, value, err)
		}
	}
	return nil
}

// complete fills in what depends on other settings.
func (c *Config) complete(environ []string) error {
	if c.Data == "" {
		dir, err := dataFolder(environ)
		if err != nil {
			return fmt.Errorf("no data folder: %w; set --data or SVC_DATA", err)
		}
		c.Data = dir
	}
	if c.Releases == "" {
		c.Releases = filepath.Join(c.Data, "releases")
	}
	if c.Database == "" {
		c.Database = filepath.Join(c.Data, "svc.db")
	}
	if c.ShipTo != "" && !c.Embedded() {
		return errors.New("--ship-to (SVC_SHIP_TO) ships SQLite; PostgreSQL has an archive of its own, see docs/self-hosting.md")
	}
	if _, err := c.openID(); err != nil {
		return err
	}
	if (c.OIDCIssuer == "") != (c.OIDCClientID == "") {
		return errors.New("--oidc-issuer (SVC_OIDC_ISSUER) and --oidc-client-id (SVC_OIDC_CLIENT_ID) go together; set both or neither")
	}
	if s := c.Stripe; (s.Key != "") != (s.WebhookSecret != "") || s.Key == "" && (s.PriceTeam != "" || s.PriceBusiness != "") {
		return errors.New("--stripe-key (SVC_STRIPE_KEY) and --stripe-webhook-secret go together, and --stripe-price-team and " +
			"--stripe-price-business with them; set both keys or none of these")
	}
	if c.PublicURL == "" {
		c.PublicURL = reachable(c.Addr)
	}
	c.PublicURL, c.GitHubURL = strings.TrimSuffix(c.PublicURL, "/"), strings.TrimSuffix(c.GitHubURL, "/")
	if c.SignUp == string(coord.SignUpOpen) && c.SMTPAddr == "" {
		return errors.New("--sign-up open (SVC_SIGN_UP) needs mail, by which people prove their address: set --smtp (SVC_SMTP), or use " +
			"--sign-up invite, with which you hand out the links")
	}
	if c.SMTPAddr != "" && c.SMTPFrom == "" {
		return fmt.Errorf("--smtp (SVC_SMTP) is set: set the sender of mails too, with --smtp-from (SVC_SMTP_FROM)")
	}
	return nil
}

// Embedded reports whether the database is SQLite in a file.
func (c Config) Embedded() bool { return !strings.HasPrefix(c.Database, "postgres") }

// reachable returns how this machine reaches an address to listen on: one
// that means every interface is no place to go to.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

func dataFolder(environ []string) (string, error) {
	env := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	switch {
	case env["XDG_DATA_HOME"] != "":
		return filepath.Join(env["XDG_DATA_HOME"], "svc"), nil
	case env["HOME"] != "":
		return filepath.Join(env["HOME"], ".local", "share", "svc"), nil
	}
	return "", errors.New("neither XDG_DATA_HOME nor HOME is set")
}

func checkAddr(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q is not host:port", s)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no port between 0 and 65535", s)
	}
	return nil
}

func checkDatabase(s string) error {
	scheme, _, ok := strings.Cut(s, "://")
	if ok && scheme != "postgres" && scheme != "postgresql" {
		return fmt.Errorf("cannot use a %s database; it takes postgres:// or a file path", scheme)
	}
	return nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is not an http or https address", s)
	}
	return nil
}

func checkAllow(s string) error {
	_, err := outbound.ParseAllow(s)
	return err
}

func checkEmail(s string) error {
	if !shape.IsEmail(s) {
		return fmt.Errorf("%q is not an email address", s)
	}
	return nil
}

func oneOf(values ...string) func(string) error {
	return func(s string) error {
		if slices.Contains(values, s) {
			return nil
		}
		return fmt.Errorf("%q is not one of %s", s, strings.Join(values, ", "))
	}
}

func printSettings(w io.Writer, command string) {
	fmt.Fprintf(w, "usage: svcd %s [flags]\n\nEach flag can be set by its variable; the flag wins.\n\n", command)
	for _, s := range settings {
		fmt.Fprintf(w, "  --%-15s %s\n", s.flag, s.env)
		fmt.Fprintf(w, "        %s", s.doc)
		if s.initial != "" && s.initial != "false" {
			fmt.Fprintf(w, " (default %s)", s.initial)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nExample:\n  svcd %s --addr 127.0.0.1:7780 --data ./data\n", command)
}
