package talk

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// ListConversations returns the channels and the caller's direct threads, the
// latest active first.
func (s *Service) ListConversations(ctx context.Context, who coord.Caller,
	in wire.ListConversations) (out wire.Page[coord.Conversation], err error) {
	want := store.ConversationFilter{Limit: in.Limit + 1}
	if in.Kind != nil {
		want.Kind = *in.Kind
	}
	if err := ground.Uncursor(in.Cursor, &want.Before, &want.BeforeID); err != nil {
		return out, err
	}
	if err := s.ensureChannels(ctx, who); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Conversations(ctx, who.OrgID, Reader(who), want)
		out.Items, out.NextCursor = ground.Page(rows, in.Limit, func(c coord.Conversation) []any { return []any{c.UpdatedAt, c.ID} })
		for i := range out.Items {
			name(&out.Items[i], who)
		}
		return err
	})
	return out, err
}

// ensureChannels makes the channels that nobody has posted to yet.
func (s *Service) ensureChannels(ctx context.Context, who coord.Caller) error {
	missing := false
	err := s.Read(ctx, func(tx *store.Tx) error {
		have, err := tx.CountChannels(ctx, who.OrgID)
		if err != nil {
			return err
		}
		repos, err := tx.CountRepos(ctx, who.OrgID)
		missing = have < repos+1
		return err
	})
	if err != nil || !missing {
		return err
	}
	return s.Write(ctx, who, func(tx *store.Tx) error {
		repos, err := tx.Repos(ctx, who.OrgID)
		if err != nil {
			return err
		}
		org, err := tx.Org(ctx, who.OrgID)
		if err != nil {
			return err
		}
		threads := []store.Thread{store.TeamChannel().From(org.CreatedAt)}
		for _, r := range repos {
			threads = append(threads, store.RepoChannel(r.ID).From(r.CreatedAt))
		}
		for _, t := range threads {
			if _, err := tx.EnsureConversation(ctx, who.OrgID, ground.NewID(), t); err != nil {
				return err
			}
		}
		return nil
	})
}

// name fills in what a conversation is called and how to post to it, as the
// caller sees it.
func name(c *coord.Conversation, who coord.Caller) {
	switch {
	case c.Kind == coord.Direct:
		var names []string
		for _, p := range c.Participants {
			if p.ID != who.UserID || len(c.Participants) == 1 {
				names = append(names, p.Name)
			}
		}
		c.Name, c.To = strings.Join(names, ", "), "thread:"+c.ID
	case c.Repo != nil:
		c.Name, c.To = "#"+c.Repo.FullName, "channel:"+c.Repo.FullName
	default:
		c.Name, c.To = "#team", "channel:team"
	}
}

// conversation returns a conversation that the caller can read.
func (s *Service) conversation(ctx context.Context, tx *store.Tx, who coord.Caller, id string) (coord.Conversation, error) {
	if err := ground.WantUUID(id, noConversation); err != nil {
		return coord.Conversation{}, err
	}
	rows, err := tx.Conversations(ctx, who.OrgID, Reader(who), store.ConversationFilter{ID: id, Limit: 1})
	if err != nil {
		return coord.Conversation{}, err
	}
	if len(rows) == 0 {
		return coord.Conversation{}, problem.Newf(problem.NotFound, noConversation)
	}
	name(&rows[0], who)
	return rows[0], nil
}

// GetConversation returns one conversation.
func (s *Service) GetConversation(ctx context.Context, who coord.Caller, in wire.ID) (out coord.Conversation, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, err = s.conversation(ctx, tx, who, in.ID)
		return err
	})
	return out, err
}

// ListConversationMessages returns a page of a conversation, oldest first. In
// the dashboard the person has read it then; their agents have not.
func (s *Service) ListConversationMessages(ctx context.Context, who coord.Caller,
	in wire.ConversationMessages) (out wire.Page[coord.Message], err error) {
	load := func(tx *store.Tx) error {
		c, err := s.conversation(ctx, tx, who, in.ID)
		if err != nil {
			return err
		}
		want := store.MessageFilter{Conversation: c.ID, Limit: in.Limit + 1}
		if in.Before != "" {
			at, err := tx.Messages(ctx, who.OrgID, Reader(who), store.MessageFilter{Conversation: c.ID, IDs: []string{in.Before}, Limit: 1})
			if err != nil {
				return err
			}
			if len(at) == 0 {
				return problem.InvalidField("before", "is not a message of this conversation; start without it")
			}
			want.Before = at[0].Seq
		}
		out.Items, err = tx.Messages(ctx, who.OrgID, Reader(who), want)
		if err != nil {
			return err
		}
		if len(out.Items) > in.Limit {
			out.Items = out.Items[:in.Limit]
			oldest := out.Items[in.Limit-1].ID
			out.NextCursor = &oldest
		}
		slices.Reverse(out.Items)
		if who.Via == coord.ViaCookie && slices.ContainsFunc(out.Items, func(m coord.Message) bool { return m.ReadAt == nil }) {
			return See(ctx, tx, who, nil, out.Items)
		}
		return nil
	}
	if who.Via == coord.ViaCookie {
		err = s.Write(ctx, who, load)
	} else {
		err = s.Read(ctx, load)
	}
	return out, err
}

// ListChannels returns the team's channel and one per repo, the session's own
// repo first.
func (s *Service) ListChannels(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Channels, err error) {
	if err := s.ensureChannels(ctx, who); err != nil {
		return out, err
	}
	out.Items = []wire.Channel{}
	err = s.Read(ctx, func(tx *store.Tx) error {
		who := who
		sess, err := s.Listener(ctx, tx, &who)
		if err != nil {
			return err
		}
		const most = 1000
		rows, err := tx.Conversations(ctx, who.OrgID, Reader(who), store.ConversationFilter{Kind: coord.Channel, Limit: most})
		for _, c := range rows {
			out.Items = append(out.Items, channelOf(c, who, sess))
		}
		return err
	})
	slices.SortStableFunc(out.Items, func(a, b wire.Channel) int { return channelRank(a) - channelRank(b) })
	return out, err
}

func channelRank(c wire.Channel) int {
	switch {
	case c.Current:
		return 0
	case c.Repo == nil:
		return 1
	}
	return 2
}

func channelOf(c coord.Conversation, who coord.Caller, sess *store.SessionRow) wire.Channel {
	name(&c, who)
	return wire.Channel{ID: c.ID, Name: c.Name, To: c.To, Repo: c.Repo, Current: sess != nil && c.Repo != nil && sess.Repo.ID == c.Repo.ID,
		MessageCount: c.MessageCount, NewCount: c.UnreadCount, LastMessage: c.LastMessage}
}

// ReadChannel returns the latest posts of a channel, oldest first. Those
// addressed to the caller count as seen.
func (s *Service) ReadChannel(ctx context.Context, who coord.Caller, in wire.ChannelRead) (out wire.ChannelPosts, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		who := who
		channel := strings.TrimSpace(in.Channel)
		if rest, ok := strings.CutPrefix(channel, "channel:"); ok {
			channel = rest
		}
		t, err := s.channelNamed(ctx, tx, who, "channel", channel)
		if err != nil {
			return err
		}
		sess, err := s.Listener(ctx, tx, &who)
		if err != nil {
			return err
		}
		if _, err := tx.EnsureConversation(ctx, who.OrgID, ground.NewID(), t); err != nil {
			return err
		}
		rows, err := tx.Conversations(ctx, who.OrgID, Reader(who), store.ConversationFilter{Key: t.Key, Limit: 1})
		if err != nil {
			return err
		}
		out.Channel = channelOf(rows[0], who, sess)
		if out.Items, err = tx.Messages(ctx, who.OrgID, Reader(who), store.MessageFilter{Conversation: rows[0].ID, Limit: in.Limit}); err != nil {
			return err
		}
		slices.Reverse(out.Items)
		return See(ctx, tx, who, sess, out.Items)
	})
	return out, err
}
