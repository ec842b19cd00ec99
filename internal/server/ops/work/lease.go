package work

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// Lease brings an intent's leases in line with its scope: what it asks for anew
// it gets if it is free, and what it asks for no more is released. The kinds
// of what was released are returned, for PassOn once the intent is stored.
func Lease(ctx context.Context, c *ground.Change, i *store.IntentRow) (released []string, err error) {
	kept := []coord.Lease{}
	for _, l := range i.Leases {
		if slices.ContainsFunc(i.Scope.Contracts, func(key string) bool { return key == l.Asked || l.Resource != nil && key == *l.Resource }) {
			kept = append(kept, l)
		} else if l.Resource != nil {
			released = append(released, kindOf(l))
		}
	}
	i.Leases = kept
	for _, key := range i.Scope.Contracts {
		if _, ok := scope.ParseResource(key); ok && i.Mode != coord.Observe && leaseOf(*i, key) == nil {
			i.Leases = append(i.Leases, coord.Lease{Asked: key, AskedAt: c.Now})
		}
	}
	for k := range i.Leases {
		if i.Leases[k].Resource == nil {
			if err := grant(ctx, c, i, &i.Leases[k]); err != nil {
				return nil, err
			}
		}
	}
	nameLeased(i)
	return released, nil
}

// leaseOf returns the lease that an intent asked for by a key, or has under it.
func leaseOf(i store.IntentRow, key string) *coord.Lease {
	for k := range i.Leases {
		if l := &i.Leases[k]; l.Asked == key || l.Resource != nil && *l.Resource == key {
			return l
		}
	}
	return nil
}

// nameLeased puts the number that an intent was given in the place of the
// question in its scope.
func nameLeased(i *store.IntentRow) {
	keys := slices.Clone(i.Scope.Contracts)
	for k, key := range keys {
		if l := leaseOf(*i, key); l != nil && l.Resource != nil {
			keys[k] = *l.Resource
		}
	}
	slices.Sort(keys)
	i.Scope.Contracts = slices.Compact(keys)
}

func kindOf(l coord.Lease) string {
	r, _ := scope.ParseResource(l.Asked)
	return r.Kind
}

// grant gives an intent what it asked for, if it is free, and says otherwise
// why not.
func grant(ctx context.Context, c *ground.Change, i *store.IntentRow, l *coord.Lease) error {
	r, _ := scope.ParseResource(l.Asked)
	switch {
	case !r.Counted():
		if holder := engine.ResourceHolder(c.Live.View(), asWorker(c, *i), l.Asked); holder != nil {
			l.Note = note("%s has it", holder.Ref())
			return nil
		}
		name := r.Name
		if r.Kind == scope.Migrations {
			if n, ok := r.Number(); ok {
				folder := scope.Resource{Kind: r.Kind, Name: path.Dir(r.Name)}
				if err := c.KeepNumber(ctx, i.Repo.ID, folder.String(), n); err != nil {
					return err
				}
			}
			name = path.Base(name)
		}
		take(c, l, r, name)
		return nil
	case r.Kind == scope.Migrations:
		return grantMigration(ctx, c, i, l, r)
	}
	rules, err := c.EffectivePolicy(ctx, c.Who.OrgID, i.Repo.ID)
	if err != nil {
		return err
	}
	first, last := policy.Range(rules.ResourceRanges[r.Kind]).Ends()
	if last < first {
		l.Note = note("the policy names no range for this kind; set one under resource_ranges")
		return nil
	}
	held := engine.NumbersHeld(c.Live.View(), r.Kind)
	for n := first; n <= last; n++ {
		if held[n] == nil && leaseOf(*i, r.With(n).String()) == nil {
			take(c, l, r.With(n), strconv.FormatInt(n, 10))
			return nil
		}
	}
	l.Note = note("all of %d-%d are taken", first, last)
	return nil
}

// grantMigration hands out the number after all that is known: of the folder's
// files on the server's index, of files that live work added in any working
// copy, and of numbers that were handed out before, whatever became of them.
func grantMigration(ctx context.Context, c *ground.Change, i *store.IntentRow, l *coord.Lease, r scope.Resource) error {
	last, err := c.LastNumber(ctx, i.Repo.ID, r.String())
	if err != nil {
		return err
	}
	n, digits := engine.LastMigration(c.Live.View(), i.Repo.ID, r.Name)
	last = max(last, n)
	files, err := c.FilesBelow(ctx, i.Repo.ID, r.Name+"/")
	if err != nil {
		return err
	}
	for _, f := range files {
		found, text, ok := scope.MigrationNumber(f)
		if n, _ := found.Number(); ok && path.Dir(found.Name) == r.Name {
			if last = max(last, n); len(text) > len(digits) {
				digits = text
			}
		}
	}
	if last == 0 {
		l.Note = note("no numbered file of that folder is known; run `svc index`, or ask for the number itself by /0001 after the folder")
		return nil
	}
	take(c, l, r.With(last+1), fmt.Sprintf("%0*d", len(digits), last+1))
	return c.KeepNumber(ctx, i.Repo.ID, r.String(), last+1)
}

func take(c *ground.Change, l *coord.Lease, r scope.Resource, name string) {
	key := r.String()
	l.Resource, l.Name, l.TakenAt, l.Note = &key, &name, c.Now.Ptr(), nil
}

func note(format string, args ...any) *string {
	text := fmt.Sprintf(format, args...)
	return &text
}

// asWorker returns an intent as the engine sees it, with the sessions that it
// had.
func asWorker(c *ground.Change, i store.IntentRow) *engine.Worker {
	w := live.IntentWorker(i, nil)
	if old := c.Live.Worker(i.ID); old != nil {
		w.Lineages = old.Lineages
	}
	return w
}

// Release returns the kinds of what an intent has leased, and takes it away.
func Release(i *store.IntentRow) (kinds []string) {
	for _, l := range i.Leases {
		if l.Resource != nil {
			kinds = append(kinds, kindOf(l))
		}
	}
	i.Leases = []coord.Lease{}
	return kinds
}

// passOn is PassOn for an intent that lives on without what it released.
func passOn(ctx context.Context, c *ground.Change, i *store.IntentRow, kinds []string) error {
	if len(kinds) == 0 {
		return nil
	}
	if err := c.PutIntent(ctx, *i); err != nil {
		return err
	}
	return PassOn(ctx, c, kinds)
}

// PassOn gives what was released to those who wait for it: whoever asked first.
func PassOn(ctx context.Context, c *ground.Change, kinds []string) error {
	waiting := map[string]store.IntentRow{}
	for _, kind := range kinds {
		for _, id := range engine.Wanting(c.Live.View(), kind) {
			i, err := c.IntentByID(ctx, c.Who.OrgID, id)
			if err != nil {
				return err
			}
			waiting[id] = i
		}
	}
	rows := slices.Collect(maps.Values(waiting))
	slices.SortFunc(rows, func(a, b store.IntentRow) int {
		return cmp.Or(cmp.Compare(asked(a, kinds), asked(b, kinds)), cmp.Compare(a.Number, b.Number))
	})
	for k := range rows {
		i := &rows[k]
		before := taken(*i)
		if _, err := Lease(ctx, c, i); err != nil || taken(*i) == before {
			if err != nil {
				return err
			}
			continue
		}
		if err := c.SaveIntent(ctx, i); err != nil {
			return err
		}
		if err := TellIntent(ctx, c, coord.EventIntentUpdated, *i); err != nil {
			return err
		}
		if err := c.PutIntent(ctx, *i); err != nil {
			return err
		}
		if _, err := c.Settle(ctx, i.ID); err != nil {
			return err
		}
		c.Touched[i.ID] = true
	}
	return nil
}

// asked returns when an intent asked for the first of what it waits for.
func asked(i store.IntentRow, kinds []string) (at coord.Time) {
	for _, l := range i.Leases {
		if l.Resource == nil && slices.Contains(kinds, kindOf(l)) && (at == 0 || l.AskedAt < at) {
			at = l.AskedAt
		}
	}
	return at
}

func taken(i store.IntentRow) (n int) {
	for _, l := range i.Leases {
		if l.Resource != nil {
			n++
		}
	}
	return n
}

// Leased returns what an intent asked for by a key, and whether it has it.
func Leased(i store.IntentRow, key string) (l *coord.Lease, has bool) {
	l = leaseOf(i, key)
	return l, l != nil && l.Resource != nil
}
