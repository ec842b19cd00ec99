package cli

import (
	"fmt"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// sayInvite tells how an invite reaches its reader.
func (a *app) sayInvite(i coord.Invite) {
	if i.Mail != nil {
		fmt.Fprintln(a.Stdout, "A letter waits to be sent; Settings, Members shows what became of it.")
		fmt.Fprintln(a.Stdout, "The same link, for another way to them; it works once:")
	} else {
		fmt.Fprintln(a.Stdout, "The server sends no mail: give them this link; it works once:")
	}
	if i.URL != nil {
		fmt.Fprintf(a.Stdout, "  %s\n", peertext.Line(*i.URL, 500))
	}
}
