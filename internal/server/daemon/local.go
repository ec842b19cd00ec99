package daemon

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/edge"
	"github.com/svc-hq/svc/internal/server/treewatch"
)

// The service of one person on one machine, which svc up and hooks start and
// which ends when nobody works. Whoever can read its folder is that person:
// the folder holds the token, and the lock that proves that the address in it
// is ours and not that of somebody who took the port.

// errRunning means that another process serves the folder.
var errRunning = errors.New("the local service is running already")

const localUsage = `usage: svcd local --data FOLDER [--owner ADDRESS] [--idle 30m]

Serves one person on this machine, on a free port of loopback. svc up starts
it. It ends by itself when nothing asked it for the time of --idle; 0 means never.

Example:
  svcd local --data ./data --idle 1h
`

// serveLocal is svcd local.
func serveLocal(ctx context.Context, env Env, args []string) error {
	fs := flag.NewFlagSet("svcd local", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	data := fs.String("data", "", "")
	owner := fs.String("owner", "you@localhost", "")
	idle := fs.Duration("idle", 30*time.Minute, "")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(env.Stdout, localUsage)
		return err
	} else if err != nil {
		return usageError{err}
	}
	switch {
	case *data == "":
		return usageError{errors.New("--data is missing: it names the folder of the local service")}
	case !shape.IsEmail(*owner):
		return usageError{fmt.Errorf("--owner %q is not an email address", *owner)}
	}
	if err := os.MkdirAll(*data, 0o700); err != nil {
		return err
	}
	lock, err := hold(filepath.Join(*data, wire.LocalLock), false)
	if errors.Is(err, errRunning) {
		fmt.Fprintln(env.Stdout, err)
		return nil
	} else if err != nil {
		return err
	}
	defer lock.Close()
	if turnedOff(*data) {
		fmt.Fprintln(env.Stdout, "svc down was said; svc up starts it again")
		return nil
	}
	os.Remove(filepath.Join(*data, wire.LocalAddress)) // of one that was killed
	name, err := localOwner(*data, *owner)
	if err != nil {
		return err
	}
	cfg := Config{Addr: localAddress(*data), Data: *data, Owner: name, OrgName: "This machine", LogLevel: "info", LogFormat: "json",
		MetricsAddr: metricsOff, Version: env.Version, Pages: env.Pages, SMTPTLS: "starttls"}
	cfg.PublicURL = reachable(cfg.Addr)
	if err := cfg.complete(nil); err != nil {
		return err
	}
	return runLocal(ctx, env, cfg, *idle)
}

// turnedOff reports whether svc down was said since: hooks may have begun to
// start a service before, and come to it only when the one that ran has ended.
func turnedOff(data string) bool {
	_, err := os.Stat(filepath.Join(data, wire.LocalOff))
	return err == nil
}

// localOwner is who the service was made for: the first start decides.
func localOwner(data, owner string) (string, error) {
	path := filepath.Join(data, "owner")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return owner, replaceFile(path, []byte(owner+"\n"))
	}
	return strings.TrimSpace(string(text)), err
}

// localAddress is the port of the last time, so that bookmarks hold, or any.
func localAddress(data string) string {
	text, err := os.ReadFile(filepath.Join(data, "port"))
	if port, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			l.Close()
			return l.Addr().String()
		}
	}
	return "127.0.0.1:0"
}

func runLocal(ctx context.Context, env Env, cfg Config, idle time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d, err := startLocal(ctx, cfg, env, stop)
	if err != nil {
		return err
	}
	at := filepath.Join(cfg.Data, wire.LocalAddress)
	_, port, _ := net.SplitHostPort(d.listener.Addr().String())
	text, err := json.Marshal(wire.LocalService{Server: d.URL, Version: env.Version, PID: os.Getpid()})
	if err == nil {
		err = errors.Join(replaceFile(filepath.Join(cfg.Data, "port"), []byte(port+"\n")), replaceFile(at, text))
	}
	if err != nil {
		return errors.Join(err, d.Stop())
	}
	defer os.Remove(at)
	fmt.Fprintf(env.Stdout, "svcd %s serves %s on %s\n", env.Version, cfg.Data, d.URL)
	if turnedOff(cfg.Data) { // while it had no address yet, and could not be told
		stop()
	}
	if idle > 0 {
		go d.local.endWhenIdle(ctx, idle, stop)
	}
	defer d.local.edge.Close()
	defer d.local.watcher.Close()
	return d.Wait(ctx)
}

// startLocal starts the service with its owner made and its doors added.
func startLocal(ctx context.Context, cfg Config, env Env, stop func()) (*Daemon, error) {
	cfg.local = &local{stop: stop, quiet: time.Now()}
	d, err := Start(ctx, cfg, newLogger(cfg, env.Stderr))
	if err != nil {
		return nil, err
	}
	code, err := d.Ops.People.NewSetupCode(ctx)
	if err == nil && code != "" {
		err = d.makeOwner(ctx, Env{Stdout: io.Discard, Program: env.Program})
	}
	if err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	token, err := os.ReadFile(filepath.Join(cfg.Data, "owner-token"))
	if err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	cfg.local.open(d, strings.TrimSpace(string(token)))
	return d, nil
}

// replaceFile writes a file in one step, for the owner alone.
func replaceFile(path string, data []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// ticketLife is how long a link into the dashboard holds.
const ticketLife = time.Minute

// A local is what only the service of one person has.
type local struct {
	stop func()

	mu      sync.Mutex
	daemon  *Daemon
	token   string
	busy    int       // requests under way
	quiet   time.Time // since when there are none
	tickets map[string]time.Time
	edge    *edge.Edge // in front of the servers that its person is logged in to
	watcher *treewatch.Watcher
}

func (l *local) open(d *Daemon, token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.daemon, l.token, l.tickets = d, token, map[string]time.Time{}
	l.edge = edge.New(edge.Options{Dir: filepath.Join(d.cfg.Data, "edge"), Key: token, Log: d.log})
	l.watcher = treewatch.New(filepath.Join(d.cfg.Data, "cookies"))
	d.local = l
}

// through returns the edge, once the service has its owner.
func (l *local) through() http.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.edge == nil {
		return http.NotFoundHandler()
	}
	return l.edge
}

// around puts the guard of a local service before a handler.
func (l *local) around(next http.Handler) http.Handler {
	if l == nil {
		return next
	}
	return l.guard(next)
}

// guard counts requests, and answers only those that mean this machine: a web
// page whose name was pointed at loopback says another host.
func (l *local) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || host != "127.0.0.1" && host != "localhost" {
			http.Error(w, "this is the local service of svc; open it with svc open", http.StatusMisdirectedRequest)
			return
		}
		if r.URL.Path != "/healthz" {
			l.count(1)
			defer l.count(-1)
		}
		if r.Method+" "+r.URL.Path == "POST "+wire.EdgeTree {
			l.owned(w, r, func() { l.tellTree(w, r) })
			return
		}
		if strings.HasPrefix(r.URL.Path, wire.EdgePath+"/") {
			l.through().ServeHTTP(w, r)
			return
		}
		switch r.Method + " " + r.URL.Path {
		case "POST " + wire.LocalStopPath:
			l.owned(w, r, func() { w.WriteHeader(http.StatusNoContent); l.stop() })
		case "POST " + wire.LocalTicketPath:
			l.owned(w, r, func() { l.giveTicket(w) })
		case "GET " + wire.LocalEnterPath:
			l.enter(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (l *local) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy += n
	l.quiet = time.Now()
}

func (l *local) endWhenIdle(ctx context.Context, idle time.Duration, stop func()) {
	tick := time.NewTicker(min(idle/4, 30*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			l.mu.Lock()
			over := l.busy == 0 && now.Sub(l.quiet) >= idle
			l.mu.Unlock()
			if over {
				stop()
				return
			}
		}
	}
}

// maxTreeQuery is the size of a question about a working copy: all the folders
// that git ignores are in it.
const maxTreeQuery = 1 << 20

// tellTree says what changed in a working copy.
func (l *local) tellTree(w http.ResponseWriter, r *http.Request) {
	var q wire.TreeQuery
	if err := json.NewDecoder(io.LimitReader(r.Body, maxTreeQuery)).Decode(&q); err != nil {
		http.Error(w, "this is no question about a working copy", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(l.watcher.Changed(q))
}

// owned answers whoever has the token of the folder.
func (l *local) owned(w http.ResponseWriter, r *http.Request, do func()) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	l.mu.Lock()
	ok := l.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(l.token)) == 1
	l.mu.Unlock()
	if !ok {
		http.Error(w, "this needs the local service's token", http.StatusUnauthorized)
		return
	}
	do()
}

func (l *local) giveTicket(w http.ResponseWriter) {
	secret := make([]byte, 24)
	rand.Read(secret)
	ticket := hex.EncodeToString(secret)
	l.mu.Lock()
	for t, until := range l.tickets {
		if time.Now().After(until) {
			delete(l.tickets, t)
		}
	}
	l.tickets[ticket] = time.Now().Add(ticketLife)
	l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(wire.LocalTicket{Ticket: ticket})
}

// enter signs a browser in that comes with a ticket, once.
func (l *local) enter(w http.ResponseWriter, r *http.Request) {
	ticket, to := r.URL.Query().Get("ticket"), r.URL.Query().Get("to")
	l.mu.Lock()
	until, ok := l.tickets[ticket]
	delete(l.tickets, ticket)
	d := l.daemon
	l.mu.Unlock()
	if !ok || time.Now().After(until) {
		http.Error(w, "This link was used or is too old. Run: svc open", http.StatusForbidden)
		return
	}
	who := coord.Caller{UserAgent: r.UserAgent(), Address: "127.0.0.1", Via: coord.ViaCookie}
	in, err := d.Ops.People.SignInOwner(r.Context(), who, d.cfg.Owner)
	if err != nil {
		http.Error(w, "svc could not sign you in: "+err.Error(), http.StatusInternalServerError)
		return
	}
	http.SetCookie(w, d.auth.Cookie(in.Secret))
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		to = "/"
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusSeeOther)
}
