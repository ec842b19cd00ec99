package daemon

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// usualMetrics is where metrics are served unless the operator says otherwise.
const usualMetrics = "127.0.0.1:7782"

// metricsOff is the address of metrics that are not served.
const metricsOff = "off"

// listenForMetrics listens where metrics are served: never on the address that
// everybody reaches. An address that the operator chose must be free. The usual
// one may belong to another svcd on the machine, and is no reason not to start.
func listenForMetrics(cfg Config, log *slog.Logger) (net.Listener, error) {
	switch cfg.MetricsAddr {
	case metricsOff:
		return nil, nil
	case "":
		l, err := net.Listen("tcp", usualMetrics)
		if err != nil {
			log.Warn("metrics are not served on their usual address; choose another with --metrics-addr", "address", usualMetrics, "err", err)
			return nil, nil
		}
		return l, nil
	}
	l, err := net.Listen("tcp", cfg.MetricsAddr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for metrics: %w; choose another address with --metrics-addr, or off", cfg.MetricsAddr, err)
	}
	return l, nil
}

// serveMetrics answers GET /metrics on an address of its own, and nothing else.
func (d *Daemon) serveMetrics(m *metrics) {
	if d.watch == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.handler())
	d.metrics = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeaderSize, ErrorLog: slog.NewLogLogger(d.log.Handler(), slog.LevelDebug)}
	d.MetricsURL = "http://" + d.watch.Addr().String() + "/metrics"
	d.work.Go(func() { d.metrics.Serve(d.watch) })
}

func checkMetricsAddr(s string) error {
	if s == metricsOff {
		return nil
	}
	return checkAddr(s)
}
