package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/version"
)

func one(name string, l Level, fix, format string, args ...any) []Check {
	return []Check{{Name: name, Level: l, Detail: fmt.Sprintf(format, args...), Fix: fix}}
}

func checkProgram(ctx context.Context, p *Patient) []Check {
	if p.Program == nil {
		return nil
	}
	return p.Program(ctx)
}

// checkLanguages tells of a build without grammars: it knows lines, and would
// see no definitions change.
func checkLanguages(_ context.Context, p *Patient) []Check {
	const name = "languages"
	if p.Reads == nil {
		return nil
	}
	how, languages := p.Reads()
	if how == "none" {
		const fix = "install a release, or build with make build"
		return one(name, Warn, fix, "this build reads definitions of %s only", strings.Join(languages, ", "))
	}
	if p.Unpacked != nil {
		if err := p.Unpacked(); err != nil {
			return one(name, Fail, "make the cache folder of your user one that svc can write to and start programs in",
				"the part of svc that reads code cannot be used: %v", err)
		}
	}
	return one(name, OK, "", "%d, with %s grammars", len(languages), how)
}

func checkConfig(_ context.Context, p *Patient) []Check {
	const name = "config"
	folder := filepath.Dir(p.ConfigPath)
	if p.LoginErr != nil {
		out := one(name, Fail, "svc up, or svc login", "%v", p.LoginErr)
		if bad := (&login.Unusable{}); errors.As(p.LoginErr, &bad) {
			out[0].Fix = bad.Fix()
		}
		if info, err := os.Stat(folder); err == nil && info.IsDir() && info.Mode().Perm()&0o022 != 0 {
			out[0].Fix, out[0].Mend = "chmod 700 "+folder, func(context.Context) error { return os.Chmod(folder, 0o700) }
		}
		return out
	}
	if p.Exposed != 0 {
		out := one(name, Warn, "chmod 600 "+p.ConfigPath, "others on this machine could read the token in %s (mode %#o); it is closed "+
			"now, and svc login makes a new token if somebody may have looked", p.ConfigPath, p.Exposed)
		out[0].Mend = func(context.Context) error { return os.Chmod(p.ConfigPath, 0o600) }
		return out
	}
	if p.Writable != nil {
		if err := p.Writable(); err != nil {
			fix := "set SVC_CONFIG_DIR to a folder that you can write to"
			if isFull(err) {
				fix = "make room on that disk"
			}
			return one(name, Warn, fix, "%s takes no files (%v): a login is not kept, and hooks leave no log", folder, err)
		}
	}
	if p.Login.ServerSource == login.FromLocal {
		return one(name, OK, "", "your own service, which svc up started")
	}
	if _, err := os.Stat(p.ConfigPath); err != nil {
		if p.Login.TokenSource == login.FromEnv {
			return one(name, OK, "", "no config file; server and token come from the environment")
		}
		return one(name, Fail, "svc login", "no config file at %s", p.ConfigPath)
	}
	return one(name, OK, "", "%s, server from %s, token from %s", p.ConfigPath, p.Login.ServerSource, p.Login.TokenSource)
}

func checkServer(ctx context.Context, p *Patient) []Check {
	const name = "server"
	if p.RemoteErr != nil {
		return one(name, Fail, "svc login --server https://...", "%v", p.RemoteErr)
	}
	start := p.Now()
	if _, err := p.Remote.Health(ctx); err != nil {
		return one(name, Fail, "", "%v", err)
	}
	return timed(name, p.Now().Sub(start), p.Remote.Server()+" answers")
}

// timed warns about an answer that took too long.
func timed(name string, took time.Duration, what string) []Check {
	ms := took.Round(time.Millisecond)
	if took > slow {
		return one(name, Warn, "", "%s, but took %s; above %s agents go on without waiting", what, ms, slow)
	}
	return one(name, OK, "", "%s in %s", what, ms)
}

// checkClock compares the two clocks: a wrong one makes times in reports lie
// and signed releases look expired.
func checkClock(ctx context.Context, p *Patient) []Check {
	const name, most = "clock", time.Minute
	date, err := p.Remote.Health(ctx)
	if err != nil || date.IsZero() {
		return one(name, Warn, "", "the server does not say what time it is")
	}
	skew := p.Now().Sub(date).Round(time.Second)
	if skew > most || skew < -most {
		return one(name, Warn, "sudo timedatectl set-ntp true", "this machine's clock and the server's differ by %s", skew.Abs())
	}
	return one(name, OK, "", "agrees with the server's")
}

func checkToken(ctx context.Context, p *Patient) []Check {
	const name = "token"
	switch {
	case p.Login.Elsewhere != "":
		return one(name, Fail, "svc login --server "+p.Login.Server, "the stored token is for %s", p.Login.Elsewhere)
	case !p.Login.LoggedIn():
		return one(name, Fail, "svc login", "not logged in")
	}
	me, err := p.Remote.Me(ctx)
	if err != nil {
		return one(name, Fail, p.Login.Renew(), "%v", err)
	}
	if me.Token == nil || me.User == nil {
		return one(name, Fail, p.Login.Renew(), "this is a service token; agents need a personal one")
	}
	var missing []string
	for _, s := range []coord.Scope{coord.ScopeHooks, coord.ScopeTools} {
		if !slices.Contains(me.Token.Scopes, s) {
			missing = append(missing, string(s))
		}
	}
	if len(missing) > 0 {
		return one(name, Fail, p.Login.Renew(), "the token lacks the scope %s", strings.Join(missing, " and "))
	}
	return one(name, OK, "", "%s in %s", peertext.Person(me.User.Email), peertext.Person(me.Org.Name))
}

func checkHosts(ctx context.Context, p *Patient) []Check {
	if p.Hosts == nil || p.RepoRoot == "" {
		return nil
	}
	return p.Hosts(ctx)
}

// checkMissed tells of hooks that let agents go on unchecked, which nobody
// would notice otherwise.
func checkMissed(ctx context.Context, p *Patient) []Check {
	const name = "hooks"
	if p.Missed == nil {
		return nil
	}
	count, last := p.Missed()
	if count == 0 {
		return one(name, OK, "", "every event of your agents was answered")
	}
	ago := ""
	if !last.IsZero() {
		ago = ", the last " + p.Now().Sub(last).Round(time.Second).String() + " ago"
	}
	out := one(name, Warn, "", "%d events of your agents went unanswered since the last answer%s; their edits went on unchecked "+
		"and are told with the next one (hook.log beside the config says why)", count, ago)
	if p.Remote == nil || p.Heard == nil {
		return out
	}
	if _, err := p.Remote.Health(ctx); err == nil { // what it was is over: nobody need wait for the end of a pause
		out[0].Fix = "ask the service again at the next event"
		out[0].Mend = func(context.Context) error { p.Heard(); return nil }
	}
	return out
}

// checkUnchecked tells what the server knows of outages that are over: which
// agents of the person, on whatever machine, went on without an answer.
func checkUnchecked(ctx context.Context, p *Patient) []Check {
	const name = "unchecked"
	at, err := p.Remote.Attention(ctx, 100)
	if err != nil {
		return one(name, Warn, "", "not known: %v", err)
	}
	var out []Check
	for _, it := range at.Items {
		if it.Kind == coord.AttentionUnchecked {
			out = append(out, one(name, Warn, "svc open", "%s %s ago: %s", peertext.Title(it.Title),
				p.Now().Sub(it.Since.Std()).Round(time.Minute), peertext.Line(it.Detail, 300))...)
		}
	}
	if len(out) == 0 {
		return one(name, OK, "", "no agent of yours went on unchecked in the last day")
	}
	return out
}

// checkRoundTrip plays a session that nobody else sees anything of.
func checkRoundTrip(ctx context.Context, p *Patient) []Check {
	const name = "round trip"
	if len(p.Repo.RemoteFingerprints) == 0 {
		return one(name, Warn, "", "not checked: no repository with a remote here")
	}
	start := p.Now()
	reply, err := p.Remote.Visit(ctx, "doctor-"+login.NewUUID(), p.Client, p.Repo)
	if err != nil {
		return one(name, Fail, "", "%v", err)
	}
	if reply.SessionID == nil {
		return one(name, Warn, "svc repos says what is watched", "the service answers, but nothing is checked here. %s",
			peertext.Line(reply.InjectContext, 300))
	}
	return timed(name, p.Now().Sub(start)/2, "a hook event is answered")
}

func checkVersion(ctx context.Context, p *Patient) []Check {
	const name = "version"
	if p.Latest == nil {
		return one(name, OK, "", "svc %s", version.Version)
	}
	if out := checkServerVersion(ctx, p); out != nil {
		return out
	}
	latest, newer, err := p.Latest(ctx)
	switch {
	case err != nil:
		return one(name, OK, "", "svc %s; whether there is a newer one is not known (%v)", version.Version, err)
	case newer:
		return one(name, Warn, "svc update", "svc %s; %s is available", version.Version, latest)
	}
	return one(name, OK, "", "svc %s is the newest", version.Version)
}
