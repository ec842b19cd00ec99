package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/svc-hq/svc/internal/badline"
	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/tools/drill"
)

// A cluster is three replicas on a PostgreSQL of their own, each by a line of
// its own.
type cluster struct {
	*world
	pg    *drill.Postgres
	lines []*badline.Line
	disk  string // that can be filled; empty if there is none
	close []func()
}

// newCluster starts a cluster. more is added to the database's address.
func newCluster(ctx context.Context, dir, more string, o options) (*cluster, error) {
	c := &cluster{world: &world{}}
	home := filepath.Join(dir, "pg")
	if unmount, err := smallDisk(home, 600); err == nil {
		c.disk = home
		c.close = append(c.close, unmount)
	} else if err := os.MkdirAll(home, 0o700); err != nil {
		return c, err
	}
	addr, err := drill.FreeAddr()
	if err != nil {
		return c, err
	}
	if c.pg, err = drill.NewPostgres(ctx, home, addr, "-c", "max_wal_size=128MB"); err != nil {
		return c, err
	}
	c.close = append(c.close, c.pg.Stop)
	tokens, err := drill.People(ctx, c.pg.DSN(c.pg.Addr), 2)
	if err != nil {
		return c, err
	}
	for i := range 3 {
		line, err := badline.New(c.pg.Addr)
		if err != nil {
			return c, err
		}
		if o.counts {
			line.CountWays()
		}
		if o.far {
			line.Set(badline.Away(o.away))
		}
		c.close, c.lines = append(c.close, line.Close), append(c.lines, line)
		name := fmt.Sprint("replica", i+1)
		s, err := drill.NewServer(o.svcd, name, "--data", filepath.Join(dir, "keys"), "--database",
			c.pg.DSN(line.Addr)+"&application_name="+name+more)
		if err != nil {
			return c, err
		}
		c.servers = append(c.servers, s)
		if err := s.Start(); err != nil {
			return c, err
		}
		c.close = append(c.close, s.Kill)
	}
	return c, c.settle(ctx, tokens, o.agents)
}

func (c *cluster) end() {
	for i := len(c.close) - 1; i >= 0; i-- {
		c.close[i]()
	}
}

// pairScene claims on one replica and asks at once on another, quietly. Its
// control is a svcd that does not look whether others wrote (-svcd).
func pairScene(ctx context.Context, dir string, o options) error {
	c, err := newCluster(ctx, dir, "", o)
	defer c.end()
	if err != nil {
		return err
	}
	return c.run(ctx, o, fmt.Sprintf("%d pairs, quiet", o.pairs), func(context.Context) (string, error) { return "", nil })
}

// run lets agents work until there are pairs enough, and breaks things
// meanwhile, as often as asked for.
func (c *cluster) run(ctx context.Context, o options, what string, harm func(context.Context) (string, error)) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	listening, deaf := context.WithCancel(ctx)
	defer deaf()
	var heard [3]int
	var broken [3]error
	var listeners sync.WaitGroup
	for i := range heard {
		listeners.Go(func() { heard[i], broken[i] = c.listen(listening) })
	}
	work := c.agents(working, o.agents)
	done := map[string]int{}
	for n := 0; ctx.Err() == nil && (n < o.faults || c.pairs.Load() < int64(o.pairs)); {
		kind, err := harm(ctx)
		if err != nil {
			return err
		}
		if kind == "" {
			if n = o.faults; c.pairs.Load() < int64(o.pairs) {
				time.Sleep(50 * time.Millisecond)
			}
			continue
		}
		n++
		done[kind]++
		if n%o.faults == 0 {
			fmt.Printf("  %d faults, %d pairs so far\n", n, c.pairs.Load())
		}
	}
	stop()
	work.Wait()
	for _, s := range c.servers {
		if err := s.AwaitReady(30 * time.Second); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // for the streams to hear the last
	deaf()
	listeners.Wait()
	fmt.Printf("  faults %v; three streams heard %v events in order\n", done, heard)
	fresh, err := drill.NewServer(o.svcd, "fresh", c.servers[0].Args()...)
	if err != nil {
		return err
	}
	defer fresh.Kill()
	if err := fresh.Start(); err != nil {
		return err
	}
	return errors.Join(errors.Join(broken[:]...), c.check(ctx, what), c.same(ctx, fresh))
}

// faultScene breaks replicas, PostgreSQL and the lines between while agents
// work. Its control forgets one acknowledged write.
func faultScene(ctx context.Context, dir string, o options) error {
	c, err := newCluster(ctx, dir, "", o)
	defer c.end()
	if err != nil {
		return err
	}
	if c.disk == "" {
		fmt.Println("  without a full disk: mounting a small one takes root")
	}
	if o.control {
		c.book.Acknowledged(history.Intent, "that was never sent")
	}
	kinds := c.faults()
	turn := 0
	return c.run(ctx, o, fmt.Sprintf("%d faults over three replicas", o.faults), func(ctx context.Context) (string, error) {
		if turn%len(kinds) == 0 { // each kind as often, in any order
			rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		}
		f := kinds[turn%len(kinds)]
		turn++
		err := f.do(ctx)
		between := 300 + rand.IntN(700)
		if turn > o.faults { // as many as asked for: from now on mostly they work
			between *= 4
		}
		time.Sleep(time.Duration(between) * time.Millisecond)
		return f.name, err
	})
}

// A fault is a way to break a cluster; it is mended when do returns, or by
// itself soon after.
type fault struct {
	name string
	do   func(context.Context) error
}

func (c *cluster) faults() []fault {
	someone := func() (*drill.Server, *badline.Line) { i := rand.IntN(len(c.servers)); return c.servers[i], c.lines[i] }
	while := func() { time.Sleep(time.Duration(300+rand.IntN(2200)) * time.Millisecond) }
	out := []fault{
		{"replica killed", func(context.Context) error { s, _ := someone(); s.Kill(); return s.Start() }},
		{"replica stopped", func(context.Context) error {
			s, _ := someone()
			err := s.Signal(syscall.SIGSTOP)
			while()
			return errors.Join(err, s.Signal(syscall.SIGCONT))
		}},
		{"database killed", func(ctx context.Context) error { c.pg.Kill(); return c.pg.Start(ctx) }},
		{"database restarted", func(ctx context.Context) error { c.pg.Stop(); return c.pg.Start(ctx) }},
		{"line slow", func(context.Context) error {
			_, l := someone()
			l.Delay(time.Duration(20+rand.IntN(400)) * time.Millisecond)
			while()
			l.Delay(0)
			return nil
		}},
		{"line cut", func(context.Context) error { _, l := someone(); l.Cut(); return nil }},
		{"line silent", func(context.Context) error {
			_, l := someone()
			l.Silence(true)
			while()
			l.Silence(false)
			return nil
		}},
	}
	if c.disk != "" {
		out = append(out, fault{"disk full", func(ctx context.Context) error {
			free, err := fill(c.disk)
			if err != nil {
				return err
			}
			while()
			free()
			return c.pg.AwaitUp(ctx) // it may have given up and begun anew
		}})
	}
	return out
}

// frozenScene stops a replica while it holds the org's lock and measures what
// writes of the others take. Its control gives the replica all the time it
// wants.
func frozenScene(ctx context.Context, dir string, o options) error {
	more := ""
	if o.control {
		more = "&idle_in_transaction_session_timeout=0"
	}
	c, err := newCluster(ctx, dir, more, o)
	defer c.end()
	if err != nil {
		return err
	}
	frozen := c.servers[2]
	thaw, err := c.stopAtWork(ctx, frozen)
	if err != nil {
		return err
	}
	defer thaw()
	var longest time.Duration
	until := time.Now().Add(8 * time.Second)
	writes, refused := 0, 0
	for time.Now().Before(until) {
		began := time.Now()
		err := c.writer.Call(ctx, c.servers[writes%2], "POST", "/v1/intents", claim(fmt.Sprintf("others/f%d.go", writes)), nil)
		longest = max(longest, time.Since(began))
		if err != nil {
			refused++
		}
		writes++
	}
	thaw()
	fmt.Printf("a replica stopped while it held the lock: %d writes of two others in 8 s, %d refused, the longest took %s\n", writes, refused,
		longest.Round(time.Millisecond))
	if longest > o.most || refused > 0 {
		return fmt.Errorf("a write of another replica took %s (%d were refused); %s is the most", longest, refused, o.most)
	}
	return nil
}

// stopAtWork stops a server while it writes and holds the org's lock. Thaw has it
// go on; doing so twice is doing it once.
func (c *cluster) stopAtWork(ctx context.Context, s *drill.Server) (thaw func(), err error) {
	working, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	for i := range 4 { // so that it writes nearly always
		work.Go(func() {
			for n := 0; working.Err() == nil; n++ {
				c.writer.Call(working, s, "POST", "/v1/intents", claim(fmt.Sprintf("frozen/a%d/f%d.go", i, n)), nil)
			}
		})
	}
	err = c.freeze(ctx, s)
	return func() {
		stop()
		s.Signal(syscall.SIGCONT)
		work.Wait()
	}, err
}

func claim(file string) map[string]any {
	return map[string]any{"title": "hold " + file, "repo": repo, "mode": "exclusive", "scope": map[string]any{"paths": []string{file}}}
}

// freeze stops a server at a moment at which it holds a lock and the database
// waits for it.
func (c *cluster) freeze(ctx context.Context, s *drill.Server) error {
	conn, err := pgx.Connect(ctx, c.pg.DSN(c.pg.Addr))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for range 500 {
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		if err := s.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // for what is under way to arrive
		var held int
		err := conn.QueryRow(ctx, `SELECT COUNT(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE l.locktype = 'advisory' AND l.granted AND a.application_name = $1 AND a.state LIKE 'idle in transaction%'`, s.Name).Scan(&held)
		if err != nil || held > 0 {
			return err
		}
		if err := s.Signal(syscall.SIGCONT); err != nil {
			return err
		}
	}
	return errors.New("the replica never held the lock while it was stopped: this shows nothing")
}
