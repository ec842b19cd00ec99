package merging

import (
	"context"
	"os"
	"slices"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// nearby is the work of others that this machine can get at.
type nearby struct {
	roots   map[string]string     // working copies here, by their hashes
	patches map[string]wire.Patch // what other machines handed over, by the hash of the working copy
}

// exchange hands over what the working copy has of the files that others work
// near, and gets what they have, where the service said that the team does so.
// Nothing goes out for working copies that are on this machine anyway.
func (n *nearby) exchange(ctx context.Context, a *app.Run, repo *gitrepo.Repo, mine string, checks []wire.WantedCheck) error {
	in := wire.ExchangePatches{Copy: hook.CopyHash(a.Getenv(attend.MachineVariable), repo.Root), Of: []string{}}
	var near []string
	for _, c := range checks {
		if c.Patch == nil || n.roots[c.Copy] != "" {
			continue
		}
		in.Repo, in.Of = c.Patch.Repo, append(in.Of, c.Copy)
		near = append(near, c.Patch.Near...)
	}
	if len(in.Of) == 0 {
		return nil
	}
	client, login, err := a.Client()
	if err != nil || login.DataMode == coord.DataMetadataOnly {
		return err
	}
	if in.Base, in.Diff, err = ownPatch(ctx, repo, mine, near); err != nil {
		return err
	}
	out, err := client.ExchangePatches(ctx, in)
	n.patches = map[string]wire.Patch{}
	for _, p := range out.Patches {
		n.patches[p.Copy] = p
	}
	return err
}

// Patch is what others would get of some files of a working copy.
func Patch(ctx context.Context, repo *gitrepo.Repo, near []string) (base, diff string, err error) {
	objects, err := os.MkdirTemp("", "svc-patch-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(objects)
	ctx = gitrepo.WithObjects(ctx, objects)
	mine, err := repo.Snapshot(ctx, objects)
	if err != nil {
		return "", "", err
	}
	return ownPatch(ctx, repo, mine, near)
}

// ownPatch is what others would get of some files: all that differs from where
// the work started, committed or not.
func ownPatch(ctx context.Context, repo *gitrepo.Repo, mine string, near []string) (base, diff string, err error) {
	slices.Sort(near)
	near = slices.Compact(near)
	if base, err = gitrepo.Base(ctx, repo.Root, ""); err != nil {
		return "", "", err
	}
	diff, err = repo.Difference(ctx, base, mine, near[:min(len(near), wire.MaxPatchFiles)], wire.MaxPatch)
	return base, diff, err
}
