package records

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func threadsCommand(a *app.Run) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "threads",
		Short:   "List the conversations, the latest active first",
		Long:    "List the channels and your direct conversations, the latest active first. svc\nmessages show reads one whole.",
		Example: "  svc messages threads\n  svc messages threads --limit 10 --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return threadList.ask(cmd.Context(), a, query(threadList.path, "limit", fmt.Sprint(limit)))
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many, 1 to 100")
	return cmd
}

// threadWord is what to type for a conversation: a channel's name, or the
// beginning of an id.
func threadWord(c coord.Conversation) string {
	if c.Kind == coord.Channel {
		return peertext.Line(c.Name, 100)
	}
	return short(c.ID)
}

// threadTitle is whom a conversation is with, and what it is about.
func threadTitle(c coord.Conversation) string {
	title := ""
	if c.Kind == coord.Direct {
		title = peertext.Line(c.Name, 100)
	}
	if c.About != nil && (isRef(c.About.Ref, "INT-") || isRef(c.About.Ref, "CF-")) {
		title += " about " + peertext.Name(c.About.Ref)
	} else if s := text(c.Subject); s != "" {
		title += ": " + peertext.Title(s)
	}
	return strings.TrimPrefix(strings.TrimSpace(title), ": ")
}

// short is the beginning of an id that says which one is meant: ids begin with
// the millisecond in which they were made.
func short(id string) string { return id[:min(len(id), len("01a1e297-3c2d"))] }

func showThreadCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show THREAD",
		Short: "Read a conversation whole",
		Long: "Read a conversation from its first message to its last. THREAD is @name or an\n" +
			"email, #team, #owner/name, INT-n, CF-n, a question's id, an id that svc messages\n" +
			"threads shows, or a link from the dashboard.",
		Example: "  svc messages show @bob\n  svc messages show '#team'\n  svc messages show CF-3",
		Args:    term.Exactly(1, "a conversation: @name, #team, INT-n, CF-n or its id"),
		RunE:    func(cmd *cobra.Command, args []string) error { return showThread(cmd.Context(), a, args[0]) },
	}
	completesArgs(a, cmd, "people", "threads", "conflicts", "intents")
	return cmd
}

// A thread is the JSON of a conversation with all that was said in it.
type thread struct {
	Conversation coord.Conversation `json:"conversation"`
	Messages     []coord.Message    `json:"messages"`
}

func showThread(ctx context.Context, a *app.Run, word string) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	found, err := findThread(ctx, c, word)
	if err != nil {
		return err
	}
	all := thread{found, []coord.Message{}}
	for before := ""; ; {
		var page wire.Page[coord.Message]
		path := query("/v1/conversations/"+url.PathEscape(found.ID)+"/messages", "limit", "200", "before", before)
		if err := c.Send(ctx, "GET", path, nil, &page); err != nil {
			return err
		}
		all.Messages = append(page.Items, all.Messages...)
		if page.NextCursor == nil {
			break
		}
		before = *page.NextCursor
	}
	if a.JSON {
		return a.PrintJSON(all)
	}
	title := strings.TrimSpace(channelWord(found) + threadTitle(found))
	fmt.Fprintf(a.Stdout, "%s, %s\n", a.Paint(term.Bold, title), term.Plural(len(all.Messages), "message"))
	for _, m := range all.Messages {
		fmt.Fprintln(a.Stdout)
		printMessage(a, m)
	}
	fmt.Fprintf(a.Stdout, "\nTo write: svc messages send %s TEXT\n", sendWord(found))
	return nil
}

func channelWord(c coord.Conversation) string {
	if c.Kind == coord.Channel {
		return threadWord(c) + " "
	}
	return ""
}

// sendWord is what svc messages send takes for a conversation.
func sendWord(c coord.Conversation) string {
	if c.Kind == coord.Channel {
		return "'" + threadWord(c) + "'"
	}
	return "thread:" + c.ID
}

// findThread returns the conversation that a word means, the latest active of
// several.
func findThread(ctx context.Context, c *remote.Client, word string) (coord.Conversation, error) {
	is, err := threadTest(ctx, c, word)
	if err != nil {
		return coord.Conversation{}, err
	}
	var second *coord.Conversation
	for cursor := ""; ; {
		var page wire.Page[coord.Conversation]
		if err := c.Send(ctx, "GET", query("/v1/conversations", "limit", "100", "cursor", cursor), nil, &page); err != nil {
			return coord.Conversation{}, err
		}
		for _, v := range page.Items {
			if !is(v) {
				continue
			}
			if !strings.Contains(word, "@") || v.About == nil {
				return v, nil
			}
			if second == nil { // with somebody, but about a record: what was said to them alone is rather meant
				second = &v
			}
		}
		if page.NextCursor == nil {
			if second != nil {
				return *second, nil
			}
			return coord.Conversation{}, fmt.Errorf("no conversation of yours is %q; svc messages threads lists them", peertext.Line(word, 100))
		}
		cursor = *page.NextCursor
	}
}

// threadTest returns what tells the conversation that a word means.
func threadTest(ctx context.Context, c *remote.Client, word string) (func(coord.Conversation) bool, error) {
	if u, err := url.Parse(word); err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.Contains(u.Path, "/messages/") {
		word = u.Path[strings.LastIndex(u.Path, "/")+1:]
	}
	id := strings.TrimPrefix(word, "thread:")
	if len(id) >= shortestID && !isRef(id, "CF-") && strings.Trim(strings.ToLower(id), "0123456789abcdef-") == "" {
		return func(v coord.Conversation) bool {
			return strings.HasPrefix(v.ID, strings.ToLower(id)) || v.About != nil && strings.HasPrefix(v.About.Ref, strings.ToLower(id))
		}, nil
	}
	to, err := target(ctx, c, word)
	if err != nil {
		return nil, err
	}
	kind, rest, _ := strings.Cut(to, ":")
	switch kind {
	case "user":
		return func(v coord.Conversation) bool {
			return v.Kind == coord.Direct && slices.ContainsFunc(v.Participants, func(u coord.User) bool { return strings.EqualFold(u.Email, rest) })
		}, nil
	case "intent", "conflict":
		return func(v coord.Conversation) bool { return v.About != nil && strings.EqualFold(v.About.Ref, rest) }, nil
	}
	return func(v coord.Conversation) bool { return strings.EqualFold(v.To, to) }, nil
}
