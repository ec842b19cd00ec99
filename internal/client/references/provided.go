package references

import (
	"bytes"
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Some frameworks of JavaScript give a file names that it does not import: by
// the folder that they are defined in, or by the name of a file.

// emberService is one that is injected by its name.
var emberService = lazy.Regexp(`@service(?:\(\s*(?:["']([\w/-]+)["'])?\s*\))?\s+(?:declare\s+|private\s+)*(\w+)`)

// nuxtFolders are those whose exports are known everywhere.
var nuxtFolders = []string{"composables", "utils", "src/composables", "src/utils", "app/composables", "app/utils", "shared/utils"}

// provided are the files of the names that a framework gives a file.
func (r *Repo) provided(o *outline.File) map[string]string {
	if o.Lang != "typescript" && o.Lang != "javascript" {
		return nil
	}
	out := map[string]string{}
	if bytes.Contains(o.Source, []byte("@service")) {
		for _, m := range emberService.Get().FindAllSubmatch(o.Source, -1) {
			name := strings.ReplaceAll(outline.Snake(string(m[2])), "_", "-")
			if len(m[1]) > 0 {
				name = string(m[1])
			}
			stem := path.Join(locate.SrcRoot(o.Path), "services", name)
			if file := r.files.First(stem+".js", stem+".ts"); file != "" {
				out[string(m[2])] = file
			}
		}
	}
	for name, file := range r.nuxtNames() {
		if bytes.Contains(o.Source, []byte(name)) && file != o.Path {
			out[name] = file
		}
	}
	return out
}

// nuxtNames are what the files of a Nuxt program export for all others.
func (r *Repo) nuxtNames() map[string]string {
	if r.modules.nuxt != nil {
		return r.modules.nuxt
	}
	r.modules.nuxt = map[string]string{}
	for _, config := range append(r.files.Named("nuxt.config.ts"), r.files.Named("nuxt.config.js")...) {
		for _, folder := range nuxtFolders {
			dir := path.Join(path.Dir(config), folder)
			for _, base := range r.files.List(dir) {
				file := path.Join(dir, base)
				if len(r.modules.nuxt) > maxHandFiles || !r.mayRequest(file) {
					continue
				}
				for name := range r.files.Exports(file) {
					r.modules.nuxt[name] = file
				}
			}
		}
	}
	return r.modules.nuxt
}
