package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/outbound"
)

// Env is the world of a command line, as a value.
type Env struct {
	Program string   // how it was called, as in os.Args[0]
	Args    []string // without the program's name
	Environ []string
	Stdout  io.Writer
	Stderr  io.Writer
	Version string
	Pages   http.Handler // the dashboard
}

const usage = `svcd is the svc server: it coordinates coding agents that work in the same repositories.

usage: svcd <command> [flags]

  serve       run the service
  local       run the service of one person on this machine, as svc up does
  bootstrap   make the first org and its owner, and print a token
  user        list, add, disable, reset, export or erase people
  org         list orgs, export one
  rotate-key  replace the key that seals stored secrets
  backup      write everything into a file, while the server runs
  restore     bring a backup back into an empty database
  copy        copy a database into another, as from SQLite to PostgreSQL
  audit       print the event log, or check that nobody has changed it
  migrate     bring the database's schema up to date and stop
  openapi     print the OpenAPI document of the REST API
  version     print the version
  help        print this

svcd <command> --help tells more. Example:
  svcd serve --addr 127.0.0.1:7780
`

// Exit codes of svcd.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// Main runs svcd and returns its exit code.
func Main(ctx context.Context, env Env) int {
	command, args := "help", []string(nil)
	if len(env.Args) > 0 {
		command, args = env.Args[0], env.Args[1:]
	}
	var err error
	switch command {
	case "serve":
		err = serve(ctx, env, args)
	case "local":
		err = serveLocal(ctx, env, args)
	case "bootstrap":
		err = bootstrap(ctx, env, args)
	case "user":
		err = userCommand(ctx, env, args)
	case "org":
		err = orgCommand(ctx, env, args)
	case "rotate-key":
		err = rotateKey(ctx, env, args)
	case "backup":
		err = backup(ctx, env, args)
	case "restore":
		err = restore(ctx, env, args)
	case "copy":
		err = copyDatabase(ctx, env, args)
	case "audit":
		err = audit(ctx, env, args)
	case "migrate":
		err = migrate(ctx, env, args)
	case "openapi":
		err = json.NewEncoder(env.Stdout).Encode(api.New(nil).Document(env.Version, "/"))
	case "version", "--version", "-v":
		fmt.Fprintln(env.Stdout, "svcd", env.Version)
	case "help", "--help", "-h":
		fmt.Fprint(env.Stdout, usage)
	default:
		fmt.Fprintf(env.Stderr, "svcd: unknown command %q\n\n%s", command, usage)
		return exitUsage
	}
	var misuse usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &misuse):
		fmt.Fprintln(env.Stderr, "svcd:", err)
		return exitUsage
	}
	fmt.Fprintln(env.Stderr, "svcd:", err)
	return exitError
}

// A usageError is the caller's mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func config(env Env, command string, args []string) (Config, error) {
	c, err := ParseConfig(command, args, env.Environ, env.Stdout)
	c.Version, c.Pages = env.Version, env.Pages
	if err != nil {
		return c, usageError{err}
	}
	return c, nil
}

func serve(ctx context.Context, env Env, args []string) error {
	cfg, err := config(env, "serve", args)
	if err != nil {
		return err
	}
	lock, err := holdDatabase(cfg)
	if err != nil {
		return err
	}
	defer lock.Close()
	d, err := Start(ctx, cfg, newLogger(cfg, env.Stderr))
	if err != nil {
		return err
	}
	if err := d.welcome(ctx, env); err != nil {
		d.Stop()
		return err
	}
	return d.Wait(ctx)
}

func bootstrap(ctx context.Context, env Env, args []string) error {
	fs := flag.NewFlagSet("svcd bootstrap", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	org := fs.String("org", "", "")
	email := fs.String("email", "", "")
	name := fs.String("name", "", "")
	asJSON := fs.Bool("json", false, "")
	data := fs.String("data", "", "")
	database := fs.String("database", "", "")
	public := fs.String("public-url", "", "")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(env.Stdout, `usage: svcd bootstrap --org NAME --email ADDRESS [--name NAME] [--json]

Makes the first org and its owner on an empty database, with the server
stopped or running, and prints a personal token with every scope, once.
--data, --database and --public-url are as for svcd serve.

Example:
  svcd bootstrap --org Acme --email owner@example.com --json
`)
			return err
		}
		return usageError{err}
	}
	switch {
	case strings.TrimSpace(*org) == "" || len(*org) > 100:
		return usageError{errors.New("--org must be a name of 1-100 characters")}
	case !shape.IsEmail(*email):
		return usageError{fmt.Errorf("--email %q is not an email address", *email)}
	}
	var rest []string
	for flag, value := range map[string]string{"data": *data, "database": *database, "public-url": *public} {
		if value != "" {
			rest = append(rest, "--"+flag, value)
		}
	}
	cfg, err := config(env, "bootstrap", rest)
	if err != nil {
		return err
	}
	st, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer st.Close()
	log := slog.New(slog.DiscardHandler)
	rooms := ops.New(st, eventlog.New(st, log), live.New(st), log, ops.Config{
		PublicURL: cfg.PublicURL,
		Stripe:    cfg.Stripe.stripe(outbound.New(outbound.Policy{})),
	})
	made, err := rooms.People.Bootstrap(ctx, strings.TrimSpace(*org), *email, *name)
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(env.Stdout).Encode(made)
	}
	fmt.Fprintf(env.Stdout,
		"Made the org %q with the owner %s.\n\nToken (shown this once): %s\nChoose a password:       %s\n\nNext: %s login --server %s "+
			"--token <the token above>\n",
		made.Org.Name, made.User.Email, made.Token, made.SignInURL, client(env.Program), cfg.PublicURL)
	return nil
}

func migrate(ctx context.Context, env Env, args []string) error {
	cfg, err := config(env, "migrate", args)
	if err != nil {
		return err
	}
	st, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer st.Close()
	fmt.Fprintln(env.Stdout, "the schema is up to date")
	return nil
}

// newLogger logs text to a terminal and JSON elsewhere.
func newLogger(cfg Config, w io.Writer) *slog.Logger {
	var level slog.Level
	level.UnmarshalText([]byte(cfg.LogLevel)) // checked with the configuration
	opts := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "text" || cfg.LogFormat == "auto" && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
