package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

func one(name string, l Level, fix, format string, args ...any) []Check {
	return []Check{{Name: name, Level: l, Detail: fmt.Sprintf(format, args...), Fix: fix}}
}

// checkProgram looks for svc where agent hosts do: hooks that do not find it
// let the agent go on, and nobody would notice.
func checkProgram(ctx context.Context, p *Patient) []Check {
	const name = "program"
	if p.Program == nil {
		return nil
	}
	path, err := p.Program(ctx)
	if err != nil {
		return one(name, Warn, "put svc on the PATH of your agents, such as in /usr/local/bin", "%v", err)
	}
	return one(name, OK, "", "agent hosts start %s", path)
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
	return one(name, OK, "", "%d, with %s grammars", len(languages), how)
}

func checkConfig(_ context.Context, p *Patient) []Check {
	const name = "config"
	if p.LoginErr != nil {
		return one(name, Fail, "svc up, or svc login", "%v", p.LoginErr)
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
	case p.LoginErr != nil:
		return one(name, Fail, "svc login", "the login cannot be read")
	case p.Login.Elsewhere != "":
		return one(name, Fail, "svc login --server "+p.Login.Server, "the stored token is for %s", p.Login.Elsewhere)
	case !p.Login.LoggedIn():
		return one(name, Fail, "svc login", "not logged in")
	}
	me, err := p.Remote.Me(ctx)
	if err != nil {
		return one(name, Fail, "svc login", "%v", err)
	}
	if me.Token == nil || me.User == nil {
		return one(name, Fail, "svc login", "this is a service token; agents need a personal one")
	}
	var missing []string
	for _, s := range []coord.Scope{coord.ScopeHooks, coord.ScopeTools} {
		if !slices.Contains(me.Token.Scopes, s) {
			missing = append(missing, string(s))
		}
	}
	if len(missing) > 0 {
		return one(name, Fail, "svc login", "the token lacks the scope %s", strings.Join(missing, " and "))
	}
	return one(name, OK, "", "%s in %s", peertext.Person(me.User.Email), peertext.Person(me.Org.Name))
}

func checkGit(_ context.Context, p *Patient) []Check {
	const name = "git"
	switch {
	case p.RepoRoot == "":
		return one(name, Warn, "cd into a repository", "this folder is in no git repository; hooks do nothing here")
	case len(p.Repo.RemoteFingerprints) == 0:
		return one(name, Warn, "git remote add origin <url>", "%s has no remote; hooks do nothing here", p.RepoRoot)
	}
	return one(name, OK, "", "%s on %s", peertext.Path(p.Repo.RemoteFingerprints[0]), peertext.Branch(p.Repo.Branch))
}

func checkHosts(ctx context.Context, p *Patient) []Check {
	if p.Hosts == nil || p.RepoRoot == "" {
		return nil
	}
	return p.Hosts(ctx)
}

// checkMissed tells of hooks that let agents go on unchecked, which nobody
// would notice otherwise.
func checkMissed(_ context.Context, p *Patient) []Check {
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
	return one(name, Warn, "", "%d events of your agents went unanswered since the last answer%s; their edits went on unchecked "+
		"and are told with the next one (hook.log beside the config says why)", count, ago)
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
	id := "doctor-" + login.NewUUID()
	req := wire.HookRequest{
		Event:   wire.HookSessionStart,
		Session: wire.HookSession{ExternalID: id, Tool: wire.DoctorTool},
		Client:  p.Client,
		Repo:    p.Repo,
	}
	start := p.Now()
	for _, e := range []wire.HookEvent{wire.HookSessionStart, wire.HookSessionEnd} {
		req.Event, req.DedupeKey = e, id+"-"+string(e)
		if _, err := p.Remote.Evaluate(ctx, req); err != nil {
			return one(name, Fail, "", "%s failed: %v", e, err)
		}
	}
	return timed(name, p.Now().Sub(start)/2, "a hook event is answered")
}

func checkVersion(ctx context.Context, p *Patient) []Check {
	const name = "version"
	if p.Latest == nil {
		return one(name, OK, "", "svc %s", version.Version)
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
