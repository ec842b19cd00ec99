package daemon

import (
	"net"
	"net/http"
	"sync/atomic"

	"github.com/svc-hq/svc/internal/server/api"
)

// Every connection is one of the files that the system lets a process have, and
// so are the database's. When there are none left nobody is answered, agents
// before an edit neither: so streams and waits, which stay, and connections that
// nobody uses right now leave room.
const (
	ownFiles   = 100 // for the database, logs and what goes out
	leastStays = 16
)

// leaveRoom bounds the streams and waits of a process that may have so many
// files.
func leaveRoom(l api.Limits, files int) api.Limits {
	l.Stays = min(l.Stays, half(files))
	return l
}

// half is what of its files a process has for those that stay, and again for
// all others.
func half(files int) int { return max(leastStays, (files-ownFiles)/2) }

// A doorman has connections end after their request while there are many.
type doorman struct {
	server *http.Server
	most   int64
	open   atomic.Int64
	strict atomic.Bool
}

// watch counts the connections of a server.
func (d *doorman) watch(_ net.Conn, is http.ConnState) {
	n := d.open.Load()
	switch is {
	case http.StateNew:
		n = d.open.Add(1)
	case http.StateClosed, http.StateHijacked: // streams have a bound of their own
		n = d.open.Add(-1)
	}
	if many := n > d.most; many && d.strict.CompareAndSwap(false, true) || n < d.most/2 && d.strict.CompareAndSwap(true, false) {
		// It ends those that are idle. The last of several goes by what holds then.
		go func() { d.server.SetKeepAlivesEnabled(!d.strict.Load()) }()
	}
}
