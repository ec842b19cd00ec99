// Rig does for the browser tests what no API offers: it reaches into the
// database of a test's server, and prints the attack corpus.
//
//	rig org <database> <name> <email>     a second org with this person as owner
//	rig expire <database> <user code>     lets a device code be too old
//	rig stale <database> <email>          lets somebody's proof of who they are be too old
//	rig corpus                            the hostile texts, as JSON
//	rig chorus <database> <n>             says again what was said, until there are n messages
//	rig said <database>                   how many messages there are
//	rig past <database> <days>            spreads what happened over the last days, in its order
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext/corpus"
	"github.com/svc-hq/svc/internal/server/store"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rig:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 4 && args[0] == "org":
		return write(ctx, args[1], func(tx *store.Tx) error { return addOrg(ctx, tx, args[2], args[3]) })
	case len(args) == 3 && args[0] == "expire":
		return write(ctx, args[1], func(tx *store.Tx) error { return expire(ctx, tx, args[2]) })
	case len(args) == 3 && args[0] == "stale":
		return write(ctx, args[1], func(tx *store.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE web_sessions SET proved_at = 0 WHERE user_id = (SELECT id FROM users WHERE email = $1)`, args[2])
			return err
		})
	case len(args) == 3 && args[0] == "chorus":
		return counted(args[2], func(n int) error {
			return write(ctx, args[1], func(tx *store.Tx) error { return chorus(ctx, tx, n) })
		})
	case len(args) == 2 && args[0] == "said":
		return write(ctx, args[1], func(tx *store.Tx) error { return countSaid(ctx, tx) })
	case len(args) == 3 && args[0] == "past":
		return counted(args[2], func(days int) error {
			return write(ctx, args[1], func(tx *store.Tx) error { return past(ctx, tx, int64(days)) })
		})
	case len(args) == 1 && args[0] == "corpus":
		cases, err := corpus.Cases()
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(cases)
	}
	return fmt.Errorf("usage: rig org <database> <name> <email> | rig expire <database> <user code> | rig stale <database> <email> | " +
		"rig corpus | rig chorus <database> <n> | rig said <database> | rig past <database> <days>")
}

func counted(arg string, fn func(int) error) error {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a count", arg)
	}
	return fn(n)
}

func write(ctx context.Context, dsn string, fn func(*store.Tx) error) error {
	st, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer st.Close()
	return st.Write(ctx, "rig", fn)
}

func addOrg(ctx context.Context, tx *store.Tx, name, email string) error {
	person, err := tx.AccountByEmail(ctx, email)
	if err != nil {
		return err
	}
	if person == nil {
		return fmt.Errorf("nobody is called %s", email)
	}
	org := coord.Org{
		ID:        uuid.NewString(),
		Slug:      strings.ToLower(name),
		Name:      name,
		DataMode:  coord.DataFull,
		Plan:      "self_hosted",
		CreatedAt: tx.Now,
	}
	if err := tx.InsertOrg(ctx, org); err != nil {
		return err
	}
	return tx.InsertMember(ctx, org.ID, person.User.ID, coord.Owner)
}

func expire(ctx context.Context, tx *store.Tx, code string) error {
	res, err := tx.ExecContext(ctx, `UPDATE device_codes SET expires_at = $2 WHERE user_code = $1`, code, tx.Now)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%d requests under %s: %v", n, code, err)
	}
	return nil
}
