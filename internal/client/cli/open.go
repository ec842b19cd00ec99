package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/login"
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
		RunE: func(_ *cobra.Command, args []string) error {
			page := "dashboard"
			switch len(args) {
			case 0:
			case 1:
				page = args[0]
			default:
				return usagef("expected one page, got %d", len(args))
			}
			path, ok := pages[page]
			if !ok {
				return usagef("no page %q; there are dashboard, messages and conflicts", page)
			}
			l, _, err := a.login(login.Overrides{})
			if err != nil {
				return err
			}
			base, err := login.CleanServer(cmp.Or(l.WebURL, l.Server))
			if err != nil {
				return err
			}
			address := strings.TrimRight(base, "/") + path
			if a.json {
				return a.printJSON(map[string]string{"url": address})
			}
			if a.envSet("SVC_NO_BROWSER") || a.OpenBrowser == nil || a.OpenBrowser(address) != nil {
				fmt.Fprintln(a.Stdout, address)
				return nil
			}
			fmt.Fprintf(a.Stderr, "Opened %s\n", address)
			return nil
		},
	}
}
