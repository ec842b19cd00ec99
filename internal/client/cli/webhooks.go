package cli

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func (a *app) webhooksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "webhooks",
		Short:   "List and change the endpoints that are told of events",
		Example: "  svc webhooks\n  svc webhooks create https://example.com/hook --type conflict.detected",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return send(cmd.Context(), a, "GET", "/v1/webhooks", nil, func(page wire.Page[coord.Webhook]) {
				rows := [][]string{}
				for _, h := range page.Items {
					state := "enabled"
					if !h.Enabled {
						state = "disabled"
					} else if h.Paused {
						state = "paused"
					}
					rows = append(rows, []string{h.ID, state, peertext.Line(h.URL, 200), chosen(h.EventTypes)})
				}
				a.list(rows, []grid.Column{col("ID"), col("STATE"), col("ADDRESS", 20), col("EVENTS", 12, 1)}, "No webhooks.", page.NextCursor != nil)
			})
		},
	}
	var types []string
	create := &cobra.Command{
		Use:     "create URL",
		Short:   "Add an endpoint; its secret is shown once",
		Example: "  svc webhooks create https://example.com/hook",
		Args:    exactly(1, "an address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := map[string]any{"url": args[0]}
			if len(types) > 0 {
				in["event_types"] = types
			}
			return send(cmd.Context(), a, "POST", "/v1/webhooks", in, func(h wire.CreatedWebhook) {
				fmt.Fprintf(a.Stderr, "Made %s. Keep its secret: it is shown this once.\n", h.ID)
				fmt.Fprintln(a.Stdout, h.Secret)
			})
		},
	}
	create.Flags().StringSliceVar(&types, "type", nil, "an event type; default all")
	cmd.AddCommand(create, a.webhooksEditCommand(), a.webhooksRotateCommand(), a.webhooksReplayCommand())
	for _, verb := range []struct {
		use, short, method, suffix, did string
		in                              any
	}{
		{"delete ID", "Take an endpoint out", "DELETE", "", "Deleted.", nil},
		{"test ID", "Send a test event, which also enables it again", "POST", "/test", "Sent.", nil},
		{"pause ID", "Send it nothing for now; events wait", "PATCH", "", "Paused: events wait for svc webhooks resume.",
			map[string]any{"paused": true}},
		{"resume ID", "Send it what waited, and go on", "PATCH", "", "It goes on; what waited is on its way.",
			map[string]any{"paused": false}},
	} {
		name, _, _ := strings.Cut(verb.use, " ")
		one := &cobra.Command{
			Use:     verb.use,
			Short:   verb.short,
			Example: "  svc webhooks " + name + " 0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11",
			Args:    exactly(1, "a webhook's id"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.do(cmd.Context(), verb.method, "/v1/webhooks/"+url.PathEscape(args[0])+verb.suffix, verb.in, verb.did)
			},
		}
		a.completesArgs(one, "webhooks")
		cmd.AddCommand(one)
	}
	return cmd
}

func chosen(types []coord.EventChoice) string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = string(t)
	}
	return strings.Join(out, " ")
}

func webhookPath(id, suffix string) string { return "/v1/webhooks/" + url.PathEscape(id) + suffix }

func (a *app) webhooksEditCommand() *cobra.Command {
	var address, description string
	var types []string
	cmd := &cobra.Command{
		Use:     "edit ID",
		Short:   "Change where an endpoint is and what it is told of",
		Example: "  svc webhooks edit 0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11 --type hook.blocked",
		Args:    exactly(1, "a webhook's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := map[string]any{}
			if cmd.Flags().Changed("url") {
				in["url"] = address
			}
			if cmd.Flags().Changed("type") {
				in["event_types"] = types
			}
			if cmd.Flags().Changed("description") {
				in["description"] = description
				if description == "" {
					in["description"] = nil
				}
			}
			if len(in) == 0 {
				return usagef("say what changes: --url, --type or --description")
			}
			return a.do(cmd.Context(), "PATCH", webhookPath(args[0], ""), in, "Changed.")
		},
	}
	cmd.Flags().StringVar(&address, "url", "", "its new address")
	cmd.Flags().StringSliceVar(&types, "type", nil, "an event type, all of them in place of those before; '*' for every one")
	cmd.Flags().StringVar(&description, "description", "", "what it is for; empty takes it away")
	a.completesArgs(cmd, "webhooks")
	return cmd
}

func (a *app) webhooksRotateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rotate ID",
		Short:   "Replace its secret; the one before is good for a day more",
		Example: "  svc webhooks rotate 0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11",
		Args:    exactly(1, "a webhook's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return send(cmd.Context(), a, "POST", webhookPath(args[0], "/rotate"), nil, func(r wire.RotatedSecret) {
				fmt.Fprintf(a.Stderr, "Keep the new secret: it is shown this once. The old one is good until %s.\n", r.OldSecretUntil)
				fmt.Fprintln(a.Stdout, r.Secret)
			})
		},
	}
	a.completesArgs(cmd, "webhooks")
	return cmd
}

func (a *app) webhooksReplayCommand() *cobra.Command {
	var since, until, delivery string
	var failed bool
	cmd := &cobra.Command{
		Use:     "replay ID",
		Short:   "Send a delivery, or those of a span of time, again",
		Example: "  svc webhooks replay 0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11 --since 24h",
		Args:    exactly(1, "a webhook's id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (delivery == "") == (since == "") {
				return usagef("give --since, or --delivery for a single one")
			}
			if delivery != "" {
				one := webhookPath(args[0], "/deliveries/"+url.PathEscape(delivery)+"/redeliver")
				return a.do(cmd.Context(), "POST", one, nil, "It is on its way again.")
			}
			if ago, err := time.ParseDuration(since); err == nil {
				since = time.Now().Add(-ago).UTC().Format(time.RFC3339)
			}
			in := map[string]any{"since": since}
			if until != "" {
				in["until"] = until
			}
			if failed {
				in["only"] = "failed"
			}
			return send(cmd.Context(), a, "POST", webhookPath(args[0], "/replay"), in, func(r wire.Replayed) {
				fmt.Fprintf(a.Stdout, "%d on their way again.\n", r.Queued)
				if r.More {
					fmt.Fprintln(a.Stdout, "There is more that was never sent: run it again.")
				}
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "from this time on: 2026-11-15T09:00:00Z, or 24h for a day ago")
	cmd.Flags().StringVar(&until, "until", "", "up to this time; default now")
	cmd.Flags().StringVar(&delivery, "delivery", "", "a single delivery, by its id")
	cmd.Flags().BoolVar(&failed, "failed", false, "only what did not arrive")
	a.completesArgs(cmd, "webhooks")
	return cmd
}
