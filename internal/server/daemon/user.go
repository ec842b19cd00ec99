package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/ops/people"
	"github.com/svc-hq/svc/internal/server/store"
)

const userUsage = `usage: svcd user list [--json]
       svcd user add ADDRESS [--name NAME] [--role ROLE] [--org SLUG]
       svcd user owner|disable|enable|reset|reset-factor|sign-out|sign-in|unbind ADDRESS
       svcd user export ADDRESS
       svcd user erase ADDRESS --yes

add makes somebody a member (or admin, owner, viewer, billing) and prints a
link with which they choose a password. owner makes a member an owner (--org
where there are several orgs).
disable closes an account: its tokens are refused, its sign-ins and its agents'
sessions end. enable opens it again.
reset takes password, passkeys and sign-ins away and prints a link to choose a
new password;
sign-out ends sign-ins and tokens everywhere.
reset-factor takes app and passkeys away from somebody who lost them and their
recovery codes: look first whether it is them who asks.
sign-in prints a link that signs an owner in once, within 15 minutes, though
the OpenID provider or the mail does not work.
unbind takes an account from the OpenID sign-ins it is bound to: the next one
with its verified address has it.
export prints all that is kept about a person, as lines of JSON.
erase takes a person out for good: name, address, sign-ins and all that they and
their agents wrote. Figures and the audit log stay, as of "former member 7".
Backups made before still have it.
The server may be running; all but list and export show in the audit log.
--data, --database and --public-url are as for svcd serve.

Example:
  svcd user disable ana@example.com
`

// A userAct is what svcd user can do with an account.
type userAct func(context.Context, *people.Service, map[string]string, string) (said string, err error)

var userActs = map[string]userAct{
	"add": func(ctx context.Context, s *people.Service, at map[string]string, email string) (string, error) {
		role := coord.Role(at["role"])
		if role == "" {
			role = coord.Member
		}
		if !slices.Contains(coord.Roles(), role) {
			return "", usageError{fmt.Errorf("--role %q is none of %s", role, strings.Join(coord.Role("").Enum(), ", "))}
		}
		link, err := s.AddUser(ctx, at["org"], email, at["name"], role)
		if link == "" {
			return email + " is a " + string(role) + " now, and signs in as before", err
		}
		return fmt.Sprintf("%s is a %s now. They choose a password at %s", email, role, link), err
	},
	"owner": func(ctx context.Context, s *people.Service, at map[string]string, email string) (string, error) {
		return email + " is an owner", s.MakeOwner(ctx, at["org"], email)
	},
	"disable": func(ctx context.Context, s *people.Service, _ map[string]string, email string) (string, error) {
		return email + " is disabled: tokens are refused, sign-ins and sessions have ended", s.DisableUser(ctx, email)
	},
	"enable": func(ctx context.Context, s *people.Service, _ map[string]string, email string) (string, error) {
		return email + " is enabled", s.EnableUser(ctx, email)
	},
	"reset": func(ctx context.Context, s *people.Service, _ map[string]string, email string) (string, error) {
		link, err := s.ResetUser(ctx, email)
		return fmt.Sprintf("%s is signed out everywhere, and chooses a new password at %s", email, link), err
	},
	"reset-factor": func(ctx context.Context, s *people.Service, _ map[string]string, email string) (string, error) {
		had, err := s.ResetFactors(ctx, email)
		if !had {
			return email + " has no second factor", err
		}
		return email + " has no second factor any more, and signs in without until they set up another", err
	},
	"sign-out": func(ctx context.Context, s *people.Service, _ map[string]string, email string) (string, error) {
		n, err := s.SignOutUser(ctx, email)
		return fmt.Sprintf("%s is signed out everywhere; %d tokens ended", email, n), err
	},
	"sign-in": func(ctx context.Context, s *people.Service, _ map[string]string, email string) (string, error) {
		link, err := s.BreakGlass(ctx, email)
		return fmt.Sprintf("Signs %s in once, within 15 minutes: %s", email, link), err
	},
	"unbind": func(ctx context.Context, s *people.Service, _ map[string]string, email string) (string, error) {
		n, err := s.UnbindUser(ctx, email)
		return fmt.Sprintf("%s is bound to no OpenID sign-in any more (was to %d); the next with its verified address has it", email, n), err
	},
	"erase": func(ctx context.Context, s *people.Service, at map[string]string, email string) (string, error) {
		if at["yes"] == "" {
			return "", usageError{fmt.Errorf("this cannot be undone; keep what is wanted (svcd user export %s), then: svcd user erase %s --yes",
				email, email)}
		}
		name, err := s.EraseUser(ctx, email)
		return "erased; what they did is by \"" + name + "\" now. Backups made before still have the person", err
	},
}

// userCommand does what whoever has the machine can do for people.
func userCommand(ctx context.Context, env Env, args []string) error {
	args, flags := bare(args, "json", "yes")
	at, rest, err := places(env, "user", userUsage, args, "data", "database", "public-url", "org", "name", "role")
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		fmt.Fprint(env.Stdout, userUsage)
		return nil
	}
	at["yes"] = flags["yes"]
	act := userActs[rest[0]]
	switch {
	case rest[0] == "list" && len(rest) == 1:
	case act == nil && rest[0] != "export":
		return usageError{fmt.Errorf("svcd user %s is unknown; svcd user --help tells what there is", rest[0])}
	case len(rest) != 2 || !shape.IsEmail(rest[1]):
		return usageError{errors.New("say whom: svcd user " + rest[0] + " ADDRESS")}
	}
	return withPeople(ctx, env, "user", at, func(s *people.Service) error {
		switch {
		case rest[0] == "list":
			return listUsers(ctx, env, s, flags["json"] != "")
		case rest[0] == "export":
			return s.ExportUser(ctx, rest[1], lines(env))
		}
		said, err := act(ctx, s, at, rest[1])
		if err == nil {
			fmt.Fprintln(env.Stdout, said)
		}
		return err
	})
}

const orgUsage = `usage: svcd org list [--json]
       svcd org add NAME --owner ADDRESS [--name NAME]
       svcd org invite ADDRESS
       svcd org export [SLUG]

list shows the orgs of this server.
add makes an org and its owner, and prints a link with which the owner chooses a
password. Somebody who has an account here keeps it, and has one org more.
invite prints a link with which somebody makes an org of their own, once, within
a week: where the server runs with --sign-up invite or open.
export prints all that is kept of an org, as lines of JSON, without secrets.
The server may be running.
--data, --database and --public-url are as for svcd serve.

Example:
  svcd org add "Acme" --owner ana@example.com
`

// orgCommand shows the server's orgs and hands out what is theirs.
func orgCommand(ctx context.Context, env Env, args []string) error {
	args, flags := bare(args, "json")
	at, rest, err := places(env, "org", orgUsage, args, "data", "database", "public-url", "owner", "name")
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		fmt.Fprint(env.Stdout, orgUsage)
		return nil
	}
	switch {
	case rest[0] == "add" && (len(rest) != 2 || !shape.IsEmail(at["owner"])):
		return usageError{errors.New("say what and whose: svcd org add NAME --owner ADDRESS")}
	case rest[0] == "invite" && (len(rest) != 2 || !shape.IsEmail(rest[1])):
		return usageError{errors.New("say whom: svcd org invite ADDRESS")}
	}
	return withPeople(ctx, env, "org", at, func(s *people.Service) error {
		switch {
		case rest[0] == "list" && len(rest) == 1:
			return listOrgs(ctx, env, s, flags["json"] != "")
		case rest[0] == "add":
			return addOrg(ctx, env, s, rest[1], at)
		case rest[0] == "invite":
			link, err := s.InviteToSignUp(ctx, rest[1])
			if err == nil {
				fmt.Fprintf(env.Stdout, "%s makes an org at %s within a week, where the server runs with --sign-up invite or open\n", rest[1], link)
			}
			return err
		case rest[0] == "export" && len(rest) <= 2:
			return s.ExportOrg(ctx, strings.Join(rest[1:], ""), lines(env))
		}
		return usageError{fmt.Errorf("svcd org %s is unknown; there are list, add, invite and export", strings.Join(rest, " "))}
	})
}

func addOrg(ctx context.Context, env Env, s *people.Service, name string, at map[string]string) error {
	org, link, err := s.AddOrg(ctx, name, at["owner"], at["name"])
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "Made the org %q (%s) with the owner %s", org.Name, org.Slug, at["owner"])
	if link == "" {
		fmt.Fprintln(env.Stdout, ", who signs in as before.")
		return nil
	}
	fmt.Fprintf(env.Stdout, ".\nThey choose a password at %s\n", link)
	return nil
}

// bare takes flags without a value out of arguments.
func bare(args []string, names ...string) (rest []string, found map[string]string) {
	found = map[string]string{}
	for _, a := range args {
		if name := strings.TrimLeft(a, "-"); name != a && slices.Contains(names, name) {
			found[name] = "true"
			continue
		}
		rest = append(rest, a)
	}
	return rest, found
}

// withPeople runs fn on the operations about people, beside a running server or
// without one.
func withPeople(ctx context.Context, env Env, command string, at map[string]string, fn func(*people.Service) error) error {
	var flags []string
	for _, name := range []string{"data", "database", "public-url"} {
		if at[name] != "" {
			flags = append(flags, "--"+name, at[name])
		}
	}
	cfg, err := config(env, command, flags)
	if err != nil {
		return err
	}
	st, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer st.Close()
	log := slog.New(slog.DiscardHandler)
	events := eventlog.New(st, log)
	defer events.Flush(ctx) // whatever fn did until it failed
	rooms := ops.New(st, events, live.New(st), log, ops.Config{PublicURL: cfg.PublicURL})
	rooms.Ground.Forget = func(org string) { // replicas hear of it; SQLite's server notices within a second
		if err := st.Notify(ctx, store.NewStandings, org); err != nil {
			fmt.Fprintln(env.Stderr, "svcd: running servers were not told, and notice within a second:", err)
		}
	}
	return fn(rooms.People)
}

// lines prints rows as lines of JSON.
func lines(env Env) func(store.Exported) error {
	out := json.NewEncoder(env.Stdout)
	out.SetEscapeHTML(false)
	return func(row store.Exported) error { return out.Encode(row) }
}

func listUsers(ctx context.Context, env Env, s *people.Service, asJSON bool) error {
	users, err := s.Users(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(env.Stdout)
		for _, u := range users {
			if err := out.Encode(u); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ADDRESS\tNAME\tORGS\tSTATE")
	for _, u := range users {
		var seats []string
		for _, o := range u.Orgs {
			seats = append(seats, o.Org+" ("+string(o.Role)+")")
		}
		state := ""
		if u.Erased {
			state = "erased"
		} else if u.Disabled {
			state = "disabled"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", u.Email, u.Name, strings.Join(seats, ", "), state)
	}
	return table.Flush()
}

func listOrgs(ctx context.Context, env Env, s *people.Service, asJSON bool) error {
	orgs, err := s.Orgs(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		out := json.NewEncoder(env.Stdout)
		for _, o := range orgs {
			if err := out.Encode(o); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SLUG\tNAME\tPLAN\tMADE")
	for _, o := range orgs {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", o.Slug, o.Name, o.Plan, o.CreatedAt)
	}
	return table.Flush()
}
