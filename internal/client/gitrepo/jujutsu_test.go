package gitrepo_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/gittest"
)

var workspaces = []string{"plain", "added", "both"}

func TestAWorkspaceOfJujutsu(t *testing.T) {
	dir := gittest.Jujutsu(t)
	for _, name := range workspaces {
		root := filepath.Join(dir, name)
		repo, ok := gitrepo.Find(filepath.Join(root, "new", "file.txt"))
		if !ok || repo.Root != root {
			t.Fatalf("%s: found %+v", name, repo)
		}
		if r := repo.Remotes(); len(r) != 1 || r[0].URL != "https://github.com/acme/api.git" {
			t.Errorf("%s: remotes %v", name, r)
		}
		if def := repo.DefaultBranch(); def != "main" {
			t.Errorf("%s: default branch %q", name, def)
		}
		_, _, main := gittest.Changes(t, dir, "fresh", name)
		if base, err := gitrepo.Base(t.Context(), root, ""); base != main || err != nil {
			t.Errorf("%s: base %s, %v, want %s", name, base, err, main)
		}
		if id, err := repo.Commit(t.Context(), "HEAD"); id != main || err != nil {
			t.Errorf("%s: HEAD is %s, %v", name, id, err)
		}
	}
	plain, _ := gitrepo.At(filepath.Join(dir, "plain"))
	added, _ := gitrepo.At(filepath.Join(dir, "added"))
	if plain.CommonDir != added.CommonDir || plain.GitDir == added.GitDir {
		t.Errorf("two workspaces of one repository: %+v and %+v", plain, added)
	}
}

// The branch of a stack of changes is what people call it, and stays the same
// while changes come on top.
func TestNamesOfAStack(t *testing.T) {
	dir := gittest.Jujutsu(t)
	for _, name := range workspaces {
		repo, _ := gitrepo.At(filepath.Join(dir, name))
		first, _, main := gittest.Changes(t, dir, "fresh", name)
		second, _, commit := gittest.Changes(t, dir, "named", name)
		other, _, _ := gittest.Changes(t, dir, "elsewhere", name)
		for _, step := range []struct {
			name string
			want gitrepo.Head
			in   []string
			out  []string
		}{
			{"fresh", gitrepo.Head{Branch: first, SHA: main}, []string{first}, []string{second, "main"}},
			{"committed", gitrepo.Head{Branch: first, SHA: commit}, []string{first, second}, []string{"feat-" + name}},
			{"named", gitrepo.Head{Branch: "feat-" + name, SHA: commit}, []string{first, second, "feat-" + name}, []string{other}},
			{"elsewhere", gitrepo.Head{Branch: other, SHA: main}, []string{other}, []string{first, "feat-" + name}},
		} {
			gittest.Operate(t, dir, step.name)
			if got := repo.Head(); got != step.want || !repo.Jujutsu() {
				t.Errorf("%s, %s: %+v, want %+v", name, step.name, got, step.want)
			}
			for _, in := range step.in {
				if !slices.Contains(repo.Stack(), in) {
					t.Errorf("%s, %s: %s is not worked on", name, step.name, in)
				}
			}
			for _, out := range step.out {
				if slices.Contains(repo.Stack(), out) {
					t.Errorf("%s, %s: %s is worked on", name, step.name, out)
				}
			}
			if base, err := gitrepo.Base(t.Context(), repo.Root, ""); base != main || err != nil {
				t.Errorf("%s, %s: base %s, %v, want %s", name, step.name, base, err, main)
			}
		}
	}
}

func TestWhatDiffersInAWorkspace(t *testing.T) {
	dir := gittest.Jujutsu(t)
	for _, step := range []string{"fresh", "committed"} {
		gittest.Operate(t, dir, step)
		for _, name := range workspaces {
			root := filepath.Join(dir, name)
			gittest.Write(t, root, "a.txt", "one\ntwo\nTHREE\nfour\n")
			gittest.Write(t, root, "new.txt", "new\n")
			gittest.Write(t, root, "a.log", "ignored\n")
			repo, _ := gitrepo.At(root)
			_, _, main := gittest.Changes(t, dir, "fresh", name)
			deltas, err := gitrepo.WorkingTree(t.Context(), root, main, nil)
			if err != nil || len(deltas) != 2 || deltas[0].Path != "a.txt" || deltas[0].Status != diff.Modified ||
				len(deltas[0].Hunks) != 1 || deltas[1].Path != "new.txt" || deltas[1].Status != diff.Added {
				t.Errorf("%s, %s: %+v, %v", name, step, deltas, err)
			}
			if changed, err := repo.Status(t.Context()); err != nil || !slices.Equal(changed, []string{"a.txt", "new.txt"}) {
				t.Errorf("%s, %s: status %v, %v", name, step, changed, err)
			}
			if tracked, err := repo.Indexed(); err != nil || !slices.Equal(tracked, []string{".gitignore", "a.txt"}) {
				t.Errorf("%s, %s: tracked %v, %v", name, step, tracked, err)
			}
			if err := os.Remove(filepath.Join(root, "new.txt")); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Whoever goes elsewhere with git in a colocated workspace is where git says.
func TestGitInAColocatedWorkspace(t *testing.T) {
	dir := gittest.Jujutsu(t)
	root := filepath.Join(dir, "both")
	gittest.Run(t, root, "checkout", "-q", "-B", "by-hand", "origin/main")
	repo, _ := gitrepo.At(root)
	if got := repo.Head().Branch; got != "by-hand" || repo.Jujutsu() {
		t.Errorf("on %q", got)
	}
}

// Damaged records are no workspace's, and end no program.
func TestDamagedRecordsOfJujutsu(t *testing.T) {
	dir := gittest.Jujutsu(t)
	root := filepath.Join(dir, "plain")
	for _, bad := range []string{"", "\x12", "\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "\x12\x40short", "\xff\xff"} {
		gittest.Write(t, root, ".jj/working_copy/checkout", bad)
		repo, ok := gitrepo.At(root)
		if !ok || repo.Jujutsu() || repo.Head() != (gitrepo.Head{}) {
			t.Errorf("%q: %+v at %+v", bad, repo, repo.Head())
		}
	}
	gittest.Write(t, root, ".jj/repo/store/git_target", "nowhere")
	if repo, ok := gitrepo.At(root); ok {
		t.Errorf("found %+v", repo)
	}
}
