package merging

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/client/ownrules"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// maxFaults is how many lines of a checker are told of one piece of work.
const maxFaults = 5

// runMergeCheck has the checkers look at the working copy at root merged with
// the work that a hook was told of. One process at a time does so. Who comes
// meanwhile leaves word, since the working copy may have changed after the
// other one looked, and that one looks again before it ends.
func runMergeCheck(ctx context.Context, a *app.Run, root string, checks []wire.WantedCheck, result string) error {
	repo, ok := gitrepo.At(root)
	if !ok {
		return fmt.Errorf("%s is no working copy", root)
	}
	word := result + ".again"
	data, err := json.Marshal(checks)
	if err != nil {
		return err
	}
	if err := spool.Replace(word, data); err != nil {
		return err
	}
	mergecheck.Yield()
	var failed error
	for ctx.Err() == nil {
		if _, err := os.Lstat(word); err != nil { // looked for after the lock was given back: no word is left lying
			return failed
		}
		lock, ok := plain.Lock(result + ".lock")
		if !ok {
			return failed
		}
		if checks := takeWord(word); len(checks) > 0 {
			failed = errors.Join(failed, checkMerged(ctx, a, repo, checks, result))
		}
		os.Remove(lock.Name()) // nothing is to be told in its name
		lock.Close()
	}
	return failed
}

// takeWord takes what was left to be checked. It is moved before it is read: a
// newer one may come meanwhile, and stays.
func takeWord(word string) (checks []wire.WantedCheck) {
	taken := word + ".taken"
	if os.Rename(word, taken) != nil {
		return nil
	}
	defer os.Remove(taken)
	data, err := plain.Read(taken, plain.State)
	if err != nil || json.Unmarshal(data, &checks) != nil {
		return nil
	}
	return checks
}

// checkMerged merges, has the checkers look, and leaves what they say in result.
func checkMerged(ctx context.Context, a *app.Run, repo *gitrepo.Repo, checks []wire.WantedCheck, result string) error {
	objects, err := os.MkdirTemp("", "svc-merged-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(objects)
	ctx = gitrepo.WithObjects(ctx, objects)
	mine, err := repo.Snapshot(ctx, objects)
	if err != nil {
		return err
	}
	var said []string
	var failed error
	work := &nearby{roots: copiesHere(ctx, a, repo)}
	if err := work.exchange(ctx, a, repo, mine, checks); err != nil {
		failed = err // what is here is looked at all the same
	}
	whole := true
	for _, c := range checks {
		text, looked, err := checkOne(ctx, a, repo, objects, mine, c, work)
		failed, whole = errors.Join(failed, err), whole && looked && err == nil
		if text != "" {
			said = append(said, text)
		}
	}
	if len(said) == 0 && !whole {
		return failed // what was found before may still be so
	}
	return errors.Join(failed, hook.LeaveMerged(result, strings.Join(said, "\n\n")))
}

// copiesHere are the working copies of this machine, by the hashes under which
// services know them.
func copiesHere(ctx context.Context, a *app.Run, repo *gitrepo.Repo) map[string]string {
	machine := a.Getenv(attend.MachineVariable)
	out := map[string]string{}
	if machine == "" {
		return out
	}
	add := func(root string) { out[hook.CopyHash(machine, root)] = root }
	if copies, err := repo.Copies(ctx); err == nil {
		for _, c := range copies {
			add(c.Root)
		}
	}
	if store, err := login.Locate(a.Getenv); err == nil {
		for _, s := range presence.Open(store.Dir).All() {
			for _, at := range s.At {
				add(at.Root)
			}
		}
	}
	return out
}

// checkOne checks one piece of work and returns what there is to say of it, and
// whether all of it was looked at that can be.
// What is not on this machine is left to the facts.
func checkOne(ctx context.Context, a *app.Run, repo *gitrepo.Repo, objects, mine string, c wire.WantedCheck,
	work *nearby,
) (text string, looked bool, err error) {
	other, err := otherWork(ctx, a, repo, objects, c, work)
	if err != nil || other.commit == "" {
		return "", err == nil, err
	}
	base, err := repo.MergeBase(ctx, mine, other.commit)
	if err != nil || base == "" {
		return "", err == nil, err
	}
	r, err := mergeTypes(ctx, a, repo, objects, base, [2]string{mine, other.commit}, false)
	if err != nil || len(r.New) == 0 {
		return "", err == nil && !r.Cut, err
	}
	return mergedText(c, other.name, r), true, nil
}

// fetchPause is how long what was fetched counts, or was not there.
const fetchPause = time.Minute

// otherWork finds the work of a check: a working copy here, as it is on disk,
// or, where the policy of the repository says so, what another machine handed
// over or a branch that was pushed.
func otherWork(ctx context.Context, a *app.Run, repo *gitrepo.Repo, objects string, c wire.WantedCheck, work *nearby) (named, error) {
	root := work.roots[c.Copy]
	if root == "" || root == repo.Root {
		if p, ok := work.patches[c.Copy]; ok {
			id, err := repo.Applied(ctx, objects, p.Base, p.Diff)
			if err != nil || id != "" {
				return named{"", id}, err
			}
		}
		if c.Branch == "" {
			return named{}, nil
		}
		refs := []string{"refs/heads/" + c.Branch}
		if c.Pull > 0 { // a fork may have a branch of a name that the repository has, too
			refs = append(pullRefs(strconv.Itoa(c.Pull)), refs...)
		}
		id, err := fetch(ctx, a, repo, objects, fetchPause, refs...)
		if err != nil { // what the person fetched is still worth a look
			id, _ = repo.Commit(ctx, "refs/remotes/origin/"+c.Branch)
		}
		return named{c.Branch, id}, nil
	}
	beside, ok := gitrepo.At(root)
	if !ok {
		return named{}, nil
	}
	if beside.CommonDir != repo.CommonDir { // a clone of its own: git is to find its objects, too
		if err := lend(objects, filepath.Join(beside.CommonDir, "objects")); err != nil {
			return named{}, err
		}
	}
	id, err := beside.Snapshot(ctx, objects)
	return named{beside.Head().Branch, id}, err
}

// pullRefs are where GitHub and GitLab keep the head of a pull request.
func pullRefs(number string) []string {
	return []string{"refs/pull/" + number + "/head", "refs/merge-requests/" + number + "/head"}
}

// fetch gets what was pushed under the first of the references that the remote
// has, for as long as this process needs it; "" if there is none.
func fetch(ctx context.Context, a *app.Run, repo *gitrepo.Repo, objects string, every time.Duration, refs ...string) (string, error) {
	cache := a.CacheDir()
	if cache == "" {
		return "", mergecheck.ErrNoRemote
	}
	p := mergecheck.Pushed{Repo: repo, Dir: filepath.Join(cache, "svc", "pushed", ownrules.CloneName(repo)), Every: every}
	id, err := p.Commit(ctx, refs...)
	if err != nil || id == "" {
		return "", err
	}
	return id, lend(objects, p.Objects())
}

// lend makes a folder of objects stand in for another's, too.
func lend(objects, from string) error {
	if strings.Contains(from, "\n") {
		return fmt.Errorf("%q cannot be named to git", from)
	}
	if err := os.MkdirAll(filepath.Join(objects, "info"), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(objects, "info", "alternates"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, from)
	return errors.Join(err, f.Close())
}

// mergedText says what the checkers found, for a model: what they quote is code
// of others.
func mergedText(c wire.WantedCheck, branch string, r *mergecheck.Report) string {
	m := peertext.NewMarker(rand.Reader)
	who := peertext.QuotedText(c.Who, 100)
	if branch != "" {
		who += ", branch " + peertext.Quoted(branch)
	}
	lines := []string{m.Say("svc merge check: git merges your work with that of "+who+", but the result no longer passes its checker. "+
		"Neither side has this alone:", 600)}
	for i, f := range r.New {
		if i == maxFaults {
			lines = append(lines, fmt.Sprintf("- and %d more", len(r.New)-maxFaults))
			break
		}
		text := peertext.QuotedText(f.Text, 300)
		lines = append(lines, m.Say(fmt.Sprintf("- %s line %d: %s (%s)", peertext.Quoted(f.Path), f.Line, text, f.Checker), 600))
	}
	return strings.Join(append(lines, "Adapt your work to theirs, or agree with them who does, before both are merged."), "\n")
}
