package daemon

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/server/store"
)

const backupUsage = `usage: svcd backup FILE [--data FOLDER | --database URL]
       svcd backup verify FILE | FOLDER

Writes everything, as it is at one moment, into a new SQLite file, while the
server runs or not, from SQLite or PostgreSQL. The file ends with its own
checksum. The key that seals stored secrets is not in it: keep the key file of
the data folder, too.
verify tells whether a backup is as it was written and can be read; of a folder
that svcd serve --ship-to wrote, which moments can be restored. Restoring asks
the same before it begins.

Example:
  svcd backup /backups/svc-monday.db
`

const restoreUsage = `usage: svcd restore FILE [--data FOLDER | --database URL]
       svcd restore --from FOLDER [--at MOMENT] [--data FOLDER | --database URL]

Brings a backup back into a database that is empty, SQLite or PostgreSQL, with
the server stopped. Nothing is overwritten. A backup of an older version is
brought up to date on the way; FILE stays as it is.
--from takes what svcd serve --ship-to wrote: the newest state, or with --at
that of a moment, without what was committed later.

Example:
  svcd restore /backups/svc-monday.db --database postgres://svc@db/svc
  svcd restore --from /mnt/share/svc --at 2026-01-31T09:30:00Z --data /var/lib/svc
`

const copyUsage = `usage: svcd copy --from DATABASE --to DATABASE

Copies everything, as it is at one moment, into a database that is empty. A
database is sqlite:PATH or postgres://USER@HOST/NAME. Stop the server that
writes to the first one before, or what it writes meanwhile stays behind.

Example:
  svcd copy --from sqlite:/var/lib/svc/svc.db --to postgres://svc@db/svc
`

// places reads a command's flags and its one argument, in any order.
func places(env Env, command, help string, args []string, names ...string) (map[string]string, []string, error) {
	set := flag.NewFlagSet("svcd "+command, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	values := map[string]*string{}
	for _, n := range names {
		values[n] = set.String(n, "", "")
	}
	var rest []string
	for {
		if err := set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprint(env.Stdout, help)
				return nil, nil, err
			}
			return nil, nil, usageError{err}
		}
		if set.NArg() == 0 {
			break
		}
		rest, args = append(rest, set.Arg(0)), set.Args()[1:]
	}
	out := map[string]string{}
	for n, v := range values {
		out[n] = *v
	}
	return out, rest, nil
}

// located is places for commands that take a file and the server's database.
func located(env Env, command, help string, args []string) (file string, cfg Config, err error) {
	at, rest, err := places(env, command, help, args, "data", "database")
	if err != nil {
		return "", cfg, err
	}
	if len(rest) != 1 {
		return "", cfg, usageError{fmt.Errorf("%s takes one file; svcd %s --help tells more", command, command)}
	}
	cfg, err = databaseOf(env, command, at)
	return rest[0], cfg, err
}

// databaseOf returns the configuration of the database that flags name.
func databaseOf(env Env, command string, at map[string]string) (Config, error) {
	var flags []string
	for _, name := range []string{"data", "database"} {
		if at[name] != "" {
			flags = append(flags, "--"+name, at[name])
		}
	}
	return config(env, command, flags)
}

func backup(ctx context.Context, env Env, args []string) error {
	if len(args) > 0 && args[0] == "verify" {
		_, files, err := places(env, "backup verify", backupUsage, args[1:])
		if err == nil && len(files) != 1 {
			err = usageError{errors.New("backup verify takes one file; svcd backup --help tells more")}
		}
		if err != nil {
			return err
		}
		return verifyBackup(ctx, env, files[0])
	}
	file, cfg, err := located(env, "backup", backupUsage, args)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists, and nothing is overwritten: name another file", file)
	}
	partial := file + ".partial"
	if err := removeDatabase(partial); err != nil { // of a backup that was cut short
		return err
	}
	defer removeDatabase(partial)
	if err := transfer(ctx, env, cfg.Database, partial, true); err != nil {
		return err
	}
	if err := seal(partial); err != nil {
		return err
	}
	if err := os.Link(partial, file); err != nil { // unlike renaming, it takes no one else's place
		return err
	}
	fmt.Fprintf(env.Stdout, "Everything is in %s. Stored secrets need the key as well, which is not in it: see --secret-key.\n", file)
	return nil
}

func restore(ctx context.Context, env Env, args []string) error {
	at, rest, err := places(env, "restore", restoreUsage, args, "data", "database", "from", "at")
	switch {
	case err != nil:
		return err
	case at["from"] != "" && len(rest) > 0:
		return usageError{fmt.Errorf("restore takes a file or --from, not both; %q is one too many", rest[0])}
	case at["from"] == "" && len(rest) != 1:
		return usageError{errors.New("restore takes one file, or --from with a folder; svcd restore --help tells more")}
	case at["from"] == "" && at["at"] != "":
		return usageError{errors.New("--at goes with --from: a file has one moment")}
	}
	cfg, err := databaseOf(env, "restore", at)
	if err != nil {
		return err
	}
	if at["from"] != "" {
		return restoreShipped(ctx, env, at["from"], at["at"], cfg)
	}
	file := rest[0]
	lock, err := holdDatabase(cfg)
	if err != nil {
		return err
	}
	defer lock.Close()
	err = opened(ctx, file, unsealed(file), func(work string, _ int, _ bool) error {
		return transfer(ctx, env, work, cfg.Database, false)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "Restored %s. Start svcd with the key that the backed-up server had.\n", file)
	return nil
}

func copyDatabase(ctx context.Context, env Env, args []string) error {
	at, rest, err := places(env, "copy", copyUsage, args, "from", "to")
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return usageError{fmt.Errorf("copy takes --from and --to, not %q", rest[0])}
	case at["from"] == "" || at["to"] == "":
		return usageError{errors.New("copy needs --from and --to; svcd copy --help tells more")}
	}
	from, to := strings.TrimPrefix(at["from"], "sqlite:"), strings.TrimPrefix(at["to"], "sqlite:")
	if from == to {
		return usageError{errors.New("--from and --to are the same database")}
	}
	if _, err := os.Stat(from); err == nil { // else it is PostgreSQL, or told apart below
		lock, err := holdFile(from, true) // what a server wrote meanwhile would stay behind
		if err != nil {
			return err
		}
		defer lock.Close()
	}
	lock, err := holdDatabase(Config{Database: to})
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := transfer(ctx, env, from, to, false); err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, "Copied everything. Start svcd on the new database with the same --secret-key or key file.")
	return nil
}

// transfer copies one database into another and tells how far it is.
func transfer(ctx context.Context, env Env, from, to string, fresh bool) error {
	source, err := store.Existing(ctx, from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := store.Open(ctx, to)
	if err != nil {
		return err
	}
	defer target.Close()
	if fresh {
		if err := os.Chmod(to, 0o600); err != nil {
			return err
		}
	}
	total := 0
	err = source.CopyTo(ctx, target, func(table string, rows int) {
		if total += rows; rows > 0 {
			fmt.Fprintf(env.Stderr, "%-24s %9d\n", table, rows)
		}
	})
	if errors.Is(err, store.ErrNotEmpty) {
		return fmt.Errorf("the database to fill is in use: %w", store.ErrNotEmpty)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "%-24s %9d\n", "rows in all", total)
	return target.Analyze(ctx)
}

// removeDatabase removes a SQLite file with what stands beside it.
func removeDatabase(path string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// holdDatabase makes this process the one that serves a SQLite file. Two would
// each answer from an index that knows nothing of the other's writes.
func holdDatabase(cfg Config) (held io.Closer, err error) {
	if !cfg.Embedded() {
		return io.NopCloser(nil), nil
	}
	if err := os.MkdirAll(filepath.Dir(cfg.Database), 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	return holdFile(cfg.Database, false)
}

func holdFile(database string, shared bool) (io.Closer, error) {
	f, err := hold(database+".lock", shared)
	if errors.Is(err, errRunning) {
		return nil, fmt.Errorf("another svcd serves %s: one SQLite file takes one server (several need PostgreSQL)", database)
	}
	return f, err
}
