package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// welcome says where the service is and what to do next.
func (d *Daemon) welcome(ctx context.Context, env Env) error {
	fmt.Fprintf(env.Stdout, "svcd %s listening on %s\n", d.cfg.Version, d.URL)
	code, err := d.Ops.People.NewSetupCode(ctx)
	switch {
	case err != nil:
		return err
	case code == "":
		return d.welcomeBack(ctx, env)
	case d.cfg.Owner == "":
		fmt.Fprintf(env.Stdout, "This server has no org yet. Open %s/setup#%s to make yours.\n", d.cfg.PublicURL, code)
		return nil
	}
	return d.makeOwner(ctx, env)
}

// welcomeBack greets at every start but the first. While the owner has no
// way to sign in, they get a new link: the last one may be lost.
func (d *Daemon) welcomeBack(ctx context.Context, env Env) error {
	link := d.cfg.PublicURL
	if d.cfg.Owner != "" {
		fresh, err := d.Ops.People.RenewSignInLink(ctx, d.cfg.Owner)
		if err != nil {
			return err
		}
		if fresh != "" {
			link = fresh + "  (choose a password)"
		}
	}
	fmt.Fprintf(env.Stdout, "Dashboard: %s\nConnect a machine: %s login --server %s\n", link, client(env.Program), d.cfg.PublicURL)
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
	connect := fmt.Sprintf("Connect this machine: %s login --server %s --token - < %s", client(env.Program), d.cfg.PublicURL, path)
	if os.Getpid() == 1 { // in a container, whose files are not this machine's
		connect = "Connect a machine: svc login --server " + d.cfg.PublicURL
	}
	fmt.Fprintf(env.Stdout, "Made the org %q with the owner %s.\nDashboard: %s  (choose a password)\n%s\n",
		made.Org.Name, made.User.Email, made.SignInURL, connect)
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
