// Package hook is svc hook: it reads what an agent host tells, asks the
// service, and answers the host in its own words. An agent waits for it on
// every edit, so it must be quick; and it must never be in the way, so
// whatever fails, fails open: no output, exit code 0, one line in the log.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/client/copies"
	"github.com/svc-hq/svc/internal/client/hook/post"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Login is what the hook needs of the stored login.
type Login struct {
	Server    string
	Token     string
	MachineID string
	DataMode  coord.DataMode
	Local     bool   // the service of one person, on this machine
	Edge      string // the address of the resident process that answers for the server, if it runs
	EdgeKey   string // what opens its door
	Mended    string // what was wrong with the files that say all this
	Leave     Leave
}

// Leave says what a server may hear of a repository.
type Leave int

const (
	IfKnown Leave = iota // the server knows it, or is asked whether it does
	IfAsked              // nothing, unless a configuration in it runs us
	Chosen               // everything: the person said so
	Never                // nothing: the person said so
)

// An Env is the world of one run. Functions are called only when needed.
type Env struct {
	Args    []string // after "hook"
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Dir     string // working folder; "" is the process's
	TempDir string // "" is the system's
	Version string // of the client

	// Login returns the login for a repository: some go to a team's server,
	// others stay on this machine.
	Login     func(of Identity) (Login, error)
	ConfigDir func() (string, error)

	// Base returns the commit that the work in a repository started from. It
	// may start git, so cheap events use what it last said. Nil sends none.
	Base func(ctx context.Context, root, defaultBranch string) (string, error)
	// Roots returns the first commits of a repository. Nil tells none.
	Roots func(ctx context.Context, root string) ([]string, error)
	// Analyze returns facts about changed files, against a commit or, where that
	// is "", against what Base would return; if private, without their texts. Nil
	// sends none. It is a value so that the path of the other events links no
	// parser.
	Analyze func(ctx context.Context, root, base string, paths, along []string, private bool) (*coord.Analysis, error)
	// Unindexed is told, when a session starts, of a repository whose
	// contracts the service does not know yet. It must not wait. Nil does
	// nothing.
	Unindexed func(root string)
	// WatchTree is told of a working copy whose person wants to be watched, when
	// nobody watches. It must not wait. Nil does nothing.
	WatchTree func(root string)
	// MergeCheck is told of work that is worth checking once merged with that at
	// root, and where what is found is to lie. It must not wait. Nil does nothing.
	MergeCheck func(root, machine, checks, result string)
	// Exit ends the process when a run takes too long. Nil lets it run.
	Exit func(code int)
}

// Time limits, to be stretched by patience where they are used. The service's
// own limits are the hosts' budgets.
const (
	rootsTimeout = time.Second
	recordWait   = 200 * time.Millisecond
	// statusTimeout is how long git may take to say what differs.
	statusTimeout = 2 * time.Second
	// turnTimeout is the same when a turn ends and nobody waits to type. In 100,000
	// files git takes seconds, and what it would say is told no other way.
	turnTimeout = 6 * time.Second
)

// Those that tests wait for.
var (
	stdinTimeout   = time.Second // one host never closes its end
	analyzeTimeout = 4 * time.Second
	analyzeGrace   = 300 * time.Millisecond // to say what was read in time
)

const (
	recordPoll = 25 * time.Millisecond
	maxInput   = 32 << 20
)

// A runner is one run.
type runner struct {
	Env
	host  *host.Host
	event string // as the command line names it
	call  *host.Call
	spool *spool.Spool
	login Login
	// client asks the service that is asked now, and asking is since when it is
	// asked whether an edit may go on.
	client *post.Client
	begun  sync.Once // several repositories are asked about at once
	asking time.Time
	nobody bool // was asked in time whether the edit may go on, as the answer says
	// breaker is of the service that is asked now; nil before one is.
	breaker *spool.Breaker
	shell   command  // that the call runs or ran, if it is one in a shell
	unheard bool     // that the session ends did not get through
	noted   []string // what the watcher is to leave to this session, by name
	stale   stale    // what the call would undo
	final   final    // the answer of the run
	blind   error    // why no service can be asked
	over    error    // why nobody is asked about a working copy that was known
	mended  string   // what was wrong with svc's own files, and is not any more
	copies  *copies.Book
	own     []string                  // folders of svc's own
	reals   map[string]string         // paths without links, of a run that is over soon; nil to look each time
	detach  map[string][]wire.HookGit // what the call would take from svc's sight, by working copy
}

// Run handles one event and returns the exit code of the process.
func Run(ctx context.Context, env Env) (code int) {
	r := &runner{Env: env, reals: map[string]string{}}
	r.guard()
	defer func() {
		if p := recover(); p != nil {
			// An unrecovered panic exits with 2, which hosts read as a block.
			r.log(fmt.Errorf("panic: %v", p))
			r.blind = errFailed
			code = r.print(r.unprotected())
		}
	}()
	out, err := r.run(ctx)
	if err != nil {
		r.log(err)
		r.unanswered()
		out = r.unchecked(err)
	}
	return r.print(out)
}

// errFailed is what is said of a mistake of ours.
var errFailed = errors.New("svc hook failed; svc doctor says more")

// quiet is what to leave when there is nothing to say, or nothing can be said.
func (r *runner) quiet() host.Output {
	switch {
	case r.call != nil:
		return r.call.Quiet()
	case r.host != nil:
		return host.QuietFor(r.host, r.event)
	}
	return host.Output{}
}

func (r *runner) write(o host.Output) int {
	if o.Stdout != "" {
		_, _ = io.WriteString(r.Stdout, o.Stdout)
	}
	if o.Stderr != "" {
		_, _ = io.WriteString(r.Stderr, o.Stderr)
	}
	return o.Exit
}

func (r *runner) run(ctx context.Context) (host.Output, error) {
	if err := r.parseArgs(); err != nil {
		return host.Output{}, err
	}
	data, err := readInput(r.Stdin)
	if err != nil {
		r.blind = err
		return host.Output{}, err
	}
	c, err := host.Parse(r.host, r.event, data, r.Getenv)
	if err != nil {
		r.blind = err
		return host.Output{}, err
	}
	r.call = c
	r.final.known.Store(c)
	if len(c.Reads) > 0 {
		return c.Quiet(), r.noteReads()
	}
	if c.At == host.Idle {
		r.open()
		return r.offer(), nil
	}
	if c.At == "" || c.Event == "" && c.At != host.BeforeModel && c.At != host.Said || r.stepAside() {
		return c.Quiet(), nil
	}
	if c.Cwd == "" {
		c.Cwd = r.dir()
	}
	r.open()
	if c.At == host.Said {
		r.spool.Put("said", lastWords(c.Said))
		return c.Quiet(), nil
	}
	if c.At == host.Asks {
		if err := r.tellAsks(ctx); err != nil {
			r.log(err) // nothing was to be checked
		}
		return c.Quiet(), nil
	}
	return r.answer(ctx)
}

// open finds what the session remembers. One without a name goes by its folder.
func (r *runner) open() {
	c := r.call
	if c.Session == "" {
		c.Session = "unnamed-" + spool.Hash(c.Host.ID, c.Cwd)[:16]
	}
	r.spool = spool.Open(r.TempDir, c.Host.ID, c.Session)
}

// Named reads --tool and --event. Anything else is ignored: a newer
// configuration must work with an older client.
func Named(args []string) (tool, event string) {
	for i := 0; i < len(args); i++ {
		name, value, attached := strings.Cut(args[i], "=")
		if name != "--tool" && name != "--event" {
			continue
		}
		if !attached {
			if i++; i >= len(args) {
				break
			}
			value = args[i]
		}
		if name == "--tool" {
			tool = value
		} else {
			event = value
		}
	}
	return tool, event
}

// parseArgs finds the host that calls.
func (r *runner) parseArgs() error {
	tool, event := Named(r.Args)
	r.event = event
	h, ok := host.ByID(tool)
	if !ok {
		return fmt.Errorf("no agent host is called %q: run svc init again", tool)
	}
	r.host = h
	return nil
}

// readInput reads one JSON value, without waiting for the end of the stream.
func readInput(in io.Reader) ([]byte, error) {
	type result struct {
		data json.RawMessage
		err  error
	}
	if file, ok := bounded(in, time.Now().Add(patience.Of(stdinTimeout))); ok {
		var data json.RawMessage
		err := json.NewDecoder(io.LimitReader(file, maxInput)).Decode(&data)
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return data, nil
	}
	done := make(chan result, 1)
	go func() {
		var res result
		res.err = json.NewDecoder(io.LimitReader(in, maxInput)).Decode(&res.data)
		done <- res
	}()
	timer := time.NewTimer(patience.Of(stdinTimeout))
	defer timer.Stop()
	select {
	case res := <-done:
		if errors.Is(res.err, io.EOF) {
			return nil, nil
		}
		if res.err != nil {
			return nil, fmt.Errorf("read standard input: %w", res.err)
		}
		return res.data, nil
	case <-timer.C:
		return nil, fmt.Errorf("read standard input: %w", os.ErrDeadlineExceeded)
	}
}

// stepAside reports whether the host that really runs has a configuration of
// its own that runs us: then each event would be evaluated twice.
func (r *runner) stepAside() bool {
	c := r.call
	if c.Host == c.Declared {
		return false
	}
	root := c.Cwd
	if root == "" {
		root = r.dir()
	}
	if repo, ok := r.findRepo(root); ok {
		root = repo.Root
	}
	return c.Host.CallsUs(root, login.Home(r.Getenv), c.Declared)
}

func (r *runner) dir() string {
	if r.Dir != "" {
		return r.Dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// log notes why an event failed open.
func (r *runner) log(err error) {
	dir, dirErr := r.ConfigDir()
	if dirErr != nil {
		return
	}
	l := spool.Log{Dir: dir, Event: r.event, Token: r.login.Token}
	if r.host != nil {
		l.Tool = r.host.ID
	}
	if r.call != nil {
		l.Tool = r.call.Host.ID
		if r.call.Event != "" {
			l.Event = string(r.call.Event)
		}
	}
	l.Note(err)
}
