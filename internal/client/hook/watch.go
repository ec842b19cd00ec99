package hook

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/extinct"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// The service tells which definitions others took away that nothing else goes
// by. Who edits looks whether that is newly mentioned here, and tells it with
// the facts. A name that is new to the list is looked for in all that was
// changed before.

func watchName(root string) string { return "watch-" + spool.Hash(root)[:24] }
func freshName(root string) string { return "fresh-" + spool.Hash(root)[:24] }

// keepWatch remembers the names that an answer tells, in place of those before.
func (r *runner) keepWatch(s send, names []coord.WatchedName) {
	if s.event == wire.HookPreEdit || s.event == wire.HookPreShell || s.event == wire.HookSessionEnd {
		return // their answers tell none
	}
	had := r.spool.Shared(watchName(s.at.Root))
	var b strings.Builder
	var fresh []string
	for _, w := range names {
		line := strings.Join(append([]string{w.Family, w.Name, string(w.Form)}, w.Files...), "\t")
		if strings.ContainsAny(line, "\n\r") || w.Name == "" {
			continue
		}
		b.WriteString(line + "\n")
		if !strings.Contains("\n"+had, "\n"+w.Family+"\t"+w.Name+"\t") {
			fresh = append(fresh, w.Name)
		}
	}
	switch now := b.String(); {
	case now == had:
		return
	case now == "":
		r.spool.Unshare(watchName(s.at.Root))
	default:
		r.spool.Share(watchName(s.at.Root), now)
	}
	if len(fresh) > 0 {
		r.spool.Share(freshName(s.at.Root), strings.TrimSpace(r.spool.Shared(freshName(s.at.Root))+"\n"+strings.Join(fresh, "\n")))
		r.addUnsent(send{event: s.event, at: s.at, as: s.as})
	}
}

// watched returns the names to look for in a repository.
func (r *runner) watched(root string) (out []coord.WatchedName) {
	for line := range strings.Lines(r.spool.Shared(watchName(root))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) >= 3 {
			out = append(out, coord.WatchedName{Family: f[0], Name: f[1], Form: coord.NameForm(f[2]), Files: f[3:]})
		}
	}
	return out
}

// mention adds to the facts which watched names the files newly mention.
func (r *runner) mention(ctx context.Context, at *place, a *coord.Analysis) {
	names := r.watched(at.Root)
	if a == nil || len(names) == 0 {
		return
	}
	store := at.Store()
	defer store.Close()
	extinct.Mentions(extinct.OnDisk(ctx, at.Root), a.Files, names, func(f *coord.FileFacts) []byte {
		if f.BaseBlob == nil {
			return nil
		}
		_, data, err := store.Read(*f.BaseBlob, maxMentioned)
		if err != nil {
			r.log(err)
		}
		return data
	})
}

// maxMentioned is the size of a file above which it is not looked into.
const maxMentioned = 1 << 20

// mentionsFresh reports whether a changed file mentions a name that was not
// looked for when the file was told.
func (r *runner) mentionsFresh(root, path string, fresh []string) bool {
	if len(fresh) == 0 {
		return false
	}
	name := filepath.Join(root, filepath.FromSlash(path))
	data, err := plain.ReadHere(name, maxMentioned)
	return err == nil && slices.ContainsFunc(fresh, func(n string) bool { return bytes.Contains(data, []byte(n)) })
}

// fresh returns the names that were not looked for yet in what was told.
func (r *runner) fresh(root string) []string { return strings.Fields(r.spool.Shared(freshName(root))) }
