package records

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func WatchCommand(a *app.Run) *cobra.Command {
	var types, repos []string
	var since string
	cmd := &cobra.Command{
		Use:   "watch [--type TYPE]... [--repo REPO]... [--since ID]",
		Short: "Print what happens, as it happens",
		Long: "Print the org's events as they happen, one a line; with --json one object a\n" +
			"line. A lost connection is taken up again where it broke off.",
		Example: "  svc watch\n  svc watch --type conflict.detected --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return followPrinting(cmd.Context(), a, remote.Feed{Types: types, Repos: repos, LastID: since})
		},
	}
	cmd.Flags().StringSliceVar(&types, "type", nil, "only events of this type, such as intent.declared")
	term.Choices(cmd, "type", coord.EventType("").Enum()...)
	cmd.Flags().StringSliceVar(&repos, "repo", nil, "only events of this repo, owner/name")
	Completes(a, cmd, "repo", "repos")
	cmd.Flags().StringVar(&since, "since", "", "begin after the event with this id; 0 is the very first")
	return cmd
}

// follow streams events and tells on standard error when the line is down.
func follow(ctx context.Context, a *app.Run, f remote.Feed, each func(coord.Event) error) error {
	c, _, err := a.Client()
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

// followPrinting prints events as they come, with the names of who and where.
func followPrinting(ctx context.Context, a *app.Run, f remote.Feed) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	known := names{}
	return follow(ctx, a, f, func(e coord.Event) error {
		if !a.JSON {
			named(ctx, a, c, known, e)
		}
		return printEvent(a, e, known)
	})
}

func printEvent(a *app.Run, e coord.Event, known names) error {
	if a.Template != nil {
		return a.Template(a.Stdout, e)
	}
	if a.JSON {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s\n", peertext.EscapeHidden(line))
		return err
	}
	_, err := fmt.Fprintln(a.Stdout, eventLine(a, e, known))
	return err
}

// names are what the ids in events are called.
type names map[string]string

// named asks what an event's actor is called and where it happened, if that is
// new. Whatever fails, the event is shown without.
func named(ctx context.Context, a *app.Run, c *remote.Client, n names, e coord.Event) {
	n.place(ctx, c, e)
	if _, known := n[e.Actor.ID]; known || e.Actor.ID == "" {
		return
	}
	n[e.Actor.ID] = "" // asked for once
	var f wire.Feed
	if err := c.Send(ctx, "GET", "/v1/feed?limit=50", nil, &f); err == nil {
		n.learn(f.Refs)
	}
}

// place asks where a conflict or an intent is, which its events do not say.
func (n names) place(ctx context.Context, c *remote.Client, e coord.Event) {
	ref, _ := e.Payload["ref"].(string)
	if _, asked := n[ref]; asked {
		return
	}
	switch {
	case isRef(ref, "CF-"):
		n[ref] = ""
		if cf, err := c.Conflict(ctx, ref); err == nil {
			n[ref] = "at " + team.Where(cf) + " in " + peertext.Path(cf.Repo.FullName) + " between " + team.Between(cf)
		}
	case isRef(ref, "INT-"):
		n[ref] = ""
		if in, err := c.Intent(ctx, ref); err == nil {
			n[ref] = "in " + peertext.Path(in.Repo.FullName)
		}
	}
}

func (n names) learn(refs map[string]wire.FeedRef) {
	for id, r := range refs {
		n[id] = peertext.Line(r.Label, 80)
	}
}

// eventLine shows who did what where: the actor by name, refs with their place,
// files, then the small facts.
func eventLine(a *app.Run, e coord.Event, n names) string {
	var facts []string
	if who := n[e.Actor.ID]; who != "" {
		facts = append(facts, who)
	}
	if ref, ok := e.Payload["ref"].(string); ok {
		facts = append(facts, peertext.Line(ref, 40))
		if n[ref] != "" {
			facts = append(facts, n[ref])
		}
	}
	if paths := pathsOf(e.Payload); len(paths) > 0 {
		text := peertext.Path(paths[0])
		if len(paths) > 1 {
			text += fmt.Sprintf(" +%d", len(paths)-1)
		}
		facts = append(facts, text)
	}
	keys := slices.Sorted(maps.Keys(e.Payload))
	for _, k := range keys {
		switch v := e.Payload[k].(type) {
		case nil, map[string]any, []any:
		case string:
			if k != "ref" && k != "path" && v != "" && k != "fingerprint" && !isID(v) { // --json has what only programs read
				facts = append(facts, peertext.Name(k)+"="+peertext.Line(v, 60))
			}
		default:
			facts = append(facts, peertext.Line(fmt.Sprintf("%s=%v", k, v), 60))
		}
	}
	clock := e.OccurredAt.Std().Local().Format("15:04:05")
	line := fmt.Sprintf("%s  %-24s %s", a.Paint(term.Dim, clock), peertext.Name(string(e.Type)), strings.Join(facts, " "))
	return strings.TrimRight(line, " ")
}

// pathsOf returns the files that an event is about.
func pathsOf(payload map[string]any) (paths []string) {
	if p, ok := payload["path"].(string); ok && p != "" {
		paths = append(paths, p)
	}
	list, _ := payload["paths"].([]any)
	for _, v := range list {
		if p, ok := v.(string); ok && p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// isID reports whether a text is a whole id, which says nothing to a person.
func isID(s string) bool {
	return len(s) == 36 && strings.Count(s, "-") == 4 && strings.Trim(strings.ToLower(s), "0123456789abcdef-") == ""
}

// watchStatus shows the status and keeps it current. In a pipe it prints the
// status once and then the events.
func watchStatus(ctx context.Context, a *app.Run) error {
	if a.JSON {
		return followPrinting(ctx, a, remote.Feed{})
	}
	if !a.Terminal.Out {
		printStatus(a, readStatus(ctx, a))
		return followPrinting(ctx, a, remote.Feed{})
	}
	events := make(chan coord.Event, 64)
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		ended <- follow(ctx, a, remote.Feed{}, func(e coord.Event) error {
			select {
			case events <- e:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	return redraw(ctx, a, events, ended)
}

// redraw draws the status again after events, at most twice a second, and
// once more at the end.
func redraw(ctx context.Context, a *app.Run, events <-chan coord.Event, ended <-chan error) error {
	const keep = 8
	var last []string
	known := names{}
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	note := func(e coord.Event) {
		named(ctx, a, c, known, e)
		last = append(last, "  "+eventLine(a, e, known))
		last = last[max(0, len(last)-keep):]
	}
	for {
		draw(ctx, a, last)
		var settle <-chan time.Time
		for drawn := true; drawn; {
			select {
			case err := <-ended:
				for more := len(events); more > 0; more-- {
					note(<-events)
				}
				draw(ctx, a, last)
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
func draw(ctx context.Context, a *app.Run, last []string) {
	var b bytes.Buffer
	page := *a
	page.Env = &app.Env{}
	*page.Env = *a.Env
	page.Stdout = &b
	now := readStatus(ctx, a)
	if ctx.Err() != nil {
		return // stopped meanwhile: what could not be asked is no failure
	}
	printStatus(&page, now)
	if len(last) > 0 {
		fmt.Fprintf(&b, "\n%s\n%s\n", a.Paint(term.Bold, "Just now"), strings.Join(last, "\n"))
	}
	fmt.Fprintf(a.Stdout, "\x1b[H%s\x1b[J", strings.ReplaceAll(b.String(), "\n", "\x1b[K\n"))
}
