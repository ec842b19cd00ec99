package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/badline"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// mostWays is how often a claim may go to the database.
const mostWays = 3

// farScene puts the database far away from its replicas and stops one of them
// for good. The others must refuse what was surely claimed, having looked, and
// acknowledge a claim within three ways there and back. Writers of one org wait
// for each other, so many orgs work at once. Its control is a svcd that does not
// look whether others wrote (-svcd).
func farScene(ctx context.Context, dir string, o options) error {
	o.counts, o.far, o.agents = true, true, 2
	c, err := newCluster(ctx, dir, "", o)
	defer c.end()
	if err != nil {
		return err
	}
	orgs, err := c.moreOrgs(ctx, o)
	if err != nil {
		return err
	}
	frozen := c.servers[2]
	thaw, err := c.stopAtWork(ctx, frozen)
	if err != nil {
		return err
	}
	defer thaw()
	for _, w := range orgs {
		w.servers, w.tells = c.servers[:2], true
	}
	c.decide(ctx, orgs, o)
	ways, err := c.claimAlone(ctx)
	for _, l := range c.lines {
		l.Set(badline.Quality{})
	}
	fmt.Printf("  a claim by itself goes to the database %v times\n", ways)
	wrong := []error{err}
	unsure := 0
	for i, w := range orgs {
		unsure += int(w.unsure.Load())
		wrong = append(wrong, w.check(ctx, fmt.Sprintf("org %d, %v from the database, one of three replicas frozen", i, o.away)))
	}
	if frozen.Ready() { // whoever started this may have ended, and what it stopped goes on
		wrong = append(wrong, errors.New("the replica that was stopped has gone on: this shows nothing"))
	}
	if unsure > 0 {
		wrong = append(wrong, fmt.Errorf("%d files that were surely claimed were let through unchecked", unsure))
	}
	if slices.ContainsFunc(ways, func(n int) bool { return n > mostWays }) {
		wrong = append(wrong, fmt.Errorf("a claim goes to the database %v times, want %d", ways, mostWays))
	}
	return errors.Join(wrong...)
}

// moreOrgs makes as many orgs as are to work, of which c has the first.
func (c *cluster) moreOrgs(ctx context.Context, o options) ([]*world, error) {
	orgs := []*world{c.world}
	var making sync.WaitGroup
	failed := make([]error, o.orgs)
	for i := 1; i < o.orgs; i++ {
		w := &world{servers: c.servers}
		orgs = append(orgs, w)
		making.Go(func() {
			tokens, err := drill.PeopleOf(ctx, c.pg.DSN(c.pg.Addr), fmt.Sprint("org", i), 2)
			if err == nil {
				err = w.settle(ctx, tokens, o.agents)
			}
			failed[i] = err
		})
	}
	making.Wait()
	return orgs, errors.Join(failed...)
}

// decide lets the agents of all orgs work until there are decisions enough.
func (c *cluster) decide(ctx context.Context, orgs []*world, o options) {
	working, stop := context.WithCancel(ctx)
	defer stop()
	var work []*sync.WaitGroup
	for _, w := range orgs {
		work = append(work, w.agents(working, o.agents))
	}
	tally := func() (pairs, unsure int64) {
		for _, w := range orgs {
			pairs, unsure = pairs+w.pairs.Load(), unsure+w.unsure.Load()
		}
		return pairs, unsure
	}
	began, told := time.Now(), time.Now()
	for pairs := int64(0); ctx.Err() == nil && pairs < int64(o.pairs); pairs, _ = tally() {
		time.Sleep(50 * time.Millisecond)
		for _, l := range c.lines {
			l.Ways() // what was counted so far is of no interest
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			n, unsure := tally()
			fmt.Printf("  %d decisions so far, %d of them unchecked\n", n, unsure)
		}
	}
	stop()
	var took []time.Duration
	for i, w := range orgs {
		work[i].Wait()
		took = append(took, w.took...)
	}
	n, unsure := tally()
	fmt.Printf("  %d decisions in %s, %d of them unchecked\n", n, time.Since(began).Round(time.Second), unsure)
	if slices.Sort(took); len(took) > 0 {
		at := func(share float64) float64 { return float64(took[int(float64(len(took)-1)*share)]) / float64(o.away) }
		fmt.Printf("  %d claims of %d agents in each of %d orgs took as long as %.1f round trips of %v (median), %.1f (99 of 100)\n",
			len(took), o.agents, len(orgs), at(0.5), o.away, at(0.99))
	}
}

// claimAlone takes claims while nobody else writes, and returns how often those
// of each server went to the database, at least: what svcd does besides is
// counted, too.
func (c *cluster) claimAlone(ctx context.Context) ([]int, error) {
	fewest := make([]int, len(c.servers))
	for i := range 60 {
		n := i % len(c.servers)
		c.lines[n].Ways()
		if err := c.writer.Call(ctx, c.servers[n], "POST", "/v1/intents", claim(fmt.Sprintf("alone/f%d.go", i)), nil); err != nil {
			return nil, err
		}
		went := len(slices.DeleteFunc(c.lines[n].Ways(), badline.Way.Besides))
		if fewest[n] == 0 || went < fewest[n] {
			fewest[n] = went
		}
		time.Sleep(1100 * time.Millisecond) // then it is looked again whose token it is
	}
	return fewest, nil
}
