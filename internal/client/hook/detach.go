package hook

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Some commands and edits would take a working copy from svc's sight: they make
// it another repository, log svc out, or change the files in which svc and the
// hosts keep what runs it. While others have claims there, the service refuses
// them; which they are, only the client can read.

// A detached is such a command or edit, with the folder it is about; "" is for
// all working copies of the user.
type detached struct {
	what string
	kind shellscan.DetachKind
	dir  string
}

// maxScript is how much of a script that a command runs is read.
const maxScript = 256 << 10

// detaching returns what a command would take from svc's sight, also by the
// scripts that it runs.
func (r *runner) detaching(dir string, result shellscan.Result) (out []detached) {
	all := result.Detaches
	var writes []shellscan.Write
	writes = append(writes, result.Writes...)
	for _, name := range result.Scripts {
		if text, err := plain.Read(absolute(dir, name), maxScript); err == nil && !strings.Contains(string(text), "\x00") {
			found := r.scanText(interpreted(name, string(text)), dir)
			all, writes = append(all, found.Detaches...), append(writes, found.Writes...)
		}
	}
	for _, d := range all {
		at := ""
		if !d.User {
			at = realPath(absolute(dir, d.Dir))
		}
		out = append(out, detached{d.What, d.Kind, at})
	}
	for _, w := range writes {
		paths := []string{absolute(dir, w.Path)}
		if w.Base != "" {
			paths = append(paths, filepath.Join(paths[0], w.Base))
		}
		if w.Glob {
			paths = glob(paths[0]).Items
		}
		for i := range paths {
			paths[i] = besideLinks(paths[i])
		}
		takesAway := w.Base == "" && w.From == "" && (w.Kind == shellscan.File || w.Kind == shellscan.Tree)
		out = append(out, r.protected(paths, takesAway)...)
	}
	return out
}

// interpreted is a script as a command that a shell would be given.
func interpreted(name, text string) string {
	first, _, _ := strings.Cut(text, "\n")
	for _, lang := range []struct{ ext, word, run string }{
		{".py", "python", "python3"}, {".js", "node", "node"}, {".mjs", "node", "node"}, {".cjs", "node", "node"}, {".rb", "ruby", "ruby"},
		{".pl", "perl", "perl"}, {".php", "php", "php"},
	} {
		if path.Ext(filepath.ToSlash(name)) == lang.ext || strings.HasPrefix(first, "#!") && strings.Contains(first, lang.word) {
			return lang.run + " <<'SVC_END_OF_SCRIPT'\n" + text + "\nSVC_END_OF_SCRIPT\n"
		}
	}
	return text
}

// besideLinks follows the links in the folder of a path, and not one in its
// place: that would be replaced.
func besideLinks(p string) string { return filepath.Join(realPath(filepath.Dir(p)), filepath.Base(p)) }

// protected returns which of some files that are about to be written are svc's
// own, a host's settings, or what makes a folder a repository. removes tells that
// folders may go with all that is in them.
func (r *runner) protected(paths []string, removes bool) (out []detached) {
	for _, p := range paths {
		for _, own := range r.ownFiles() {
			if within(own, p) || removes && (within(p, own) || filepath.Base(p) == program && realPath(p) == own) {
				out = append(out, detached{"writing svc's own files", shellscan.Blinds, ""})
				break
			}
		}
		if !removes && !strings.Contains(p, string(filepath.Separator)+".") {
			continue // none of the names below is so plain
		}
		if d, ok := r.gitFile(p); ok {
			out = append(out, d)
		}
		out = append(out, r.settings(p, removes)...)
	}
	return out
}

// within reports whether a path is a folder or something in it.
func within(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// ownFiles are the folders in which svc keeps what it needs.
func (r *runner) ownFiles() []string {
	if r.own != nil {
		return r.own
	}
	var out []string
	if config, err := r.ConfigDir(); err == nil && config != "" {
		out = append(out, r.real(config))
	}
	if place, err := local.Locate(r.Getenv); err == nil && place.Dir != "" {
		out = append(out, r.real(place.Dir))
	}
	if self, err := os.Executable(); err == nil {
		out = append(out, self, r.real(self))
	}
	r.own = append(out, r.real(spool.Folder(r.TempDir)))
	return r.own
}

// program is what svc is called, by a link as well.
const program = "svc"

// harmless are the parts of a .git folder that do not say which repository it is.
var harmless = []string{"hooks", "info", "logs", "lfs", "svc"}

// gitFile reports whether a file makes a folder a repository, or says which.
func (r *runner) gitFile(p string) (detached, bool) {
	dir, name := p, ""
	for !gitrepo.Keeps(filepath.Base(dir)) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return detached{}, false
		}
		name, dir = path.Join(filepath.Base(dir), name), parent
	}
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains(harmless, first) || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, "_MSG") || first == "COMMIT_EDITMSG" {
		return detached{}, false
	}
	return detached{"writing " + path.Join(filepath.Base(dir), first), shellscan.Renames, filepath.Dir(dir)}, true
}

// settings reports whether a file is one in which a host keeps what runs svc.
func (r *runner) settings(p string, removes bool) (out []detached) {
	look := func(base string, patterns []string, mine bool, about string) {
		for _, pattern := range patterns {
			name := filepath.Join(base, filepath.FromSlash(pattern))
			same, err := filepath.Match(name, p)
			if same && err == nil && (mine || host.RunsUs(p)) || removes && p != name && within(p, name) && host.RunsUs(name) {
				out = append(out, detached{"writing " + pattern, shellscan.Blinds, about})
			}
		}
	}
	home := realPath(login.Home(r.Getenv))
	repo, inRepo := r.find(p)
	for _, h := range host.All() {
		mine := h == r.call.Host || h == r.call.Declared
		look(home, h.UserConfigs, mine, "")
		if inRepo {
			look(repo.Root, h.Configs, mine, repo.Root)
		}
	}
	return out
}

// withDetaches adds the repositories that commands or edits would take from
// svc's sight.
func (r *runner) withDetaches(out []target, all []detached) []target {
	add := func(repo *gitrepo.Repo, d detached) {
		if r.detach == nil {
			r.detach = map[string][]wire.HookGit{}
		}
		g := wire.HookGit{Verb: excerpt.Text(d.what, 40), Effect: wire.GitEffect(d.kind)}
		same := func(o wire.HookGit) bool { return o.Verb == g.Verb && o.Effect == g.Effect }
		if list := r.detach[repo.Root]; !slices.ContainsFunc(list, same) && len(list) < wire.MaxHookGit {
			r.detach[repo.Root] = append(list, g)
		}
		out = r.withRepo(out, repo)
	}
	for _, d := range all {
		if d.dir != "" {
			repo, ok := r.find(d.dir)
			inside := strings.HasPrefix(d.what, "git init") || strings.HasPrefix(d.what, "git clone")
			if ok && !(inside && repo.Root == d.dir) {
				add(repo, d)
			}
			continue
		}
		if repo, ok := r.findRepo(r.call.Cwd); ok {
			add(repo, d)
		}
		var seen []string
		for _, c := range r.known().All() {
			name := c.Server + strings.Join(c.Remotes, " ")
			if slices.Contains(seen, name) || len(seen) == maxElsewhere {
				continue
			}
			if repo, ok := r.at(c.Root); ok {
				seen = append(seen, name)
				add(repo, d)
			}
		}
	}
	return out
}

// maxElsewhere is how many other repositories are asked about what concerns all.
const maxElsewhere = 6
