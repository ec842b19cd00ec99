package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/share"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
)

func loginCommand(a *app.Run) *cobra.Command {
	var flags login.Overrides
	var keychain, admin bool
	var next nextFlags
	cmd := &cobra.Command{
		Use:   "login [--server URL] [--token TOKEN] [--org SLUG] [--yes] [--admin]",
		Short: "Log in to a server",
		Long: "Log in to a server. Without a token, svc shows a code and a link: open the\n" +
			"link, type the code, approve. The login is kept in the user config folder,\n" +
			"readable by you only, or with --keychain in the keychain of macOS, Windows or\n" +
			"the Linux desktop (each hook then asks it, which takes a moment longer).\n\n" +
			"Then it asks, once each: whether to write the hooks of the agent hosts that are\n" +
			"installed, and whether the team may see the work in this repository, unless\n" +
			"its server has registered it already. The server hears of no other repository;\n" +
			"--repos chooses all whose remote matches, svc share one more.\n\n" +
			"Where you are in several orgs, --org names the one to log in to; without it you\n" +
			"choose where you approve. A login is of one org and sees nothing of the others.\n\n" +
			"An admin's login does not invite, set policies or make tokens, since agents use\n" +
			"it, too. --admin asks for a second one that may, for 15 minutes. Hooks and svc\n" +
			"mcp never use it, and neither does a command that an agent starts.",
		Example: "  svc login --server https://svc.example.com\n" +
			"  svc login --server https://svc.example.com --repos 'github.com/acme/*'\n" +
			"  svc login --token - < token.txt   # reads the token from a file",
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if admin {
				return runAdminLogin(cmd.Context(), a, flags, next.org)
			}
			return runLogin(cmd.Context(), a, flags, keychain, next)
		},
	}
	cmd.Flags().BoolVarP(&next.yes, "yes", "y", false, "write the hooks and share this repository without asking")
	cmd.Flags().StringVar(&next.repos, "repos", "", "share the repositories whose remote matches, such as github.com/acme/*")
	cmd.Flags().StringVar(&next.org, "org", "", "short name of the org to log in to, where you are in several")
	cmd.Flags().StringVar(&flags.Server, "server", "", "address of the server (default "+login.DefaultServer+", or SVC_SERVER)")
	cmd.Flags().StringVar(&flags.Token, "token", "", "use this token instead of the browser; - reads it from standard input")
	cmd.Flags().BoolVar(&admin, "admin", false, "also log in with an administrator's rights, for 15 minutes")
	cmd.MarkFlagsMutuallyExclusive("admin", "token")
	cmd.Flags().BoolVar(&keychain, "keychain", false, "keep the token in the operating system's keychain (or set SVC_KEYCHAIN=1)")
	return cmd
}

func runLogin(ctx context.Context, a *app.Run, flags login.Overrides, keychain bool, next nextFlags) error {
	if next.repos != "" && !share.Pattern(next.repos) {
		return term.Usagef("--repos %q is no pattern of remotes such as github.com/acme/*", next.repos)
	}
	if flags.Token == "-" {
		line, err := bufio.NewReader(io.LimitReader(a.Stdin, 1000)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if flags.Token = strings.TrimSpace(line); flags.Token == "" {
			return term.Usagef("no token on standard input")
		}
	}
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return err
	}
	conf, err := store.LoadFile() // the login to be replaced may be in a keychain that is gone
	if err != nil {
		return err
	}
	l, err := login.Resolve(conf, a.Getenv, flags)
	if err != nil {
		return err
	}
	if l.TokenSource == login.FromConfig {
		l.Token = "" // log in anew
	}
	if l.Token == "" {
		issued, err := deviceFlow(ctx, a, l, next.org, false)
		if err != nil {
			return err
		}
		l.Token, l.WebURL = issued.Token, issued.WebURL
	}
	c, err := a.Connect(l)
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	if remote.Rejected(err) {
		return fmt.Errorf("%s rejected the token: it is none of its tokens, or it has expired or was revoked; svc login without a "+
			"token gets a new one", l.Server)
	}
	if err != nil {
		return err
	}
	if next.org != "" && me.Org.Slug != next.org {
		return fmt.Errorf("this token is of the org %s, not of %s; svc login --org %s without a token gets one that is",
			peertext.Name(me.Org.Slug), next.org, next.org)
	}
	l.Config.DataMode = me.Org.DataMode
	l.Config.Insecure = a.Insecure || l.Insecure
	l.Config.Keychain = keychain || a.EnvSet("SVC_KEYCHAIN")
	if err := store.Save(l.Config); err != nil {
		return fmt.Errorf("the login is good but could not be stored: %w", err)
	}
	place, err := local.Locate(a.Getenv)
	besides := err == nil && place.SetUp()                          // there are two places for work now
	if err := share.Refresh(ctx, store, c); err != nil && besides { // else the next hook asks again
		return fmt.Errorf("logged in, but %s does not say which repositories it has registered: %w", l.Server, err)
	}
	if a.JSON {
		return a.PrintJSON(whoami{me, l.Server})
	}
	fmt.Fprintf(a.Stdout, "Logged in to %s as %s.\n", l.Server, identity(me))
	if besides {
		fmt.Fprintln(a.Stdout, "Repositories that it has registered go there, all others stay on this machine; svc share sends one more.")
	}
	if l.TokenSource == login.FromEnv {
		fmt.Fprintln(a.Stderr, "The token of SVC_TOKEN was stored; while SVC_TOKEN is set, it wins over what is stored.")
	}
	return afterLogin(ctx, a, l, store, c, next)
}

// identity is who a token is, in a few words.
func identity(me wire.Me) string {
	who := "a service"
	if me.User != nil {
		who = peertext.Person(me.User.Email)
	}
	role := ""
	if me.Role != nil {
		role = " (" + peertext.Name(string(*me.Role)) + ")"
	}
	return who + ", " + peertext.Person(me.Org.Name) + role
}

// deviceFlow has a person approve the login in the browser.
func deviceFlow(ctx context.Context, a *app.Run, l login.Login, org string, admin bool) (issued wire.DeviceIssued, err error) {
	l.Token = ""
	c, err := a.Connect(l)
	if err != nil {
		return issued, err
	}
	d, err := c.StartDevice(ctx, a.Hostname, org, admin)
	if err != nil {
		return issued, err
	}
	showCode(a, d)
	if issued, err = poll(ctx, c, d); err == nil && !login.ValidToken(issued.Token) {
		err = fmt.Errorf("%s sent something that is not a token", l.Server)
	}
	return issued, err
}

// showCode tells what to do on standard error: standard output is for the
// result.
func showCode(a *app.Run, d wire.DeviceStarted) {
	link := peertext.Line(d.VerificationURI, 500)
	w := a.Stderr
	fmt.Fprintf(w, "Open   %s\nType   %s\n", link, a.Paint(term.Bold, peertext.Name(d.UserCode)))
	if a.Terminal.Err && a.Terminal.Columns >= 100 {
		if code, err := qrCode(link); err == nil {
			fmt.Fprintf(w, "\n%s\n", code)
		}
	}
	if !a.EnvSet("SVC_NO_BROWSER") && a.OpenBrowser != nil && a.OpenBrowser(d.VerificationURI) == nil {
		fmt.Fprintln(w, "The link was opened in your browser.")
	}
	fmt.Fprintf(w, "Waiting for approval, at most %s. Ctrl-C stops.\n", (time.Duration(d.ExpiresIn) * time.Second).Round(time.Minute))
}

// poll asks for the token until there is one or there will be none.
func poll(ctx context.Context, c *remote.Client, d wire.DeviceStarted) (wire.DeviceIssued, error) {
	interval := max(time.Duration(d.Interval)*time.Second, time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(d.ExpiresIn)*time.Second, errExpired)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return wire.DeviceIssued{}, context.Cause(ctx)
		case <-time.After(interval):
		}
		issued, err := c.PollDevice(ctx, d.DeviceCode)
		var gone *remote.Unreachable
		switch kind := problem.KindOf(err); {
		case err == nil:
			return issued, nil
		case kind == problem.AuthorizationPending:
		case kind == problem.SlowDown:
			interval += 5 * time.Second
		case kind == problem.ExpiredToken:
			return issued, errExpired
		case kind == problem.AccessDenied:
			return issued, errors.New("the login was denied in the browser")
		case errors.As(err, &gone) && ctx.Err() == nil: // it may come back before the code expires
		default:
			return issued, err
		}
	}
}

var errExpired = errors.New("the code expired before it was approved; run svc login again")
