package backtest

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// A cache keeps outcomes between runs, one file a repository, one line an
// outcome. What was computed by another build of svc is of no use: the engine
// may judge otherwise now. The first line names the build.
type cache struct {
	file  *os.File
	known map[string]*Outcome
	live  bool // outcomes within the limits of live reports
	group bool // outcomes with what it takes to play them under other regimes
}

type cached struct {
	Key     string   `json:"key"`
	Outcome *Outcome `json:"outcome"`
}

// openCache reads what is kept for a repository. Without a folder for it,
// nothing is.
func openCache(opts *Options, repo *gitrepo.Repo) (*cache, error) {
	dir := opts.CacheDir
	c := &cache{known: map[string]*Outcome{}, live: opts.LiveLimits, group: opts.Compare}
	if dir == "" {
		return c, nil
	}
	build, err := buildID()
	if err != nil {
		return nil, fmt.Errorf("cannot tell builds of svc apart: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w", err)
	}
	where := sha256.Sum256([]byte(repo.CommonDir))
	path := filepath.Join(dir, hex.EncodeToString(where[:8])+".jsonl")
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if opts.Forget || !c.load(path, build) {
		flags |= os.O_TRUNC
	}
	if c.file, err = os.OpenFile(path, flags, 0o600); err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	if flags&os.O_TRUNC != 0 {
		clear(c.known) // what was read of it is gone now
		if _, err := fmt.Fprintln(c.file, build); err != nil {
			return nil, fmt.Errorf("write the cache: %w", err)
		}
	}
	return c, nil
}

// load reads a cache file and reports whether it may be added to: it is by
// this build and whole. Lines are read until one is cut off.
func (c *cache) load(path, build string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	head, err := r.ReadString('\n')
	if err != nil || strings.TrimSpace(head) != build {
		return false
	}
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return len(line) == 0
		}
		var x cached
		if json.Unmarshal(line, &x) != nil || x.Outcome == nil {
			return false
		}
		c.known[x.Key] = x.Outcome
	}
}

func (c *cache) get(cs *Case) *Outcome { return c.known[c.keyOf(cs)] }

// put keeps an outcome. One that failed is tried again next time.
func (c *cache) put(o *Outcome) error {
	if c.file == nil || o.Failed != "" {
		return nil
	}
	line, err := json.Marshal(cached{c.keyOf(&o.Case), o})
	if err != nil {
		return err
	}
	if _, err := c.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the cache: %w", err)
	}
	return nil
}

func (c *cache) close() {
	if c.file != nil {
		c.file.Close()
	}
}

func (c *cache) keyOf(cs *Case) string {
	key := string(cs.Kind) + " " + cs.Base + " " + strings.Join(cs.Heads, " ")
	if c.group {
		key = "group " + key
	}
	if c.live {
		key = "live " + key
	}
	return key
}

// buildID tells this build of svc from all others: analysis and engine are in
// it, so it is by its content.
func buildID() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := bufio.NewReaderSize(f, 1<<20).WriteTo(h); err != nil {
		return "", err
	}
	return "svc backtest cache 1 " + hex.EncodeToString(h.Sum(nil)[:16]), nil
}
