// Command chaos breaks running services under load in every way it knows and
// then checks, against a model of its own, that nothing acknowledged is lost,
// nothing happened twice, the event log has no gap and no disorder, no edit was
// allowed against a claim that had been acknowledged, and every replica knows
// what one that has just started knows. It needs a built svcd and leaves
// nothing behind.
//
// Its scenes, each with the control that must fail:
//
//	kills     one svcd on SQLite, killed with -9 again and again
//	full      one svcd on SQLite whose disk fills up; needs root, for a small disk
//	pairs     three replicas on PostgreSQL: a claim on one, at once a question on another
//	faults    the same while replicas, PostgreSQL and the lines between are broken
//	frozen    a replica that stops while it holds an org's lock
//	far       the database 50 ms away from three replicas, one of them stopped
//
// The mix: each agent declares an exclusive claim on one replica and asks for
// that file, as somebody else, on another (three of four turns), or sends a
// message (the fourth). On SQLite it asks the same one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options are what the command line says.
type options struct {
	svcd    string
	agents  int
	orgs    int
	kills   int
	faults  int
	pairs   int
	most    time.Duration
	away    time.Duration
	counts  bool // whether ways to the database are counted
	far     bool // whether it is away from the beginning
	control bool
}

func main() {
	var o options
	flag.StringVar(&o.svcd, "svcd", "bin/svcd", "the program to break")
	flag.IntVar(&o.agents, "agents", 8, "how many write at once")
	flag.IntVar(&o.orgs, "orgs", 16, "far: how many orgs work at once, each with two agents")
	flag.IntVar(&o.kills, "kills", 100, "kills: how often")
	flag.IntVar(&o.faults, "faults", 50, "faults: how many")
	flag.IntVar(&o.pairs, "pairs", 10_000, "pairs, faults, far: claims with a question each, at least")
	flag.DurationVar(&o.most, "most", 2*time.Second, "frozen: how long a write of another replica may take")
	flag.DurationVar(&o.away, "away", 50*time.Millisecond, "far: a round trip to the database")
	flag.BoolVar(&o.control, "control", false, "take out what the scene is about: it must fail")
	flag.Parse()
	scenes := map[string]func(context.Context, string, options) error{
		"kills": killScene, "full": fullScene, "pairs": pairScene, "faults": faultScene, "frozen": frozenScene, "far": farScene,
	}
	names := flag.Args()
	if len(names) == 0 {
		names = []string{"kills"}
	}
	for _, name := range names {
		if scenes[name] == nil {
			fmt.Fprintf(os.Stderr, "chaos: there is no scene %q; there are kills, full, pairs, faults, frozen and far\n", name)
			os.Exit(2)
		}
		if err := play(scenes[name], o); err != nil {
			fmt.Fprintf(os.Stderr, "chaos: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

// play runs a scene in a folder of its own.
func play(scene func(context.Context, string, options) error, o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if o.svcd, err = filepath.Abs(o.svcd); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "svc-chaos")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL may have to run as somebody else
		return err
	}
	if err := scene(ctx, dir, o); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("stopped")
	}
	return nil
}
