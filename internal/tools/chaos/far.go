package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/badline"
)

// mostWays is how often a claim may go to the database.
const mostWays = 3

// farScene puts the database far away from its replicas and stops one of them
// for good. The others must refuse what was surely claimed, having looked, and
// acknowledge a claim within three ways there and back. Its control is a svcd that
// does not look whether others wrote (-svcd).
func farScene(ctx context.Context, dir string, o options) error {
	o.counts = true
	c, err := newCluster(ctx, dir, "", o)
	defer c.end()
	if err != nil {
		return err
	}
	frozen := c.servers[2]
	for _, l := range c.lines {
		l.Set(badline.Away(o.away))
	}
	thaw, err := c.stopAtWork(ctx, frozen)
	if err != nil {
		return err
	}
	defer thaw()
	c.servers = c.servers[:2]
	working, stop := context.WithCancel(ctx)
	defer stop()
	work, told := c.agents(working, o.agents), time.Now()
	for ctx.Err() == nil && c.pairs.Load() < int64(o.pairs) {
		time.Sleep(50 * time.Millisecond)
		for _, l := range c.lines {
			l.Ways() // what was counted so far is of no interest
		}
		if time.Since(told) > time.Minute {
			told = time.Now()
			fmt.Printf("  %d decisions so far, %d of them unchecked\n", c.pairs.Load(), c.unsure.Load())
		}
	}
	stop()
	work.Wait()
	ways, err := c.claimAlone(ctx)
	for _, l := range c.lines {
		l.Set(badline.Quality{})
	}
	slices.Sort(c.took)
	at := func(share float64) float64 {
		return float64(c.took[int(float64(len(c.took)-1)*share)]) / float64(o.away)
	}
	if len(c.took) > 0 {
		fmt.Printf("  %d claims of %d agents at once took as long as %.1f round trips of %v (median), %.1f (99 of 100)\n",
			len(c.took), o.agents, at(0.5), o.away, at(0.99))
	}
	fmt.Printf("  a claim by itself goes to the database %v times\n", ways)
	var wrong []error
	if n := c.unsure.Load(); n > 0 {
		wrong = append(wrong, fmt.Errorf("%d files that were surely claimed were let through unchecked", n))
	}
	if slices.ContainsFunc(ways, func(n int) bool { return n > mostWays }) {
		wrong = append(wrong, fmt.Errorf("a claim goes to the database %v times, want %d", ways, mostWays))
	}
	return errors.Join(append(wrong, err, c.check(ctx, fmt.Sprintf("%d decisions, %v from the database, one of three replicas frozen",
		c.pairs.Load(), o.away)))...)
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
