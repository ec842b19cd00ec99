package outgoing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	// JobDigest is the kind of the job that sends a digest when it is due.
	JobDigest    = "digest"
	week         = 7 * day
	manual       = "manual"
	betweenRuns  = time.Minute
	digestTop    = 5
	manyBlocks   = 5  // stopped edits in a week after which a person may need help
	lookBack     = 30 // days in which an open conflict was found
	waitsTooLong = day
)

// nextDigest returns the first moment after now on a weekday and hour.
func nextDigest(now coord.Time, weekday, hour int) coord.Time {
	at := now.Std().Truncate(day).Add(time.Duration(hour) * time.Hour)
	for at = at.AddDate(0, 0, (weekday-int(at.Weekday())+7)%7); !at.After(now.Std()); {
		at = at.AddDate(0, 0, 7)
	}
	return coord.TimeOf(at)
}

func digestJob(org string, at coord.Time) jobs.New {
	return jobs.New{Kind: JobDigest, Org: org, Key: JobDigest + ":" + org, At: at}
}

// GetDigest returns the digest's settings.
func (s *Service) GetDigest(ctx context.Context, who coord.Caller, _ wire.None) (out wire.DigestSettings, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out, err = s.digestSettings(ctx, tx, who)
		return err
	})
	return out, err
}

func (s *Service) digestSettings(ctx context.Context, tx *store.Tx, who coord.Caller) (out wire.DigestSettings, err error) {
	d, err := tx.Digest(ctx, who.OrgID)
	if err != nil {
		return out, err
	}
	out = wire.DigestSettings{
		Enabled:        d.Enabled,
		Day:            d.Day,
		Hour:           d.Hour,
		Channels:       d.Channels,
		EmailAvailable: s.Config.Mail,
		LastRun:        d.LastRun,
	}
	if d.Enabled {
		out.NextSendAt = nextDigest(tx.Now, d.Day, d.Hour).Ptr()
	}
	if out.Recipients, err = tx.DigestReaders(ctx, who.OrgID); err != nil {
		return out, err
	}
	out.EmailMe = slices.ContainsFunc(out.Recipients, func(u coord.User) bool { return u.ID == who.UserID })
	slack, err := tx.Slack(ctx, who.OrgID, "")
	out.SlackConnected = slack != nil
	return out, err
}

// PutDigest changes the digest's settings.
func (s *Service) PutDigest(ctx context.Context, who coord.Caller, in wire.PutDigest) (out wire.DigestSettings, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		now, err := s.digestSettings(ctx, tx, who)
		if err == nil {
			err = in.IfMatch.Check(now.Tag())
		}
		if err != nil {
			return err
		}
		d, err := tx.Digest(ctx, who.OrgID)
		if err != nil {
			return err
		}
		set(&d.Enabled, in.Enabled)
		set(&d.Day, in.Day)
		set(&d.Hour, in.Hour)
		if in.Channels != nil {
			slices.Sort(in.Channels)
			d.Channels = slices.Compact(in.Channels)
		}
		if in.EmailMe != nil {
			if err := tx.SetDigestReader(ctx, who.OrgID, who.UserID, *in.EmailMe); err != nil {
				return err
			}
		}
		if err := tx.SaveDigest(ctx, who.OrgID, d); err != nil {
			return err
		}
		if d.Enabled {
			err = jobs.Move(ctx, tx, digestJob(who.OrgID, nextDigest(tx.Now, d.Day, d.Hour)))
		} else {
			err = tx.DropJob(ctx, JobDigest+":"+who.OrgID)
		}
		if err != nil {
			return err
		}
		if out, err = s.digestSettings(ctx, tx, who); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventIntegrationUpdated, who.OrgID, "", wire.IntegrationPayload{
			Integration: "digest",
			Enabled:     &d.Enabled,
		})
	})
	return out, err
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// PreviewDigest shows the digest as it would go out now, and sends nothing.
func (s *Service) PreviewDigest(ctx context.Context, who coord.Caller, _ wire.None) (out wire.DigestPreview, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.Digest, err = s.digestOf(ctx, tx, who.OrgID)
		return err
	})
	out.Slack, out.Email = bulletin.DigestPost(out.Digest), bulletin.Digest(out.Digest)
	return out, err
}

// SendDigest sends the digest now.
func (s *Service) SendDigest(ctx context.Context, who coord.Caller, _ wire.None) (out wire.DigestRun, err error) {
	var d wire.Digest
	err = s.Read(ctx, func(tx *store.Tx) error {
		d, err = s.digestOf(ctx, tx, who.OrgID)
		return err
	})
	if err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		settings, err := tx.Digest(ctx, who.OrgID)
		if err != nil {
			return err
		}
		if last := settings.LastRun; last != nil && tx.Now.Sub(last.At) < betweenRuns {
			return problem.Later(betweenRuns-tx.Now.Sub(last.At), "a digest was sent less than a minute ago")
		}
		out, err = s.sendOut(ctx, tx, who, settings, d, manual)
		if err == nil && len(out.Channels) == 0 {
			err = problem.Newf(problem.Conflict,
				"there is nowhere to send the digest: connect chat with PUT /v1/integrations/slack, or set email_me on a server that can send mail")
		}
		return err
	})
	return out, err
}

// RunDigest sends the digest that is due, at most once for its period,
// whatever the number of replicas: claiming the period, queueing the letters
// and ending the job are one transaction.
func (s *Service) RunDigest(ctx context.Context, r *jobs.Run) error {
	who := ground.System(r.OrgID)
	var d wire.Digest
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		d, err = s.digestOf(ctx, tx, r.OrgID)
		return err
	})
	if err != nil {
		return err
	}
	return s.Write(ctx, who, func(tx *store.Tx) error {
		settings, err := tx.Digest(ctx, r.OrgID)
		if err != nil {
			return err
		}
		if !settings.Enabled {
			return r.Finish(ctx, tx)
		}
		next := nextDigest(tx.Now, settings.Day, settings.Hour)
		period := next.Add(-week).String()
		mine, err := tx.ClaimDigest(ctx, r.OrgID, period)
		if err == nil && mine {
			_, err = s.sendOut(ctx, tx, who, settings, d, period)
		}
		if err != nil {
			return err
		}
		return r.FinishUntil(ctx, tx, next)
	})
}

// sendOut queues a digest's letters and notes the run. With nowhere to send it
// notes nothing.
func (s *Service) sendOut(ctx context.Context, tx *store.Tx, who coord.Caller, settings store.Digest, d wire.Digest,
	period string) (run wire.DigestRun, err error) {
	run = wire.DigestRun{At: tx.Now, Period: period, Channels: []wire.DigestChannel{}}
	slack, err := tx.Slack(ctx, who.OrgID, "")
	if err != nil {
		return run, err
	}
	readers, err := tx.DigestReaders(ctx, who.OrgID)
	if err != nil {
		return run, err
	}
	if slack != nil && slices.Contains(settings.Channels, wire.ToSlack) {
		run.Channels = append(run.Channels, wire.ToSlack)
		if _, err := s.queuePost(ctx, tx, *slack, bulletin.DigestPost(d)); err != nil {
			return run, err
		}
	}
	if s.Config.Mail && len(readers) > 0 && slices.Contains(settings.Channels, wire.ToEmail) {
		run.Channels, run.Recipients = append(run.Channels, wire.ToEmail), len(readers)
		mail := bulletin.Digest(d)
		for _, u := range readers {
			end, err := s.unsubscribeURL(who.OrgID, u.ID)
			if err != nil {
				return run, err
			}
			oneClick := strings.HasPrefix(end, "https://") // RFC 8058 wants it
			letter := bulletin.Mail{To: u.Email, MailShape: mail, Unsubscribe: end, OneClick: oneClick}
			if err := s.QueueMail(ctx, tx, who.OrgID, letter); err != nil {
				return run, err
			}
		}
	}
	if len(run.Channels) == 0 {
		return run, nil
	}
	settings.LastRun = &run
	if err := tx.SaveDigest(ctx, who.OrgID, settings); err != nil {
		return run, err
	}
	return run, ground.Tell(ctx, tx, who, coord.EventDigestSent, who.OrgID, "", wire.DigestPayload{
		Period:     period,
		Channels:   run.Channels,
		Recipients: run.Recipients,
	})
}

// digestOf gathers the digest of the week up to now.
func (s *Service) digestOf(ctx context.Context, tx *store.Tx, org string) (d wire.Digest, err error) {
	o, err := tx.Org(ctx, org)
	if err != nil {
		return d, err
	}
	w := store.StatsWindow{Since: tx.Now.Add(-week), Until: tx.Now}
	now, err := statsOf(ctx, tx, org, w)
	if err != nil {
		return d, err
	}
	before, err := statsOf(ctx, tx, org, store.StatsWindow{Since: w.Since.Add(-week), Until: w.Since})
	if err != nil {
		return d, err
	}
	d = wire.Digest{
		Org:              o.Name,
		Since:            w.Since,
		Until:            w.Until,
		Totals:           now.Totals,
		Before:           before.Totals,
		TimeSavedMinutes: now.TimeSavedMinutes,
		TimeSavedBasis:   now.TimeSavedBasis,
		Members:          now.Members[:min(digestTop, len(now.Members))],
		Repos:            now.Repos[:min(digestTop, len(now.Repos))],
		URL:              s.Config.PublicURL,
		NeedsHelp:        []wire.Need{},
	}
	if err := s.addConflicts(ctx, tx, org, &d); err != nil {
		return d, err
	}
	for _, m := range now.Members {
		if m.Blocked >= manyBlocks {
			d.NeedsHelp = append(d.NeedsHelp, wire.Need{
				Kind: "person",
				Text: fmt.Sprintf("%s's agents were stopped %d times", m.User.Name, m.Blocked),
				URL:  s.PageURL("user", ""),
				At:   d.Since,
			})
		}
	}
	return d, nil
}

// A story is what the log tells of one conflict.
type story struct {
	id, ref, kind, repo string
	severity            any
	found, asked        coord.Time
	end                 coord.EventType
	isFalse             bool
}

// addConflicts follows the conflicts of the last weeks through the log: how
// those of this week ended, and which are open and want somebody.
func (s *Service) addConflicts(ctx context.Context, tx *store.Tx, org string, d *wire.Digest) error {
	events, err := tx.PersonalEvents(ctx, org, store.StatsWindow{Since: d.Until.Add(-lookBack * day), Until: d.Until},
		append([]coord.EventType{coord.EventConflictDetected, coord.EventConflictUpdated, coord.EventConflictOverrideRequested}, ends...))
	if err != nil {
		return err
	}
	stories := map[string]*story{}
	for _, e := range events {
		c := stories[e.Subject.ID]
		if e.Type == coord.EventConflictDetected {
			ref, _ := e.Payload["ref"].(string)
			kind, _ := e.Payload["kind"].(string)
			c = &story{id: e.Subject.ID, ref: ref, kind: strings.ReplaceAll(kind, "_", " "), repo: e.RepoID, found: e.OccurredAt}
			stories[c.id] = c
		}
		if c == nil {
			continue // found before the look back
		}
		c.severity = e.Payload["severity"]
		switch {
		case slices.Contains(ends, e.Type):
			c.end, c.isFalse = e.Type, e.Payload["resolution"] == string(coord.ResolvedFalsePositive)
		case e.Type == coord.EventConflictOverrideRequested:
			c.asked = e.OccurredAt
		}
	}
	repos, err := tx.Repos(ctx, org)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, r := range repos {
		names[r.ID] = r.FullName
	}
	for _, id := range keys(stories) {
		c := stories[id]
		if c.found >= d.Since {
			c.countEnding(&d.Conflicts)
		}
		if n, ok := s.need(c, names[c.repo], d.Until); ok {
			d.NeedsHelp = append(d.NeedsHelp, n)
		}
	}
	slices.SortFunc(d.NeedsHelp, func(a, b wire.Need) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.At, b.At), cmp.Compare(a.Text, b.Text)) // override requests first
	})
	d.NeedsHelp = d.NeedsHelp[:min(2*digestTop, len(d.NeedsHelp))]
	return nil
}

func (c *story) countEnding(e *wire.Endings) {
	e.Found++
	switch {
	case c.isFalse:
		e.FalsePositives++
	case c.end == coord.EventConflictResolved:
		e.Resolved++
	case c.end == coord.EventConflictOverridden:
		e.Overridden++
	case c.end == coord.EventConflictStale:
		e.Stale++
	default:
		e.Open++
	}
}

// need tells whether an open conflict wants somebody: an override was asked
// for, or it stops somebody for long.
func (s *Service) need(c *story, repo string, now coord.Time) (wire.Need, bool) {
	n := wire.Need{Kind: "conflict", Ref: &c.ref, URL: s.PageURL("conflict", c.ref), At: c.found,
		Text: fmt.Sprintf("%s in %s has stopped somebody; found %s (%s)", c.ref, repo, bulletin.When(c.found, now), c.kind)}
	switch {
	case c.end != "":
		return n, false
	case c.asked != 0:
		n.Kind, n.At = "override_request", c.asked
		n.Text = fmt.Sprintf("%s in %s waits for an override, asked for %s (%s)", c.ref, repo, bulletin.When(c.asked, now), c.kind)
		return n, true
	}
	return n, c.severity == string(coord.SeverityBlock) && now.Sub(c.found) >= waitsTooLong
}
