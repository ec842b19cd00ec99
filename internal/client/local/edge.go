package local

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
)

// The local service is also the edge of a team's server: it keeps a connection
// to it warm and decides edits where the server lets it. It runs for that even
// where the person never ran svc up; then no repository's work stays on it.

// edgeOnly marks a service that hooks started as an edge.
const edgeOnly = "edge-only"

// EdgeVariable switches the edge: off has the server asked directly, on starts
// an edge even for a server on this machine.
const EdgeVariable = "SVC_EDGE"

// EdgeFor returns where the edge of a server is. It is not wanted where the
// person switched it off, or the server is on this machine.
func EdgeFor(getenv func(string) string, server string) (place Place, wanted bool) {
	place, err := Locate(getenv)
	switch set := strings.ToLower(getenv(EdgeVariable)); {
	case err != nil || set == "off" || set == "0" || place.Off():
		return place, false
	case set == "on" || set == "1":
		return place, true
	}
	u, err := url.Parse(server)
	return place, err == nil && !here(u.Hostname())
}

// here reports whether a host is this machine.
func here(host string) bool {
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// edgePause is after how long a start is tried again that did not lead to an
// edge, such as where there is no svcd.
const edgePause = 2 * time.Minute

// DueEdge reports whether the edge should be started now, and notes that it is:
// of many hooks one starts it.
func (p Place) DueEdge() bool {
	asked := p.file("edge-asked")
	if info, err := os.Stat(asked); err == nil && time.Since(info.ModTime()) < edgePause {
		return false
	}
	if os.MkdirAll(p.Dir, 0o700) != nil {
		return false
	}
	return os.WriteFile(asked, nil, 0o600) == nil
}

// StartEdge starts the service as an edge, unless it runs.
func (p Place) StartEdge(ctx context.Context) (Service, error) {
	switch s, ok := p.Running(); {
	case ok:
		return s, nil
	case p.Off():
		return s, ErrOff
	}
	if !p.has(wire.LocalToken) {
		if err := os.MkdirAll(p.Dir, 0o700); err != nil {
			return Service{}, err
		}
		if err := os.WriteFile(p.file(edgeOnly), nil, 0o600); err != nil {
			return Service{}, err
		}
	}
	return p.Start(ctx, "", idleTime)
}

// EdgeReport says how the service fares as an edge.
func (s Service) EdgeReport(ctx context.Context) (report wire.EdgeReport, err error) {
	err = s.call(ctx, http.MethodGet, wire.EdgeStatus, &report)
	return report, err
}
