package hook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/copies"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/post"
	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/client/workspace"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A place is a repository that events can be sent about.
type place struct {
	*gitrepo.Repo
	fingerprints []string
	now          []string     // fingerprints that it has itself, whatever it was known as
	was          *copies.Copy // as what a service knew it
	ignoresCase  bool         // paths that differ in case alone are one file
	login        Login
	record       *record.Record // of it, once it was read
}

// name is how people call the repository.
func (p *place) name() string {
	_, name, _ := strings.Cut(p.fingerprints[0], "/")
	return name
}

// placeOf returns repo as a place. One without a remote has a name that only
// this machine knows.
func (r *runner) placeOf(repo *gitrepo.Repo) (*place, bool) {
	remotes, ignoresCase := repo.Configured()
	p := &place{Repo: repo, ignoresCase: ignoresCase}
	seen := map[string]bool{}
	for _, remote := range remotes {
		if f, ok := scope.Fingerprint(remote.URL); ok && !seen[f] && len(p.fingerprints) < 20 {
			seen[f] = true
			p.fingerprints = append(p.fingerprints, f)
		}
	}
	if len(p.fingerprints) == 0 && repo.CommonDir != "" {
		p.fingerprints = []string{local.Fingerprint(repo.CommonDir)}
	}
	p.now = p.fingerprints
	if was, ok := r.known().Of(repo); ok {
		p.was = &was
	}
	return p, len(p.fingerprints) > 0
}

// request puts together what the service is told.
func (r *runner) request(ctx context.Context, s send) wire.HookRequest {
	c := r.call
	req := wire.HookRequest{
		Event:   s.event,
		Session: r.named(r.self()),
		Client: wire.HookClient{
			CLIVersion: excerpt.Text(r.Version, 40), OS: runtime.GOOS, ToolVersion: excerpt.Text(c.Version, 80), MachineIDHash: r.machineHash(),
		},
		Repo:    r.repo(ctx, s),
		Paths:   s.paths,
		Folders: s.under,
		Checked: r.stale.checked[s.at.Root],
	}
	req.Session.Model, req.Session.Surface, req.Session.Deaf = excerpt.Text(c.Model, 200), excerpt.Text(c.Surface, 40), len(c.Host.Takes) == 0
	if s.as != nil {
		// It sees nothing of the answer, so nothing may count as told.
		req.Session = r.named(*s.as)
		req.Session.Deaf = true
		req.Client.ToolVersion = ""
	}
	private := r.login.DataMode == coord.DataMetadataOnly
	if s.event == wire.HookPrompt || s.event == wire.HookPostEdit || s.event == wire.HookStop && c.At != host.Asks {
		req.LineMaps = r.lineMaps(ctx, s.at.Root)
	}
	switch s.event {
	case wire.HookPrompt:
		if !private {
			req.PromptExcerpt = excerpt.Text(c.Prompt, wire.MaxPromptExcerpt)
		}
	case wire.HookPlan:
		if c.Task == nil {
			req.PlanText = excerpt.Text(r.planText(), wire.MaxPlanText)
			break
		}
		req.Task = &wire.HookTask{Team: c.Task.Team, ID: c.Task.ID, Done: c.At == host.TaskDone}
		if !private {
			req.Task.Title = excerpt.Text(c.Task.Title, 200)
		}
	case wire.HookPreEdit, wire.HookPreShell:
		if c.IsShell() {
			req.Shell = &wire.HookShell{Command: excerpt.Text(c.Command, wire.MaxShellCommand)}
			req.Shell.Git = r.shell.sweeps[s.at.Root]
		}
		if away := r.detach[s.at.Root]; len(away) > 0 {
			if req.Shell == nil {
				req.Shell = &wire.HookShell{}
			}
			req.Shell.Git = append(slices.Clip(away), req.Shell.Git...)[:min(wire.MaxHookGit, len(away)+len(req.Shell.Git))]
		}
	case wire.HookPostEdit:
		req.Untold = s.untold
		paths := r.withRecheck(s)
		if len(paths) == len(s.paths) && r.alreadySent(s, req.Repo.BaseSHA) {
			req.Paths = nil // what there is to hear is heard all the same
			break
		}
		req.Analysis = r.analysis(ctx, s.at.Root, req.Repo.BaseSHA, paths, r.along(s.at, paths))
		r.mention(ctx, s.at, req.Analysis)
		if s.as == nil {
			r.spool.Touch(s.at.Root, s.paths)
		}
	case wire.HookStop:
		req.Paths = nil
		req.Status = r.status(s, private)
	}
	req.DedupeKey = r.dedupeKey(s, post.Digest(req))
	return req
}

// planText returns the plan, which one host keeps in a file.
func (r *runner) planText() string {
	c := r.call
	if c.Plan != "" || c.PlanFile == "" {
		return c.Plan
	}
	data, err := plain.Read(absolute(c.Cwd, c.PlanFile), 1<<20)
	if err != nil {
		return ""
	}
	return string(data)
}

// status returns what the agent said last and the files of its turn, unless
// the user keeps that to himself.
func (r *runner) status(s send, private bool) *wire.HookStatus {
	mute := r.Getenv("SVC_SHARE_STATUS") == "0"
	switch {
	case r.call.At == host.Asks && (mute || private):
		return &wire.HookStatus{Asks: wire.AskPermission} // or it would be the end of the turn
	case r.call.At == host.Asks:
		return &wire.HookStatus{Asks: wire.AskPermission, Excerpt: lastWords(r.call.Said)}
	case mute:
		return nil
	}
	said := r.lastSaid()
	st := &wire.HookStatus{Files: s.paths}
	if coord.AsksPerson(said) {
		st.Asks = wire.AskAnswer
	}
	if !private {
		st.Excerpt = lastWords(said)
	}
	return st
}

// lastWords cuts what an agent said to the length of a status. Of a question the
// end is kept: it asks there.
func lastWords(said string) string {
	if said = strings.TrimSpace(said); coord.AsksPerson(said) {
		return excerpt.End(said, wire.MaxStatusExcerpt)
	}
	return excerpt.Text(said, wire.MaxStatusExcerpt)
}

// lastSaid finds the last assistant message: in the payload, remembered from
// an event before, or in the host's own record.
func (r *runner) lastSaid() string {
	c := r.call
	if c.Said != "" {
		return c.Said
	}
	if said := r.spool.Take("said"); said != "" {
		return said
	}
	if _, err := os.Stat(c.Record); err != nil {
		return ""
	}
	// One host writes its record a moment after it tells of the stop.
	for start := time.Now(); ; time.Sleep(recordPoll) {
		if said := host.LastSaid(c.Record); said != "" || time.Since(start) > patience.Of(recordWait) {
			return said
		}
	}
}

// repo describes the repository as the service knows it.
func (r *runner) repo(ctx context.Context, s send) wire.HookRepo {
	head := s.at.Head()
	def := s.at.DefaultBranch()
	out := wire.HookRepo{
		RemoteFingerprints: s.at.fingerprints,
		Branch:             excerpt.Text(head.Branch, 255), DefaultBranch: excerpt.Text(def, 255), HeadSHA: head.SHA,
		BaseSHA:      r.base(ctx, s, head, def),
		WorktreeHash: r.worktreeHash(s.at.Root),
		IgnoreCase:   s.at.ignoresCase,
		KnownOnly:    !r.login.Local && r.login.Leave != Chosen && !r.asked(s.at.Root),
	}
	if rel, err := filepath.Rel(s.at.Root, r.real(r.call.Cwd)); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
		out.CwdPath = excerpt.Text(filepath.ToSlash(rel), 1024)
	}
	if s.event == wire.HookSessionStart || s.event == wire.HookPrompt {
		out.RootCommits = r.roots(ctx, s.at)
	}
	if s.event == wire.HookSessionStart {
		for _, p := range workspace.Packages(s.at.Root, wire.MaxHookPackages) {
			out.Packages = append(out.Packages, wire.HookPackage{Name: excerpt.Text(p.Name, 200), Path: p.Path, Language: p.Language})
		}
	}
	return out
}

// asked reports whether somebody asked for svc in a repository: a configuration
// in it runs us, or none of the user's does, so that we were started for it on
// purpose. The user's own holds for every folder: what is private stays so.
func (r *runner) asked(root string) bool {
	return r.callsUs(root, "") || !r.callsUs("", login.Home(r.Getenv))
}

// callsUs reports whether a configuration in a repository or in the user's
// home runs us, for the host that speaks or the one that it reads hooks of.
func (r *runner) callsUs(root, home string) bool {
	nobody := &host.Host{}
	return r.call.Declared.CallsUs(root, home, nobody) || r.call.Host != r.call.Declared && r.call.Host.CallsUs(root, home, nobody)
}

// base returns the commit that the work started from. Finding it takes git, so
// events that an agent waits for use what was found before, as long as neither
// side has moved.
func (r *runner) base(ctx context.Context, s send, head gitrepo.Head, def string) string {
	if head.SHA == "" {
		return ""
	}
	upstream := ""
	if def != "" {
		upstream = s.at.Ref("refs/remotes/origin/" + def)
	}
	if head.SHA == upstream {
		return head.SHA
	}
	key := "base-" + spool.Hash(s.at.Root, head.SHA, upstream)[:24]
	if base := r.spool.Shared(key); base != "" {
		return base
	}
	if r.Base == nil || s.event == wire.HookPreEdit || s.event == wire.HookPreShell {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(statusTimeout))
	defer cancel()
	base, err := r.Base(ctx, s.at.Root, def)
	if err != nil || len(base) > 64 {
		return ""
	}
	r.spool.Share(key, base)
	return base
}

// roots returns the first commits of a repository, by which the service knows
// it again under another name. They are looked up once in a while: that takes
// git a walk through the history, and a large one is not waited for.
func (r *runner) roots(ctx context.Context, at *place) []string {
	key := "roots-" + spool.Hash(at.CommonDir)[:24]
	if known := r.spool.Shared(key); known != "" {
		return strings.Fields(strings.Trim(known, "-"))
	}
	if r.Roots == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(rootsTimeout))
	defer cancel()
	found, err := r.Roots(ctx, at.Root)
	if err != nil && ctx.Err() == nil {
		return nil // no commit yet
	}
	r.spool.Share(key, "- "+strings.Join(found, " "))
	return found
}

// named says whose event it is, and proves it.
func (r *runner) named(who record.Owner) wire.HookSession {
	return wire.HookSession{
		ExternalID:       excerpt.Text(who.Session, 200),
		Tool:             who.Tool,
		Key:              presence.Key(r.login.MachineID, who.Tool, who.Session),
		ParentExternalID: excerpt.Text(who.Parent, 200),
		ParentKey:        presence.Key(r.login.MachineID, who.Tool, who.Parent),
	}
}

// machineHash and worktreeHash tell machines and working copies apart without
// naming them.
func (r *runner) machineHash() string {
	if r.login.MachineID == "" {
		return ""
	}
	return spool.Hash("svc machine", r.login.MachineID)
}

func (r *runner) worktreeHash(root string) string {
	if r.login.MachineID == "" {
		return ""
	}
	return CopyHash(r.login.MachineID, root)
}

// CopyHash is how services know a working copy of a machine, without its path.
func CopyHash(machine, root string) string {
	m := hmac.New(sha256.New, []byte(machine))
	m.Write([]byte(root))
	return hex.EncodeToString(m.Sum(nil))
}

// dedupeKey names the event, so that the service evaluates it once even if two
// configurations send it. Ids of calls are only as unique as the model makes
// them, so the key holds for some seconds; an event without an id is unlike
// any other, and so is one that says something else.
func (r *runner) dedupeKey(s send, digest string) string {
	c := r.call
	id := c.CallID
	if id == "" {
		id = c.Stamp
	}
	now := time.Now()
	moment := strconv.FormatInt(now.Unix()/10, 10)
	if id == "" {
		moment = strconv.FormatInt(now.UnixNano(), 36)
	}
	session := c.Session
	if s.as != nil {
		session = "for " + s.as.Tool + " " + s.as.Session
	}
	return spool.Hash(c.Host.ID, session, c.Turn, string(s.event), c.Native, id, moment, s.at.Root,
		strings.Join(append(slices.Clip(s.paths), s.under...), "\x00"),
		c.Command, digest)[:40]
}
