package records

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func WebhooksCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "webhooks",
		Short:   "List and change the endpoints that are told of events",
		Example: "  svc webhooks\n  svc webhooks create https://example.com/hook --type conflict.detected",
		Args:    term.NoArgs,
		RunE:    webhookList.run(a),
	}
	var types []string
	create := &cobra.Command{
		Use:     "create URL",
		Short:   "Add an endpoint; its secret is shown once",
		Example: "  svc webhooks create https://example.com/hook",
		Args:    term.Exactly(1, "an address"),
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
	term.Choices(create, "type", coord.EventChoice("").Enum()...)
	cmd.AddCommand(showRecord(a, webhookNames(), "  svc webhooks show example.com", "webhooks",
		func(h coord.Webhook) { printWebhook(a, h) }), create, deliveriesCommand(a),
		webhooksEditCommand(a), webhooksRotateCommand(a), webhooksReplayCommand(a))
	for _, verb := range []struct {
		use, short, method, suffix, did string
		in                              any
	}{
		{"delete WEBHOOK", "Take an endpoint out", "DELETE", "", "Deleted.", nil},
		{"test WEBHOOK", "Send a test event, which also enables it again", "POST", "/test", "Sent.", nil},
		{"pause WEBHOOK", "Send it nothing for now; events wait", "PATCH", "", "Paused: events wait for svc webhooks resume.",
			map[string]any{"paused": true}},
		{"resume WEBHOOK", "Send it what waited, and go on", "PATCH", "", "It goes on; what waited is on its way.",
			map[string]any{"paused": false}},
	} {
		name, _, _ := strings.Cut(verb.use, " ")
		one := &cobra.Command{
			Use:     verb.use,
			Short:   verb.short,
			Example: "  svc webhooks " + name + " example.com",
			Args:    term.Exactly(1, "a webhook: its address, its host or its id"),
			RunE: func(cmd *cobra.Command, args []string) error {
				path, err := webhookPath(cmd.Context(), a, args[0], verb.suffix)
				if err != nil {
					return err
				}
				return do(cmd.Context(), a, verb.method, path, verb.in, verb.did)
			},
		}
		completesArgs(a, one, "webhooks")
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

// webhookPath is where a webhook is, which people name by its address, its host
// or its id.
func webhookPath(ctx context.Context, a *app.Run, word, suffix string) (string, error) {
	id, err := webhookNames().idOf(ctx, a, word)
	return "/v1/webhooks/" + url.PathEscape(id) + suffix, err
}

func webhooksEditCommand(a *app.Run) *cobra.Command {
	var address, description string
	var types []string
	cmd := &cobra.Command{
		Use:     "edit WEBHOOK",
		Short:   "Change where an endpoint is and what it is told of",
		Example: "  svc webhooks edit example.com --type hook.blocked",
		Args:    term.Exactly(1, "a webhook: its address, its host or its id"),
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
				return term.Usagef("say what changes: --url, --type or --description")
			}
			path, err := webhookPath(cmd.Context(), a, args[0], "")
			if err != nil {
				return err
			}
			return do(cmd.Context(), a, "PATCH", path, in, "Changed.")
		},
	}
	cmd.Flags().StringVar(&address, "url", "", "its new address")
	cmd.Flags().StringSliceVar(&types, "type", nil, "an event type, all of them in place of those before; '*' for every one")
	term.Choices(cmd, "type", coord.EventChoice("").Enum()...)
	cmd.Flags().StringVar(&description, "description", "", "what it is for; empty takes it away")
	completesArgs(a, cmd, "webhooks")
	return cmd
}

func webhooksRotateCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rotate WEBHOOK",
		Short:   "Replace its secret; the one before is good for a day more",
		Example: "  svc webhooks rotate example.com",
		Args:    term.Exactly(1, "a webhook: its address, its host or its id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := webhookPath(cmd.Context(), a, args[0], "/rotate")
			if err != nil {
				return err
			}
			return send(cmd.Context(), a, "POST", path, nil, func(r wire.RotatedSecret) {
				fmt.Fprintf(a.Stderr, "Keep the new secret: it is shown this once. The old one is good until %s.\n", r.OldSecretUntil)
				fmt.Fprintln(a.Stdout, r.Secret)
			})
		},
	}
	completesArgs(a, cmd, "webhooks")
	return cmd
}

func webhooksReplayCommand(a *app.Run) *cobra.Command {
	var since, until, delivery string
	var failed bool
	cmd := &cobra.Command{
		Use:     "replay WEBHOOK",
		Short:   "Send a delivery, or those of a span of time, again",
		Example: "  svc webhooks replay example.com --since 24h",
		Args:    term.Exactly(1, "a webhook: its address, its host or its id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (delivery == "") == (since == "") {
				return term.Usagef("give --since, or --delivery for a single one")
			}
			path, err := webhookPath(cmd.Context(), a, args[0], "")
			if err != nil {
				return err
			}
			if delivery != "" {
				one := path + "/deliveries/" + url.PathEscape(delivery) + "/redeliver"
				return do(cmd.Context(), a, "POST", one, nil, "It is on its way again.")
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
			return send(cmd.Context(), a, "POST", path+"/replay", in, func(r wire.Replayed) {
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
	completesArgs(a, cmd, "webhooks")
	return cmd
}

func deliveriesCommand(a *app.Run) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "deliveries WEBHOOK",
		Short:   "List what was sent to an endpoint, the newest first",
		Example: "  svc webhooks deliveries example.com",
		Args:    term.Exactly(1, "a webhook: its address, its host or its id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := webhookPath(cmd.Context(), a, args[0], "/deliveries")
			if err != nil {
				return err
			}
			return deliveryList.ask(cmd.Context(), a, query(path, "limit", fmt.Sprint(limit)))
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many, 1 to 200")
	completesArgs(a, cmd, "webhooks")
	return cmd
}

func printWebhook(a *app.Run, h coord.Webhook) {
	fmt.Fprintln(a.Stdout, a.Paint(term.Bold, peertext.Line(h.URL, 300)))
	success := "never"
	if h.LastSuccessAt != nil {
		success = a.Ago(*h.LastSuccessAt)
	}
	failing := ""
	if h.FailingSince != nil {
		failing = a.Ago(*h.FailingSince)
	}
	a.Facts([][]string{{"Id", h.ID}, {"State", webhookState(h)}, {"Why", peertext.Line(text(h.DisabledReason), 200)},
		{"For", peertext.Line(text(h.Description), 200)}, {"Events", chosen(h.EventTypes)}, {"Arrived", success}, {"Failing", failing}})
}

func webhookState(h coord.Webhook) string {
	switch {
	case !h.Enabled:
		return "disabled"
	case h.Paused:
		return "paused"
	}
	return "enabled"
}
