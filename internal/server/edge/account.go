package edge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// An account is one person at one server.
type account struct {
	edge   *Edge
	ctx    context.Context
	stop   context.CancelFunc
	name   string
	server *url.URL
	token  string
	http   *http.Client
	spool  *spool
	memory *memory

	decided, asked, unchecked atomic.Int64

	mu      sync.Mutex
	trip    time.Duration
	reached coord.Time
	problem string
	failed  int // calls in a row that did not come back in time
	used    time.Time
	whose   string // who the server says that the token is of
	revoked bool   // the server no longer takes the token
	follows map[string]*follow
}

// account returns the account that a request is for. A request without a token
// has one of its own, of which nothing is kept.
func (e *Edge) account(server, authorization string) (*account, error) {
	u, err := url.Parse(strings.TrimRight(server, "/"))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New(wire.EdgeServer + " names no server")
	}
	token, bearer := strings.CutPrefix(authorization, "Bearer ")
	if !bearer || token == "" {
		return &account{edge: e, server: u, http: e.open}, nil
	}
	sum := sha256.Sum256([]byte(u.String() + " " + token))
	name := hex.EncodeToString(sum[:12])
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.accounts[name]
	if a == nil {
		a = &account{edge: e, name: name, server: u, token: token, follows: map[string]*follow{}, memory: newMemory(), http: newClient(e.Dial)}
		if a.spool, err = openSpool(filepath.Join(e.Dir, name), a.report); err != nil {
			return nil, err
		}
		e.leave()
		a.ctx, a.stop = context.WithCancel(e.ctx)
		e.accounts[name] = a
		e.work.Go(func() { a.spool.run(a.ctx) })
		e.work.Go(func() { a.introduce(a.ctx) })
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = time.Now()
	return a, nil
}

// leave ends the accounts that nobody has used for long, unless something waits
// to be sent: a token may be anything that somebody wrote into a header. e is
// locked.
func (e *Edge) leave() {
	for name, a := range e.accounts {
		waiting, _ := a.spool.count()
		a.mu.Lock()
		gone := waiting == 0 && len(a.follows) == 0 && time.Since(a.used) > idleAfter
		a.mu.Unlock()
		if gone {
			a.stop()
			a.client().CloseIdleConnections()
			delete(e.accounts, name)
		}
	}
}

const (
	mePath    = "/v1/me"
	whoseFile = "whose"             // in the folder of an account
	keptFor   = 30 * 24 * time.Hour // how long reports wait for a token that may never come back
)

// introduce asks the server whose the token is. A person who logged in again
// has a new one, with which the reports of the old one are sent: they are hers.
func (a *account) introduce(ctx context.Context) {
	var me wire.Me
	for pause := retryEvery; ; pause = min(2*pause, time.Minute) {
		status, err := a.call(ctx, mePath, nil, &me)
		if err == nil && status == http.StatusOK {
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil || err == nil && status < 500 && status != http.StatusTooManyRequests {
			return
		}
	}
	if me.User == nil { // a service's token is nobody's but its own
		return
	}
	a.mu.Lock()
	a.whose = a.server.String() + "\n" + me.Org.ID + "\n" + me.User.ID + "\n"
	a.mu.Unlock()
	a.spool.sign(a.whose)
	a.edge.inherit(a)
}

// inherit hands an account the reports of the same person's older tokens: those
// that the server refuses, and those that nobody has shown since the edge
// started.
func (e *Edge) inherit(heir *account) {
	folders, err := os.ReadDir(e.Dir)
	if err != nil {
		return
	}
	for _, f := range folders {
		dir := filepath.Join(e.Dir, f.Name())
		e.mu.Lock()
		old := e.accounts[f.Name()]
		e.mu.Unlock()
		if old == heir || old != nil && !old.refused() {
			continue
		}
		whose, err := os.ReadFile(filepath.Join(dir, whoseFile))
		switch info, statErr := f.Info(); {
		case err == nil && string(whose) == heir.whose:
			if old != nil {
				old.retire()
			}
			err = heir.spool.takeOver(dir)
		case old == nil && statErr == nil && time.Since(info.ModTime()) > keptFor:
			err = os.RemoveAll(dir)
		default:
			continue
		}
		if err != nil {
			e.Log.Warn("reports of an older token could not be taken over", "err", err)
		}
	}
}

func (a *account) refused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revoked
}

// revoke notes that the server no longer takes the token, and hands what waits
// to the account that the same person has since.
func (a *account) revoke() {
	a.mu.Lock()
	first := !a.revoked
	a.revoked = true
	whose := a.whose
	a.mu.Unlock()
	if !first || whose == "" {
		return
	}
	a.edge.mu.Lock()
	var heir *account
	for _, b := range a.edge.accounts {
		if b.mu.Lock(); b != a && b.whose == whose && !b.revoked {
			heir = b
		}
		b.mu.Unlock()
	}
	a.edge.mu.Unlock()
	if heir != nil {
		a.edge.work.Go(func() { a.edge.inherit(heir) })
	}
}

// retire ends an account whose token is of no use any more. Its folder stays.
func (a *account) retire() {
	a.stop()
	a.edge.mu.Lock()
	defer a.edge.mu.Unlock()
	delete(a.edge.accounts, a.name)
}
