package cli

import (
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/bridge"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/client/remote"
)

func mcpCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Connect an agent host to the service over stdio",
		Long: "Forward MCP messages between an agent host, on standard input and output, and\n" +
			"the service, with your login. Agent hosts start it; svc init writes it into\n" +
			"their configuration. SVC_DEBUG=1 logs the messages on standard error.",
		Example: `  { "mcpServers": { "svc": { "command": "svc", "args": ["mcp"] } } }`,
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var now atomic.Pointer[login.Login] // a person may log in elsewhere while we run
			session := func(server, client, named, tool string) (id, key string) {
				return hostSession(a, server, client, named, tool)
			}
			b := bridge.Bridge{In: a.Stdin, Out: a.Stdout, Log: a.Stderr, Session: session, Debug: a.EnvSet("SVC_DEBUG"),
				Login: func() (bridge.Credential, error) {
					l, err := credential(a)
					now.Store(&l)
					return bridge.Credential{Server: l.Server, Token: l.Token}, err
				},
				Transport: remote.ThroughEdge(func() (remote.Edge, bool) {
					if l := now.Load(); l != nil {
						return a.EdgeOf(*l)
					}
					return remote.Edge{}, false
				})}
			return b.Run(cmd.Context())
		},
	}
}

// hostSession finds the session of the host that runs us, which its hooks wrote
// down: of two agents of one person, each is its own. The key shows that it is.
// A tool that may give its work another title has the old one forgotten: others
// on this machine are told of the session by it, until its next prompt not.
func hostSession(a *app.Run, server, client, named, tool string) (id, key string) {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return "", ""
	}
	root := ""
	if repo, ok := gitrepo.Find(a.Dir); ok {
		root = repo.Root
	}
	book := presence.Open(store.Dir)
	s, id := book.Find(server, root, client, named)
	if id == "" {
		return "", ""
	}
	if strings.HasPrefix(tool, "intent_") && s.Title != "" {
		s.Title = ""
		book.Save(s)
	}
	return id, presence.Key(store.Machine(), s.Tool, s.ID)
}

// credential returns the login as it is now, if it may be used here.
func credential(a *app.Run) (login.Login, error) {
	l, store, err := a.Login(login.Overrides{})
	if err != nil {
		return login.Login{}, err
	}
	if p, err := a.Repository(); err == nil && !local.OwnOf(p.Fingerprints[0]) {
		if err := a.Untold(l, store, p); err != nil {
			return login.Login{}, err
		}
	}
	return l, remote.CheckAddress(l.Server, a.Insecure || l.Insecure)
}
