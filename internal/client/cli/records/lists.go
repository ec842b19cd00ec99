package records

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A listing is how records of one kind are listed: what they are called, where
// the service has them, and their columns.
type listing[T any] struct {
	noun    string // of a single one
	path    string // "" where the command says from where
	none    string // what is said where there are none
	columns []column[T]
}

// A column is a heading with what a record says under it. It is made of values
// alone, so that starting svc costs nothing for it.
type column[T any] struct {
	title string
	room  room
	cell  func(*app.Run, T) string
}

// A room says how a column gives way where there is little of it: the numbers of
// term.Col, and whether the end of a cell says most.
type room [4]int

const tail = 1

// run is the command that lists all.
func (l listing[T]) run(a *app.Run) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error { return l.ask(cmd.Context(), a, l.path) }
}

// ask reads records from a path and prints them.
func (l listing[T]) ask(ctx context.Context, a *app.Run, path string) error {
	return send(ctx, a, "GET", path, nil, func(page wire.Page[T]) { l.page(a, page) })
}

// page prints a page of records.
func (l listing[T]) page(a *app.Run, page wire.Page[T]) {
	l.print(a, page.Items, page.NextCursor != nil)
}

func (l listing[T]) print(a *app.Run, records []T, more bool) {
	columns := make([]grid.Column, len(l.columns))
	for i, c := range l.columns {
		columns[i] = grid.Column{Title: c.title, Min: c.room[0], Drop: c.room[1], Want: c.room[2], Tail: c.room[3] == tail}
	}
	rows := make([][]string, len(records))
	for i, r := range records {
		for _, c := range l.columns {
			rows[i] = append(rows[i], c.cell(a, r))
		}
	}
	a.List(rows, columns, l.none, more)
}

// listed asks for the records that the flags want, and prints them.
func listed[T any](ctx context.Context, a *app.Run, flags *listFlags,
	ask func(*remote.Client, context.Context, remote.Filter) (wire.Page[T], error), show func(wire.Page[T])) error {
	f, err := flags.resolve(ctx, a)
	if err != nil {
		return err
	}
	return shown(ctx, a, f, ask, show)
}

// Nouns are the commands whose bare name lists: all of them take list as well.
var Nouns = []string{"intents", "conflicts", "messages", "attention", "members", "tokens", "repos", "contracts", "webhooks"}

// WithList gives a noun the verb list, with the flags that its bare name has:
// people type either.
func WithList(noun *cobra.Command) {
	list := &cobra.Command{
		Use:     "list",
		Short:   noun.Short,
		Long:    noun.Long,
		Example: "  svc " + noun.Name() + " list",
		Args:    term.NoArgs,
		RunE:    noun.RunE,
	}
	if name, ok := strings.CutPrefix(list.Short, "List "); ok {
		name, _, _ = strings.Cut(name, ",")
		list.Short = "List " + name
	}
	list.Flags().AddFlagSet(noun.LocalNonPersistentFlags())
	noun.AddCommand(list)
}

var intentList = listing[coord.Intent]{"intent", "/v1/intents", "No intents.", []column[coord.Intent]{
	{"INTENT", room{}, func(_ *app.Run, in coord.Intent) string { return in.Ref }},
	{"STATUS", room{0, 1}, func(_ *app.Run, in coord.Intent) string { return peertext.Name(string(in.Status)) }},
	{"OWNER", room{8, 0, 16}, func(_ *app.Run, in coord.Intent) string { return person(&in.Owner) }},
	{"REPO", room{10, 3}, func(_ *app.Run, in coord.Intent) string { return peertext.Path(in.Repo.FullName) }},
	{"BRANCH", room{10, 4}, func(_ *app.Run, in coord.Intent) string { return peertext.Branch(text(in.Branch)) }},
	{"ACTIVE", room{0, 2}, func(a *app.Run, in coord.Intent) string { return a.Ago(in.LastActivityAt) }},
	{"WHERE", room{14, 0, 18, tail}, func(_ *app.Run, in coord.Intent) string { return paths(in.Scope.Paths) }},
	{"TITLE", room{20, 0, 24}, func(_ *app.Run, in coord.Intent) string { return peertext.Title(in.Title) }},
}}

var conflictList = listing[coord.Conflict]{"conflict", "/v1/conflicts", "No conflicts.", []column[coord.Conflict]{
	{"CONFLICT", room{}, func(_ *app.Run, c coord.Conflict) string { return c.Ref }},
	{"SEVERITY", room{}, func(_ *app.Run, c coord.Conflict) string { return peertext.Name(string(c.Severity)) }},
	{"WHERE", room{18, 0, 30, tail}, func(_ *app.Run, c coord.Conflict) string { return team.Where(c) }},
	{"BETWEEN", room{16, 0, 24}, func(_ *app.Run, c coord.Conflict) string { return team.Between(c) }},
	{"KIND", room{0, 1}, func(_ *app.Run, c coord.Conflict) string { return peertext.Name(string(c.Kind)) }},
	{"STATUS", room{0, 2}, func(_ *app.Run, c coord.Conflict) string { return peertext.Name(string(c.Status)) }},
	{"REPO", room{10, 3}, func(_ *app.Run, c coord.Conflict) string { return peertext.Path(c.Repo.FullName) }},
	{"WHY", room{30, 4}, func(a *app.Run, c coord.Conflict) string { return team.Why(a.Now(), c.Explanation, 200) }},
}}

var attentionList = listing[coord.AttentionItem]{"need", "/v1/attention", "Nothing waits for you.", []column[coord.AttentionItem]{
	{"KIND", room{0, 2}, func(_ *app.Run, it coord.AttentionItem) string {
		return strings.ReplaceAll(peertext.Name(string(it.Kind)), "_", " ")
	}},
	{"SINCE", room{0, 1}, func(a *app.Run, it coord.AttentionItem) string { return a.Ago(it.Since) }},
	{"WHAT", room{24, 0, 30}, func(a *app.Run, it coord.AttentionItem) string {
		what := peertext.Title(it.Title)
		if d := team.Why(a.Now(), it.Detail, 300); d != "" && d != what {
			what += ": " + d
		}
		return what
	}},
	{"NEXT", room{}, func(_ *app.Run, it coord.AttentionItem) string { return nextStep(it) }},
	{"REPO", room{10, 3}, func(_ *app.Run, it coord.AttentionItem) string {
		if it.Repo == nil {
			return ""
		}
		return peertext.Path(it.Repo.FullName)
	}},
}}

var threadList = listing[coord.Conversation]{"conversation", "/v1/conversations", "No conversations.", []column[coord.Conversation]{
	{"THREAD", room{}, func(_ *app.Run, c coord.Conversation) string { return threadWord(c) }},
	{"WITH", room{14, 0, 24}, func(_ *app.Run, c coord.Conversation) string { return threadTitle(c) }},
	{"MESSAGES", room{0, 2}, func(_ *app.Run, c coord.Conversation) string { return strconv.Itoa(c.MessageCount) }},
	{"UNREAD", room{}, func(_ *app.Run, c coord.Conversation) string {
		if c.UnreadCount == 0 {
			return ""
		}
		return strconv.Itoa(c.UnreadCount)
	}},
	{"LAST", room{0, 1}, func(a *app.Run, c coord.Conversation) string { return a.Ago(c.UpdatedAt) }},
	{"SAYS", room{16, 0, 20}, func(_ *app.Run, c coord.Conversation) string {
		if c.LastMessage == nil {
			return ""
		}
		return peertext.Line(c.LastMessage.Body, 200)
	}},
}}

var presenceList = listing[wire.Online]{"session", "/v1/presence", "Nobody's agent is at work.", []column[wire.Online]{
	{"WHO", room{8, 0, 16}, func(_ *app.Run, o wire.Online) string { return person(&o.Developer) }},
	{"TOOL", room{0, 3}, func(_ *app.Run, o wire.Online) string { return peertext.Name(o.Tool) }},
	{"STATUS", room{0, 2}, func(_ *app.Run, o wire.Online) string { return string(o.Status) }},
	{"REPO", room{10, 0, 16}, func(_ *app.Run, o wire.Online) string { return peertext.Path(o.Repo.FullName) }},
	{"ACTIVE", room{0, 1}, func(a *app.Run, o wire.Online) string { return a.Ago(o.LastActivity) }},
	{"WORKS ON", room{20, 0, 30}, func(_ *app.Run, o wire.Online) string {
		if o.Intent == nil {
			return ""
		}
		return o.Intent.Ref + " " + title(o.Intent.Title)
	}},
	{"SAYS", room{24, 4}, func(_ *app.Run, o wire.Online) string { return peertext.Line(text(o.StatusText), 200) }},
}}

var branchList = listing[wire.Branch]{"branch", "/v1/branches", "Everybody at work here uses svc.", []column[wire.Branch]{
	{"WHAT", room{}, func(_ *app.Run, b wire.Branch) string { return b.Outside.Name() }},
	{"BY", room{8, 0, 16}, func(_ *app.Run, b wire.Branch) string { return peertext.Person(b.Outside.Author) }},
	{"REPO", room{10, 0, 16}, func(_ *app.Run, b wire.Branch) string { return peertext.Path(b.Repo.FullName) }},
	{"BRANCH", room{12, 0, 30}, func(_ *app.Run, b wire.Branch) string { return peertext.Branch(b.Branch) }},
	{"FILES", room{0, 2}, func(_ *app.Run, b wire.Branch) string { return strconv.Itoa(b.Files) }},
	{"PUSHED", room{0, 1}, func(a *app.Run, b wire.Branch) string { return a.Ago(b.PushedAt) }},
}}

var searchList = listing[coord.Memory]{"record", "/v1/search", "Nothing found.", []column[coord.Memory]{
	{"REF", room{}, func(_ *app.Run, m coord.Memory) string { return peertext.Line(m.Ref, 60) }},
	{"KIND", room{0, 2}, func(_ *app.Run, m coord.Memory) string { return string(m.Kind) }},
	{"BY", room{8, 0, 16}, func(_ *app.Run, m coord.Memory) string { return person(m.By) }},
	{"WHEN", room{0, 1}, func(a *app.Run, m coord.Memory) string { return a.Ago(m.At) }},
	{"TITLE", room{24, 0, 40}, func(_ *app.Run, m coord.Memory) string { return peertext.Title(m.Title) }},
}}

var memberList = listing[coord.Membership]{"member", "/v1/members", "No members.", []column[coord.Membership]{
	{"NAME", room{10}, func(_ *app.Run, m coord.Membership) string { return peertext.Person(m.Name) }},
	{"EMAIL", room{}, func(_ *app.Run, m coord.Membership) string { return peertext.Person(m.Email) }},
	{"ROLE", room{}, func(_ *app.Run, m coord.Membership) string { return string(m.Role) }},
}}

var inviteList = listing[coord.Invite]{
	"invite", "/v1/invites", "Nobody is invited; svc members invite EMAIL invites somebody.",
	[]column[coord.Invite]{
		{"ID", room{}, func(_ *app.Run, i coord.Invite) string { return short(i.ID) }},
		{"EMAIL", room{16}, func(_ *app.Run, i coord.Invite) string { return invitee(i) }},
		{"ROLE", room{}, func(_ *app.Run, i coord.Invite) string { return string(i.Role) }},
		{"LETTER", room{12}, func(_ *app.Run, i coord.Invite) string { return letterState(i.Mail) }},
		{"UNTIL", room{0, 1}, func(_ *app.Run, i coord.Invite) string { return i.ExpiresAt.Std().Format(time.DateOnly) }},
	},
}

var tokenList = listing[coord.Token]{"token", "/v1/tokens", "No tokens.", []column[coord.Token]{
	{"ID", room{}, func(_ *app.Run, t coord.Token) string { return t.ID }},
	{"NAME", room{16}, func(_ *app.Run, t coord.Token) string { return peertext.Person(t.Name) }},
	{"KIND", room{0, 1}, func(_ *app.Run, t coord.Token) string { return string(t.Kind) }},
	{"STATE", room{}, func(a *app.Run, t coord.Token) string { return tokenState(a, t) }},
	{"USED", room{0, 2}, func(a *app.Run, t coord.Token) string { return tokenUse(a, t) }},
}}

var repoList = listing[coord.Repo]{
	"repository", "/v1/repos?limit=200", "No repositories; svc repos add makes the first.",
	[]column[coord.Repo]{
		{"REPO", room{}, func(_ *app.Run, r coord.Repo) string { return peertext.Path(r.FullName) }},
		{"STATE", room{}, func(_ *app.Run, r coord.Repo) string { return repoState(r) }},
		{"PROVIDER", room{0, 1}, func(_ *app.Run, r coord.Repo) string { return string(r.Provider) }},
		{"DEFAULT BRANCH", room{8, 2}, func(_ *app.Run, r coord.Repo) string { return peertext.Branch(r.DefaultBranch) }},
	},
}

var contractList = listing[wire.ContractRecord]{
	"contract", "/v1/contracts", "No contracts; svc index reads them.",
	[]column[wire.ContractRecord]{
		{"CONTRACT", room{}, func(_ *app.Run, k wire.ContractRecord) string { return peertext.Line(k.Key, 100) }},
		{"CRITICAL", room{}, func(_ *app.Run, k wire.ContractRecord) string { return k.Criticality.Level }},
		{"USES", room{}, func(_ *app.Run, k wire.ContractRecord) string { return strconv.Itoa(len(k.Users)) }},
		{"IN FLIGHT", room{}, func(_ *app.Run, k wire.ContractRecord) string { return strconv.Itoa(len(k.InFlight)) }},
	},
}

var webhookList = listing[coord.Webhook]{"webhook", "/v1/webhooks", "No webhooks.", []column[coord.Webhook]{
	{"ID", room{}, func(_ *app.Run, h coord.Webhook) string { return short(h.ID) }},
	{"STATE", room{}, func(_ *app.Run, h coord.Webhook) string { return webhookState(h) }},
	{"ADDRESS", room{20}, func(_ *app.Run, h coord.Webhook) string { return peertext.Line(h.URL, 200) }},
	{"EVENTS", room{12, 1}, func(_ *app.Run, h coord.Webhook) string { return chosen(h.EventTypes) }},
}}

// deliveryList is of one webhook, which the path has.
var deliveryList = listing[coord.Delivery]{"delivery", "", "Nothing was sent to it yet.", []column[coord.Delivery]{
	{"DELIVERY", room{}, func(_ *app.Run, d coord.Delivery) string { return d.ID }},
	{"STATE", room{}, func(_ *app.Run, d coord.Delivery) string { return string(d.Status) }},
	{"EVENT", room{16}, func(_ *app.Run, d coord.Delivery) string { return string(d.EventType) }},
	{"WHEN", room{0, 2}, func(a *app.Run, d coord.Delivery) string { return a.Ago(d.CreatedAt) }},
	{"TRIES", room{0, 3}, func(_ *app.Run, d coord.Delivery) string { return strconv.Itoa(d.Attempts) }},
	{"ANSWER", room{12, 1}, func(_ *app.Run, d coord.Delivery) string {
		answer := peertext.Line(text(d.Error), 100)
		if d.ResponseStatus != nil {
			answer = strings.TrimSpace(fmt.Sprintf("%d %s", *d.ResponseStatus, answer))
		}
		return answer
	}},
}}

// figureList is what each member did, by the figures of the last days.
var figureList = listing[wire.MemberTotals]{"member", "/v1/stats", "Nobody did anything.", []column[wire.MemberTotals]{
	{"WHO", room{10}, func(_ *app.Run, m wire.MemberTotals) string { return person(&m.User) }},
	{"INTENTS", room{}, func(_ *app.Run, m wire.MemberTotals) string { return strconv.Itoa(m.Intents) }},
	{"CONFLICTS", room{}, func(_ *app.Run, m wire.MemberTotals) string { return strconv.Itoa(m.Conflicts) }},
	{"SESSIONS", room{}, func(_ *app.Run, m wire.MemberTotals) string { return strconv.Itoa(m.Sessions) }},
}}
