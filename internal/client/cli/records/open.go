package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
)

// pages are the pages of the dashboard that svc open knows.
var pages = map[string]string{"dashboard": "/", "messages": "/messages", "conflicts": "/conflicts"}

func OpenCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:       "open [dashboard|messages|conflicts]",
		Short:     "Open the web dashboard",
		Long:      "Open the web dashboard. With SVC_NO_BROWSER, or where no browser can be\nstarted, the address is printed instead.",
		Example:   "  svc open\n  svc open conflicts",
		ValidArgs: []string{"dashboard", "messages", "conflicts"},
		RunE: func(cmd *cobra.Command, args []string) error {
			page := "dashboard"
			switch len(args) {
			case 0:
			case 1:
				page = args[0]
			default:
				return term.Usagef("expected one page, got %d", len(args))
			}
			path, ok := pages[page]
			if !ok {
				return term.Usagef("no page %q; there are dashboard, messages and conflicts", page)
			}
			return openPage(cmd.Context(), a, path)
		},
	}
}

// openPage shows a page of the dashboard, or prints its address.
func openPage(ctx context.Context, a *app.Run, path string) error {
	address, plain, err := PageAddress(ctx, a, path)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"url": address})
	}
	if a.EnvSet("SVC_NO_BROWSER") || a.OpenBrowser == nil || a.OpenBrowser(address) != nil {
		fmt.Fprintln(a.Stdout, address)
		return nil
	}
	fmt.Fprintf(a.Stderr, "Opened %s\n", plain)
	return nil
}

// persons are the pages where a person does what these requests ask for and a
// login does not allow.
var persons = []struct{ path, page string }{
	{"/v1/invites", "/settings/members"}, {"/v1/members", "/settings/members"}, {"/v1/tokens", "/settings/tokens"},
	{"/v1/policies", "/settings/policies"}, {"/v1/webhooks", "/settings/webhooks"}, {"/v1/integrations/mail", "/settings/mail"},
	{"/v1/repos/", "/repos/"}, {"/v1/projects/", "/projects/"}, {"/v1/repos", "/repos"},
}

// personsPage returns the page for a request, "" where there is none. One that
// ends with a slash is that of the record which the request names.
func personsPage(path string) string {
	for _, p := range persons {
		rest, ok := strings.CutPrefix(path, p.path)
		if !ok {
			continue
		}
		if !strings.HasSuffix(p.page, "/") {
			return p.page
		}
		name, _, _ := strings.Cut(rest, "/")
		if name, err := url.PathUnescape(name); err == nil {
			return p.page + name
		}
	}
	return ""
}

// change makes a request with the person's login, and where that is not allowed
// to, with that of svc login --admin. Without one it leads an admin to the page
// where a person does it: whatever a login may, every agent on this machine may,
// too. Others could not do it there either.
func change(ctx context.Context, a *app.Run, method, path string, try func(*remote.Client) error) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	refused := try(c)
	page := personsPage(path)
	if problem.KindOf(refused) != problem.Forbidden || method == "GET" || page == "" {
		return refused
	}
	if admin, ok := a.Admin(); ok {
		return try(admin)
	}
	if me, err := c.Me(ctx); err != nil || me.Role == nil || *me.Role == coord.Member {
		return refused
	}
	if err := openPage(ctx, a, page); err != nil {
		return err
	}
	return errors.New("nothing was changed: svc login does not allow this, since agents use it, too. " +
		"Do it on that page, or run svc login --admin and then this again")
}

// PageAddress returns the address of a page, and it without what signs one in.
func PageAddress(ctx context.Context, a *app.Run, path string) (address, plain string, err error) {
	l, _, err := a.Login(login.Overrides{})
	if err != nil {
		return "", "", err
	}
	base, err := login.CleanServer(cmp.Or(l.WebURL, l.Server))
	if err != nil {
		return "", "", err
	}
	plain = strings.TrimRight(base, "/") + path
	if l.ServerSource != login.FromLocal {
		return plain, plain, nil
	}
	service := local.Service{LocalService: wire.LocalService{Server: l.Server}, Token: l.Token} // nobody has a password there
	address, err = service.Link(ctx, path)
	return address, plain, err
}
