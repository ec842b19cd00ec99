package hook

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/post"
	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/wire"
)

// hearing is how long the resident process may take to say what it has heard of.
// One that takes longer is busy or frozen, and the tree is looked at as if there
// were none.
const hearing = 150 * time.Millisecond

// heard asks the resident process what changed in a working copy since there was
// nothing to tell of it. It also returns what to keep once nothing is left to be
// told. The end of a session looks for itself: what no system tells of, such as a
// write through a name of the file elsewhere, is found then.
func (r *runner) heard(ctx context.Context, at *place, calm record.Calm) (now record.Calm, paths []string, known bool) {
	now = record.Calm{Ignored: calm.Ignored}
	address, key := at.login.Edge, at.login.EdgeKey
	if at.login.Local {
		address, key = at.login.Server, at.login.Token
	}
	frame, settled := record.Frame(at.Repo)
	if address == "" || !settled || r.call.Event == wire.HookSessionEnd {
		return now, nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(hearing))
	defer cancel()
	changes, err := post.Changes(ctx, address, key, wire.TreeQuery{Root: at.Root, Since: calm.Token, Skip: calm.Ignored})
	if err != nil {
		return now, nil, false
	}
	now.Token, now.Frame = changes.Token, frame
	return now, changes.Paths, changes.Known && calm.Frame == frame && calm.Token != ""
}

// settingFiles say which files count, and how they are compared.
var settingFiles = []string{".gitignore", ".gitattributes", ".gitmodules"}

// unlikeAmong is unlike for files of which alone it is not known that they are as
// they were told. It is false where more has to be looked at.
func (r *runner) unlikeAmong(ctx context.Context, t target, rec *record.Record, heard []string) ([]string, bool) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(statusTimeout))
	defer cancel()
	head := t.at.Head()
	base := r.base(ctx, send{event: wire.HookPostEdit, at: t.at}, head, t.at.DefaultBranch())
	if base == "" {
		base = head.SHA
	}
	if base == "" || rec.Base != "" && rec.Base != base {
		return nil, false
	}
	var out, others []string
	for _, p := range heard {
		if slices.Contains(settingFiles, path.Base(p)) {
			return nil, false
		}
		told, known := rec.Files[p]
		switch {
		case known && told.Stamp != record.Stamp(t.at.Root, p):
			out = append(out, p)
		case !known:
			others = append(others, p)
		}
	}
	differ, err := gitrepo.Unlike(ctx, t.at.Root, base, others)
	if err != nil {
		return nil, false
	}
	out = slices.DeleteFunc(append(out, differ...), func(p string) bool { return len(p) > 1024 || strings.Contains(p, "\x00") })
	slices.Sort(out)
	return out[:min(len(out), wire.MaxHookPaths)], true
}
