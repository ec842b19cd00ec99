package remote

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/svc-hq/svc/internal/client/clientcert"
	"github.com/svc-hq/svc/internal/core/wire"
)

// An Edge is the resident process on this machine that has a warm connection to
// a server.
type Edge struct {
	Server  string // whose edge it is
	Address string // of its own
	Key     string // what opens its door
}

// ThroughEdge returns a transport that sends what is for a server through the
// edge that find returns, and directly where there is none or another program
// answers in its place. It is asked for every request: an edge comes and goes.
func ThroughEdge(find func() (Edge, bool)) http.RoundTripper {
	near := &http.Transport{MaxIdleConns: 4} // no proxy: it is this machine
	return &edgeTransport{find: find, direct: clientcert.Transport(os.Getenv), near: near}
}

type edgeTransport struct {
	find   func() (Edge, bool)
	near   http.RoundTripper
	direct http.RoundTripper
}

func (t *edgeTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	edge, found := t.find()
	path, ours := strings.CutPrefix(req.URL.String(), strings.TrimRight(edge.Server, "/")+"/")
	if !ours || !found || req.Body != nil && req.GetBody == nil {
		return t.direct.RoundTrip(req)
	}
	near, err := through(req, edge, path)
	if err != nil {
		return t.direct.RoundTrip(req)
	}
	res, err := t.near.RoundTrip(near)
	switch {
	case err == nil && res.Header.Get(wire.EdgeAnswer) != "" && res.StatusCode != http.StatusBadGateway:
		res.Request = req
		return res, nil
	case err == nil:
		res.Body.Close() // it is of another version, or says that nothing was sent: the server itself says why
	case req.Context().Err() != nil || !notSent(err) && req.Method != http.MethodGet:
		return nil, err // it may have been done
	}
	if req.Body != nil {
		req = req.Clone(req.Context())
		if req.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.direct.RoundTrip(req)
}

// notSent reports whether a request never left this machine.
func notSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// through is req as the edge takes it.
func through(req *http.Request, edge Edge, path string) (*http.Request, error) {
	at, err := url.Parse(strings.TrimRight(edge.Address, "/") + wire.EdgePath + "/" + path)
	if err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = at, ""
	if req.GetBody != nil {
		if out.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	out.Header.Set(wire.EdgeKey, edge.Key)
	out.Header.Set(wire.EdgeServer, strings.TrimRight(edge.Server, "/"))
	return out, nil
}
