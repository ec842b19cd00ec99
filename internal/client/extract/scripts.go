package extract

import (
	"bytes"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// script is one in a file of markup: what stands between the tags of a
// component of Vue or Svelte, or above the markup of Astro.
var script = lazy.Regexp(`(?is)\A---\r?\n(.*?)\n---|<script\b[^>]*>(.*?)</script\s*>`)

// scripts blanks what is no script in a file of markup: the rest stays where it
// is, on the same lines.
func scripts(source []byte) []byte {
	out := bytes.Repeat([]byte(" "), len(source))
	for i, c := range source {
		if c == '\n' {
			out[i] = c
		}
	}
	for _, m := range script.Get().FindAllSubmatchIndex(source, -1) {
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				copy(out[m[g]:m[g+1]], source[m[g]:m[g+1]])
			}
		}
	}
	return out
}
