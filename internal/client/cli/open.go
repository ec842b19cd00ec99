package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
)

// pages are the pages of the dashboard that svc open knows.
var pages = map[string]string{"dashboard": "/", "messages": "/messages", "conflicts": "/conflicts"}

func (a *app) openCommand() *cobra.Command {
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
			return a.openPage(cmd.Context(), path)
		},
	}
}

// openPage shows a page of the dashboard, or prints its address.
func (a *app) openPage(ctx context.Context, path string) error {
	address, plain, err := a.pageAddress(ctx, path)
	if err != nil {
		return err
	}
	if a.json {
		return a.PrintJSON(map[string]string{"url": address})
	}
	if a.envSet("SVC_NO_BROWSER") || a.OpenBrowser == nil || a.OpenBrowser(address) != nil {
		fmt.Fprintln(a.Stdout, address)
		return nil
	}
	fmt.Fprintf(a.Stderr, "Opened %s\n", plain)
	return nil
}

// orPage leads an admin to the page where a person does what a login does not:
// whatever a login may, every agent on this machine may, too. Others could not
// do it there either.
func (a *app) orPage(ctx context.Context, err error, path string) error {
	if problem.KindOf(err) != problem.Forbidden {
		return err
	}
	c, _, clientErr := a.client()
	if clientErr != nil {
		return err
	}
	if me, meErr := c.Me(ctx); meErr != nil || me.Role == nil || *me.Role == coord.Member {
		return err
	}
	fmt.Fprintln(a.Stderr, "svc login does not allow this, since agents use it, too. Do it in the dashboard:")
	return a.openPage(ctx, path)
}

// pageAddress returns the address of a page, and it without what signs one in.
func (a *app) pageAddress(ctx context.Context, path string) (address, plain string, err error) {
	l, _, err := a.login(login.Overrides{})
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
