package daemon

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/outbound"
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
	Releases     string
	SecretKey    string
	Allow        string
	SMTPAddr     string
	SMTPUser     string
	SMTPPassword string
	SMTPFrom     string
	SMTPTLS      string
	GitHubURL    string
	Stripe       StripeConfig

	Version string
	Clock   func() time.Time // nil for the real one

	local *local // nil unless it serves one person
}

// StripeConfig is what it takes to sell plans; without a key nothing is sold.
type StripeConfig struct {
	Key           string
	WebhookSecret string
	PriceTeam     string
	PriceBusiness string
	URL           string
}

// A setting is one row of the configuration: a flag and its variable.
type setting struct {
	flag, env, initial, doc string
	to                      func(*Config) any // *string or *bool
	check                   func(string) error
}

// settings is everything that can be configured. svcd serve --help prints it.
var settings = []setting{
	{
		"addr",
		"SVC_ADDR",
		"127.0.0.1:7780",
		"address to listen on; nothing beyond loopback is reached unless it says so",
		func(c *Config) any { return &c.Addr },
		checkAddr,
	},
	{
		"data",
		"SVC_DATA",
		"",
		"folder for the embedded database and keys (default: svc in the user's data folder)",
		func(c *Config) any { return &c.Data },
		nil,
	},
	{
		"database",
		"SVC_DATABASE_URL",
		"",
		"postgres://... or a file path (default: SQLite in the data folder)",
		func(c *Config) any { return &c.Database },
		checkDatabase,
	},
	{
		"public-url",
		"SVC_PUBLIC_URL",
		"",
		"how people and agents reach the service (default: http:// and the address)",
		func(c *Config) any { return &c.PublicURL },
		checkURL,
	},
	{
		"log-level",
		"SVC_LOG_LEVEL",
		"info",
		"debug, info, warn or error",
		func(c *Config) any { return &c.LogLevel },
		oneOf("debug", "info", "warn", "error"),
	},
	{
		"log-format",
		"SVC_LOG_FORMAT",
		"auto",
		"text, json, or auto: text on a terminal, JSON otherwise",
		func(c *Config) any { return &c.LogFormat },
		oneOf("auto", "text", "json"),
	},
	{
		"trust-proxy",
		"SVC_TRUST_PROXY",
		"false",
		"take client addresses from X-Forwarded-For; only behind a proxy that sets it",
		func(c *Config) any { return &c.TrustProxy },
		nil,
	},
	{
		"otlp-endpoint",
		"SVC_OTLP_ENDPOINT",
		"",
		"send OpenTelemetry traces to this http(s) address",
		func(c *Config) any { return &c.OTLPEndpoint },
		checkURL,
	},
	{
		"oidc-issuer",
		"SVC_OIDC_ISSUER",
		"",
		"sign people in through the OpenID provider at this address",
		func(c *Config) any { return &c.OIDCIssuer },
		checkURL,
	},
	{
		"oidc-client-id",
		"SVC_OIDC_CLIENT_ID",
		"",
		"what the OpenID provider calls this service",
		func(c *Config) any { return &c.OIDCClientID },
		nil,
	},
	{
		"oidc-client-secret",
		"SVC_OIDC_CLIENT_SECRET",
		"",
		"the secret that goes with it; better set by the variable, as others can see flags",
		func(c *Config) any { return &c.OIDCSecret },
		nil,
	},
	{"oidc-name", "SVC_OIDC_NAME", "OpenID", "what the sign-in page calls the provider", func(c *Config) any { return &c.OIDCName }, nil},
	{
		"oidc-trust-email",
		"SVC_OIDC_TRUST_EMAIL",
		"false",
		"take the provider's addresses as verified whatever it says; only where people cannot choose theirs",
		func(c *Config) any { return &c.OIDCTrust },
		nil,
	},
	{
		"oidc-groups-claim",
		"SVC_OIDC_GROUPS_CLAIM",
		"groups",
		"the claim in which the provider names somebody's groups",
		func(c *Config) any { return &c.OIDCGroups },
		nil,
	},
	{
		"oidc-roles",
		"SVC_OIDC_ROLES",
		"",
		"what groups make of people at each sign-in, as group=role,...; who has one joins without an invite",
		func(c *Config) any { return &c.OIDCRoles },
		checkRoles,
	},
	{
		"oidc-domains",
		"SVC_OIDC_DOMAINS",
		"",
		"whose verified addresses join as members without an invite, separated by commas",
		func(c *Config) any { return &c.OIDCDomains },
		nil,
	},
	{
		"oidc-replaces",
		"SVC_OIDC_REPLACES",
		"",
		"the issuer that this provider takes the place of: who was bound there is bound here by the verified address",
		func(c *Config) any { return &c.OIDCReplaces },
		checkURL,
	},
	{
		"oidc-more",
		"SVC_OIDC_MORE",
		"",
		"file with further OpenID providers: a JSON list of {issuer, client_id, client_secret, name} and the other settings",
		func(c *Config) any { return &c.OIDCMore },
		nil,
	},
	{
		"owner",
		"SVC_OWNER",
		"",
		"email of the owner to make when the database has no org yet",
		func(c *Config) any { return &c.Owner },
		checkEmail,
	},
	{
		"releases",
		"SVC_RELEASES",
		"",
		"folder with latest.json and the programs that svc update installs (default: releases in the data folder)",
		func(c *Config) any { return &c.Releases },
		nil,
	},
	{
		"secret-key",
		"SVC_SECRET_KEY",
		"",
		"32 bytes in base64 that seal stored secrets; several, separated by commas, while replacing it (default: a file in the data " +
			"folder); the same on every replica",
		func(c *Config) any { return &c.SecretKey },
		nil,
	},
	{
		"outbound-allow",
		"SVC_OUTBOUND_ALLOW",
		"",
		"private address ranges that webhooks and chat may reach, separated by commas; none by default",
		func(c *Config) any { return &c.Allow },
		checkAllow,
	},
	{
		"smtp",
		"SVC_SMTP",
		"",
		"host:port of a mail server; without it links are shown instead of mailed",
		func(c *Config) any { return &c.SMTPAddr },
		checkAddr,
	},
	{"smtp-user", "SVC_SMTP_USER", "", "user name at the mail server", func(c *Config) any { return &c.SMTPUser }, nil},
	{
		"smtp-password",
		"SVC_SMTP_PASSWORD",
		"",
		"password at the mail server; better set by its variable, since flags can be seen by other users of the machine",
		func(c *Config) any { return &c.SMTPPassword },
		nil,
	},
	{"smtp-from", "SVC_SMTP_FROM", "", "sender of mails, such as svc@example.com", func(c *Config) any { return &c.SMTPFrom }, checkEmail},
	{
		"smtp-tls",
		"SVC_SMTP_TLS",
		"starttls",
		"starttls, tls (from the start), or none",
		func(c *Config) any { return &c.SMTPTLS },
		oneOf("starttls", "tls", "none"),
	},
	{
		"github-url",
		"SVC_GITHUB_URL",
		"https://github.com",
		"the GitHub on which orgs make their apps; a company's own server, or one on ghe.com",
		func(c *Config) any { return &c.GitHubURL },
		checkURL,
	},
	{
		"stripe-key",
		"SVC_STRIPE_KEY",
		"",
		"secret key of a Stripe account: with it orgs begin on the free plan and can buy others; better set by its variable",
		func(c *Config) any { return &c.Stripe.Key },
		nil,
	},
	{
		"stripe-webhook-secret",
		"SVC_STRIPE_WEBHOOK_SECRET",
		"",
		"signing secret (whsec_...) of the webhook in Stripe; better set by its variable",
		func(c *Config) any { return &c.Stripe.WebhookSecret },
		nil,
	},
	{
		"stripe-price-team",
		"SVC_STRIPE_PRICE_TEAM",
		"",
		"id of the monthly price of the team plan in Stripe",
		func(c *Config) any { return &c.Stripe.PriceTeam },
		nil,
	},
	{
		"stripe-price-business",
		"SVC_STRIPE_PRICE_BUSINESS",
		"",
		"id of the monthly price of the business plan in Stripe",
		func(c *Config) any { return &c.Stripe.PriceBusiness },
		nil,
	},
	{
		"stripe-url",
		"SVC_STRIPE_URL",
		"",
		"where Stripe's API is, for tests (default: Stripe's own)",
		func(c *Config) any { return &c.Stripe.URL },
		checkURL,
	},
	{"org", "SVC_ORG", "My team", "name of the org to make with --owner", func(c *Config) any { return &c.OrgName }, nil},
}

// clientVariables are set for svc, not for svcd, and pass unremarked.
var clientVariables = []string{
	"SVC_SERVER", "SVC_TOKEN", "SVC_WEB_URL", "SVC_NO_BROWSER", "SVC_NO_UPDATE_CHECK", "SVC_SHARE_STATUS", "SVC_DEBUG",
	"SVC_CONFIG_DIR",
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
	if _, err := c.openID(); err != nil {
		return err
	}
	if (c.OIDCIssuer == "") != (c.OIDCClientID == "") {
		return errors.New("--oidc-issuer (SVC_OIDC_ISSUER) and --oidc-client-id (SVC_OIDC_CLIENT_ID) go together; set both or neither")
	}
	if s := c.Stripe; (s.Key != "") != (s.WebhookSecret != "") || (s.Key != "") != (s.PriceTeam != "") ||
		(s.Key != "") != (s.PriceBusiness != "") {
		return errors.New("--stripe-key (SVC_STRIPE_KEY), --stripe-webhook-secret, --stripe-price-team and --stripe-price-business go " +
			"together; set all or none")
	}
	if c.PublicURL == "" {
		c.PublicURL = reachable(c.Addr)
	}
	c.PublicURL, c.GitHubURL = strings.TrimSuffix(c.PublicURL, "/"), strings.TrimSuffix(c.GitHubURL, "/")
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
