// Withservice starts the service on a throw-away database and, in front of
// it, a proxy that adds an owner's token to each request; runs a command with
// SVC_SERVER, SVC_TOKEN and MCP_URL set, and stops both again:
//
//	go run ./internal/tools/withservice -- .ci/conformance
//
// MCP_URL is the tool endpoint behind the proxy, for clients that cannot send
// a token. The proxy leaves Host and Origin as they come.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/svc-hq/svc/internal/server/daemon"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: withservice -- command [argument...]")
		os.Exit(2)
	}
	err := run(args)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "withservice:", err)
		os.Exit(1)
	}
}

func run(args []string) (err error) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	dir, err := os.MkdirTemp("", "svc-with-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cfg := daemon.Config{
		Addr:      "127.0.0.1:0",
		Data:      dir,
		Database:  filepath.Join(dir, "svc.db"),
		PublicURL: "http://127.0.0.1:0",
		Version:   "0.0.0-test",
	}
	d, err := daemon.Start(ctx, cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	made, err := d.Ops.People.Bootstrap(ctx, "Test", "owner@example.com", "Olga Owner")
	if err != nil {
		return err
	}
	proxy, err := listen(d.URL, made.Token)
	if err != nil {
		return err
	}
	defer proxy.Close()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "SVC_SERVER="+d.URL, "SVC_TOKEN="+made.Token, "MCP_URL=http://"+proxy.Addr().String()+"/mcp")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run()
}

// listen starts a proxy that adds a token to what it passes on.
func listen(to, token string) (net.Listener, error) {
	target, err := url.Parse(to)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
	srv := &http.Server{Handler: proxy, ReadHeaderTimeout: 5 * time.Second}
	go srv.Serve(l)
	return l, nil
}
