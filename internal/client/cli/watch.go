package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

func (a *app) watchCommand() *cobra.Command {
	var types, repos []string
	var since string
	cmd := &cobra.Command{
		Use:   "watch [--type TYPE]... [--repo REPO]... [--since ID]",
		Short: "Print what happens, as it happens",
		Long: "Print the org's events as they happen, one a line; with --json one object a\n" +
			"line. A lost connection is taken up again where it broke off.",
		Example: "  svc watch\n  svc watch --type conflict.detected --json | jq .subject",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.follow(cmd.Context(), remote.Feed{Types: types, Repos: repos, LastID: since}, func(e coord.Event) error {
				return a.printEvent(e)
			})
		},
	}
	cmd.Flags().StringSliceVar(&types, "type", nil, "only events of this type, such as intent.declared")
	cmd.Flags().StringSliceVar(&repos, "repo", nil, "only events of this repo, owner/name")
	cmd.Flags().StringVar(&since, "since", "", "begin after the event with this id; 0 is the very first")
	return cmd
}

// follow streams events and tells on standard error when the line is down.
func (a *app) follow(ctx context.Context, f remote.Feed, each func(coord.Event) error) error {
	c, _, err := a.client()
	if err != nil {
		return err
	}
	down := false
	f.Down = func(err error, retry time.Duration) {
		if !down {
			fmt.Fprintf(a.Stderr, "svc: %s; trying again in %s\n", peertext.Line(err.Error(), 300), retry.Round(100*time.Millisecond))
		}
		down = true
	}
	f.Up = func() {
		if down {
			fmt.Fprintln(a.Stderr, "svc: connected again")
		}
		down = false
	}
	return c.Follow(ctx, f, each)
}

func (a *app) printEvent(e coord.Event) error {
	if a.json {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s\n", peertext.EscapeHidden(line))
		return err
	}
	_, err := fmt.Fprintln(a.Stdout, a.eventLine(e))
	return err
}

// eventLine shows the small facts of an event, refs first.
func (a *app) eventLine(e coord.Event) string {
	keys := make([]string, 0, len(e.Payload))
	for k := range e.Payload {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if (keys[i] == "ref") != (keys[j] == "ref") {
			return keys[i] == "ref"
		}
		return keys[i] < keys[j]
	})
	var facts []string
	for _, k := range keys {
		switch v := e.Payload[k].(type) {
		case nil, map[string]any, []any:
		case string:
			if k == "ref" {
				facts = append(facts, peertext.Line(v, 40))
			} else if v != "" && k != "fingerprint" && !isID(v) { // --json has what only programs read
				facts = append(facts, peertext.Name(k)+"="+peertext.Line(v, 60))
			}
		default:
			facts = append(facts, peertext.Line(fmt.Sprintf("%s=%v", k, v), 60))
		}
	}
	clock := e.OccurredAt.Std().Local().Format("15:04:05")
	return strings.TrimRight(fmt.Sprintf("%s  %-24s %s", a.paint(dim, clock), peertext.Name(string(e.Type)), strings.Join(facts, " ")), " ")
}

// isID reports whether a text is an id, which says nothing to a person.
func isID(s string) bool { return len(s) == 36 && strings.Count(s, "-") == 4 }

// watchStatus shows the status and keeps it current. In a pipe it prints the
// status once and then the events.
func (a *app) watchStatus(ctx context.Context) error {
	if a.json {
		return a.follow(ctx, remote.Feed{}, a.printEvent)
	}
	if !a.Terminal.Out {
		a.printStatus(a.status(ctx))
		return a.follow(ctx, remote.Feed{}, a.printEvent)
	}
	events := make(chan coord.Event, 64)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		ended <- a.follow(ctx, remote.Feed{}, func(e coord.Event) error {
			select {
			case events <- e:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	return a.redraw(ctx, events, ended)
}

// redraw draws the status again after events, at most twice a second, and
// once more at the end.
func (a *app) redraw(ctx context.Context, events <-chan coord.Event, ended <-chan error) error {
	const keep = 8
	var last []string
	note := func(e coord.Event) {
		last = append(last, "  "+a.eventLine(e))
		last = last[max(0, len(last)-keep):]
	}
	for {
		a.draw(ctx, last)
		var settle <-chan time.Time
		for drawn := true; drawn; {
			select {
			case err := <-ended:
				for more := len(events); more > 0; more-- {
					note(<-events)
				}
				a.draw(ctx, last)
				return err
			case e := <-events:
				note(e)
				if settle == nil {
					settle = time.After(500 * time.Millisecond)
				}
			case <-settle:
				drawn = false
			}
		}
	}
}

// draw puts the status over what the terminal shows, in one write and without
// clearing it first: that would flicker.
func (a *app) draw(ctx context.Context, last []string) {
	var b bytes.Buffer
	page := *a
	page.Env = &Env{}
	*page.Env = *a.Env
	page.Stdout = &b
	now := a.status(ctx)
	if ctx.Err() != nil {
		return // stopped meanwhile: what could not be asked is no failure
	}
	page.printStatus(now)
	if len(last) > 0 {
		fmt.Fprintf(&b, "\n%s\n%s\n", a.paint(bold, "Just now"), strings.Join(last, "\n"))
	}
	fmt.Fprintf(a.Stdout, "\x1b[H%s\x1b[J", strings.ReplaceAll(b.String(), "\n", "\x1b[K\n"))
}
