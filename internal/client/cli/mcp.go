package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/bridge"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/client/remote"
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Connect an agent host to the service over stdio",
		Long: "Forward MCP messages between an agent host, on standard input and output, and\n" +
			"the service, with your login. Agent hosts start it; svc init writes it into\n" +
			"their configuration. SVC_DEBUG=1 logs the messages on standard error.",
		Example: `  { "mcpServers": { "svc": { "command": "svc", "args": ["mcp"] } } }`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := bridge.Bridge{In: a.Stdin, Out: a.Stdout, Log: a.Stderr, Login: a.credential, Session: a.hostSession,
				Debug: a.envSet("SVC_DEBUG")}
			return b.Run(cmd.Context())
		},
	}
}

// hostSession finds the session of the host that runs us, which its hooks wrote
// down: of two agents of one person, each is its own.
func (a *app) hostSession(server, client string) string {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return ""
	}
	root := ""
	if repo, ok := gitrepo.Find(a.Dir); ok {
		root = repo.Root
	}
	return presence.Open(store.Dir).Find(server, root, client)
}

// credential returns the login as it is now.
func (a *app) credential() (bridge.Credential, error) {
	l, store, err := a.login(login.Overrides{})
	if err != nil {
		return bridge.Credential{}, err
	}
	if p, err := a.repository(); err == nil && !local.OwnOf(p.Fingerprints[0]) {
		if err := a.untold(l, store, p); err != nil {
			return bridge.Credential{}, err
		}
	}
	if err := remote.CheckAddress(l.Server, a.insecure || l.Insecure); err != nil {
		return bridge.Credential{}, err
	}
	return bridge.Credential{Server: l.Server, Token: l.Token}, nil
}
