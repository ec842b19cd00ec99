package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

const auditUsage = `usage: svcd audit [--org SLUG] [--before YYYY-MM-DD] [--chain] [--data FOLDER | --database URL]
       svcd audit verify [--org SLUG [--head SEQ:HASH]] [--data FOLDER | --database URL]

Prints the event log, oldest first, one event as JSON on each line, while the
server runs or not. Events older than the policy's retention_days are
forgotten: run this before, and keep what it prints.
--chain prints each event with its seal, which holds the hash of the one before;
docs/audit.md says how to check that without svc.
verify checks the seals, ends with 1 if the log was changed, and prints the newest
seal, the head. Keep that somewhere else: with --head a later check tells whether
it is still in the chain.

Example:
  svcd audit --before 2026-01-01 > audit-2025.jsonl
`

// auditPage is how many events are read at once.
const auditPage = 500

func audit(ctx context.Context, env Env, args []string) error {
	args, flags := bare(args, "chain")
	at, rest, err := places(env, "audit", auditUsage, args, "org", "before", "head", "data", "database")
	if err != nil {
		return err
	}
	verify := len(rest) == 1 && rest[0] == "verify"
	if len(rest) > 0 && !verify {
		return usageError{fmt.Errorf("audit takes no argument %q; svcd audit --help tells more", rest[0])}
	}
	var before coord.Time
	if at["before"] != "" {
		day, err := time.Parse(time.DateOnly, at["before"])
		if err != nil {
			return usageError{fmt.Errorf("--before %q is not a date such as 2026-01-31", at["before"])}
		}
		before = coord.TimeOf(day)
	}
	head, err := parseHead(at["head"], at["org"], verify)
	if err != nil {
		return err
	}
	return eachOrg(ctx, env, at, func(st *store.Store, o coord.Org) error {
		switch {
		case verify:
			return verifyChain(ctx, env, st, o, head)
		case flags["chain"] != "":
			return printChain(ctx, env, st, o.ID, before)
		}
		return printEvents(ctx, env, st, o.ID, before)
	})
}

// eachOrg calls fn with the org that --org names, or with all.
func eachOrg(ctx context.Context, env Env, at map[string]string, fn func(*store.Store, coord.Org) error) error {
	cfg, err := databaseOf(env, "audit", at)
	if err != nil {
		return err
	}
	st, err := store.Existing(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer st.Close()
	var orgs []coord.Org
	if err := st.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.Orgs(ctx)
		return err
	}); err != nil {
		return err
	}
	found := false
	var failed []error // of one, which says nothing of the others
	for _, o := range orgs {
		if at["org"] == "" || at["org"] == o.Slug {
			found = true
			failed = append(failed, fn(st, o))
		}
	}
	if !found && at["org"] != "" {
		return fmt.Errorf("there is no org %q", at["org"])
	}
	return errors.Join(failed...)
}

func parseHead(text, org string, verify bool) (h store.Head, err error) {
	switch {
	case text == "":
		return h, nil
	case org == "" || !verify:
		return h, usageError{errors.New("--head is for svcd audit verify, with the --org whose head it is")}
	}
	seq, hash, ok := strings.Cut(text, ":")
	h.Seq, err = strconv.ParseInt(seq, 10, 64)
	if h.Hash = hash; !ok || err != nil || len(hash) != 64 {
		return h, usageError{fmt.Errorf("--head %q is not what svcd audit verify prints, such as 991:0f3a…", text)}
	}
	return h, nil
}

// printEvents prints an org's events, page by page: nothing waits for it.
func printEvents(ctx context.Context, env Env, st *store.Store, org string, before coord.Time) error {
	out := json.NewEncoder(env.Stdout)
	for last := int64(0); ; {
		var page []coord.Event
		if err := st.Read(ctx, func(tx *store.Tx) (err error) {
			page, err = tx.EventsAfter(ctx, org, last, auditPage)
			return err
		}); err != nil {
			return err
		}
		for _, e := range page {
			last = e.Seq
			if before > 0 && e.OccurredAt >= before {
				continue
			}
			if err := out.Encode(e); err != nil {
				return err
			}
		}
		if len(page) < auditPage {
			return nil
		}
	}
}

// eachSealed calls fn with an org's sealed events up to one, oldest first.
func eachSealed(ctx context.Context, st *store.Store, org string, until int64, fn func(store.Sealed) error) error {
	for last := int64(math.MinInt64); ; {
		var page []store.Sealed
		if err := st.Read(ctx, func(tx *store.Tx) (err error) {
			page, err = tx.SealedAfter(ctx, org, last, until, auditPage)
			return err
		}); err != nil {
			return err
		}
		for _, s := range page {
			last = s.Seq
			if err := fn(s); err != nil {
				return err
			}
		}
		if len(page) < auditPage {
			return nil
		}
	}
}

func printChain(ctx context.Context, env Env, st *store.Store, org string, before coord.Time) error {
	out := json.NewEncoder(env.Stdout)
	out.SetEscapeHTML(false)
	over := false
	return eachSealed(ctx, st, org, math.MaxInt64, func(s store.Sealed) error {
		if over = over || before > 0 && coord.Time(s.Millis) >= before; over {
			return nil // one piece, without gaps
		}
		return out.Encode(s)
	})
}

// A chain is what is known of a chain while it is checked.
type chain struct {
	asked       store.Head // somebody was told of
	seen        bool       // of it
	first, last store.Sealed
	events      int64
	erased      int
	wrong       []string
}

func (c *chain) say(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// add checks the next event of a chain.
func (c *chain) add(s store.Sealed) {
	switch {
	case s.Type == "":
		c.say("event %d is gone from the log", s.Seq)
	case s.HashNow() != s.Hash:
		c.say("event %d is not what was sealed", s.Seq)
	}
	if c.events == 0 {
		c.first = s
		if s.Seq == 1 && s.Previous != "" {
			c.say("event 1 follows another")
		}
	} else if s.Previous != c.last.Hash || s.Seq != c.last.Seq+1 {
		c.say("event %d does not follow event %d", s.Seq, c.last.Seq)
	}
	if s.Erased {
		c.erased++
	}
	c.events, c.last = c.events+1, s
	c.seen = c.seen || s.Seq == c.asked.Seq && s.Hash == c.asked.Hash
}

// verifyChain checks an org's chain and says what it found.
func verifyChain(ctx context.Context, env Env, st *store.Store, o coord.Org, asked store.Head) error {
	c := chain{asked: asked}
	var told int64
	var head store.Head
	if err := st.Read(ctx, func(tx *store.Tx) (err error) {
		if head, err = tx.ChainHead(ctx, o.ID); err == nil {
			told, err = tx.LastSeq(ctx, o.ID)
		}
		return err
	}); err != nil {
		return err
	}
	if err := eachSealed(ctx, st, o.ID, head.Seq, func(s store.Sealed) error { c.add(s); return nil }); err != nil {
		return err
	}
	if head.Seq != c.last.Seq || head.Hash != c.last.Hash {
		c.say("the chain was sealed up to event %d and ends at %d", head.Seq, c.last.Seq)
	}
	if err := st.Read(ctx, func(tx *store.Tx) error { return c.unsealed(ctx, tx, o.ID, head.Seq) }); err != nil {
		return err
	}
	if asked.Seq > 0 && !c.seen {
		c.say("event %d is not sealed with the hash that you named", asked.Seq)
	}
	if len(c.wrong) > 0 {
		return fmt.Errorf("%s: the audit log was changed: %s", o.Slug, strings.Join(c.wrong[:min(len(c.wrong), 10)], "; "))
	}
	fmt.Fprintf(env.Stdout, "%s: events %d to %d are as they were sealed; people were erased out of %d; %d are not sealed yet.\nHead %d:%s\n",
		o.Slug, c.first.Seq, c.last.Seq, c.erased, told-head.Seq, head.Seq, head.Hash)
	return nil
}

// unsealed checks the log beside the chain.
func (c *chain) unsealed(ctx context.Context, tx *store.Tx, org string, head int64) error {
	slipped, err := tx.Slipped(ctx, org, head)
	if err != nil {
		return err
	}
	for _, seq := range slipped {
		c.say("event %d was put into the log", seq)
	}
	loose, err := tx.Unaccounted(ctx)
	if slices.Contains(loose, org) {
		c.say("a payload was changed, and no erasure accounts for it")
	}
	return err
}
