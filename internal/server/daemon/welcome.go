package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// say says something at the start: in words to a person, and as a line of the log
// where all lines are to be JSON.
func (d *Daemon) say(env Env, short, words string, attrs ...any) {
	if d.cfg.LogFormat == "json" {
		slog.New(slog.NewJSONHandler(env.Stdout, nil)).Info(short, attrs...)
		return
	}
	fmt.Fprintln(env.Stdout, words)
}

// welcome says where the service is and what to do next.
func (d *Daemon) welcome(ctx context.Context, env Env) error {
	d.say(env, "listening", fmt.Sprintf("svcd %s listening on %s", d.cfg.Version, d.URL), "version", d.cfg.Version, "url", d.URL,
		"metrics", d.MetricsURL)
	code, err := d.Ops.People.NewSetupCode(ctx)
	switch {
	case err != nil:
		return err
	case code == "":
		return d.welcomeBack(ctx, env)
	case d.cfg.Owner == "":
		link := d.cfg.PublicURL + "/setup#" + code
		d.say(env, "no org yet: open the link to make yours", "This server has no org yet. Open "+link+" to make yours.", "open", link)
		return nil
	}
	return d.makeOwner(ctx, env)
}

// welcomeBack greets at every start but the first. While the owner has no
// way to sign in, they get a new link: the last one may be lost.
func (d *Daemon) welcomeBack(ctx context.Context, env Env) error {
	link, choose := d.cfg.PublicURL, ""
	if d.cfg.Owner != "" {
		fresh, err := d.Ops.People.RenewSignInLink(ctx, d.cfg.Owner)
		if err != nil {
			return err
		}
		if fresh != "" {
			link, choose = fresh, "  (choose a password)"
		}
	}
	connect := client(env.Program) + " login --server " + d.cfg.PublicURL
	d.say(env, "ready", fmt.Sprintf("Dashboard: %s%s\nConnect a machine: %s", link, choose, connect), "dashboard", link, "connect", connect)
	return nil
}

// makeOwner is bootstrap at first start, for those who gave --owner. The
// token goes into a file: a terminal's scrollback is no place for it.
func (d *Daemon) makeOwner(ctx context.Context, env Env) error {
	made, err := d.Ops.People.Bootstrap(ctx, d.cfg.OrgName, d.cfg.Owner, "")
	if err != nil {
		return err
	}
	path := filepath.Join(d.cfg.Data, "owner-token")
	if err := os.MkdirAll(d.cfg.Data, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(made.Token+"\n"), 0o600); err != nil {
		return err
	}
	which, connect := "this", fmt.Sprintf("%s login --server %s --token - < %s", client(env.Program), d.cfg.PublicURL, path)
	if os.Getpid() == 1 { // in a container, whose files are not this machine's
		which, connect = "a", "svc login --server "+d.cfg.PublicURL
	}
	d.say(env, "made the org", fmt.Sprintf("Made the org %q with the owner %s.\nDashboard: %s  (choose a password)\nConnect %s machine: %s",
		made.Org.Name, made.User.Email, made.SignInURL, which, connect),
		"org", made.Org.Slug, "owner", made.User.ID, "dashboard", made.SignInURL, "connect", connect)
	return nil
}

// client returns how to call svc from where svcd was called: bin/svc beside
// bin/svcd, else whatever is on the path.
func client(program string) string {
	if dir, _ := filepath.Split(program); dir != "" {
		beside := filepath.Join(dir, "svc")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside
		}
	}
	return "svc"
}
