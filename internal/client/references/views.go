package references

import (
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/bodies"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Rails may write a reply in a view of its own, which an action names or which
// is called like it.

var (
	viewLine   = lazy.Regexp(`^json\.(\w+!?|\()\s*\(?(.*)$`)
	rendered   = lazy.Regexp(`render\s+(?::(\w+)|['"]([\w/]+)['"])\s*$|render\s+(?::(\w+)|['"]([\w/]+)['"])\s*,`)
	partial    = lazy.Regexp(`partial:\s*['"]([\w/]+)['"]|^['"]([\w/]+)['"]`)
	symbolName = lazy.Regexp(`:(\w+)\b`)
)

const maxViews = 6 // that one includes another

// view works out what an action's view holds; nil when it has none.
func (r *Repo) view(h bodies.Handler) *bodies.Shape {
	dir, file := path.Split(h.File.Path)
	at := strings.Index(dir, "app/controllers/")
	if at < 0 || h.Def < 0 || h.Def >= len(h.File.Defs) {
		return nil
	}
	root := dir[:at] + "app/views/"
	folder := root + dir[at+len("app/controllers/"):] + strings.TrimSuffix(file, "_controller.rb")
	d := &h.File.Defs[h.Def]
	name := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
	for line := range strings.Lines(string(h.File.Source[h.From:h.To])) {
		if m := rendered.Get().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			name = m[1] + m[2] + m[3] + m[4]
			break
		}
	}
	v := views{r: r, root: root, folder: folder}
	if len(r.files.Named("jbuilder.rb")) > 0 {
		for _, f := range r.files.Named("jbuilder.rb") {
			v.camel = v.camel || strings.Contains(string(r.files.Text(f)), "camelize: :lower")
		}
	}
	return v.read(v.file(name, ""), 0)
}

type views struct {
	r            *Repo
	root, folder string
	camel        bool
}

// file finds a view by its name in the controller's folder or from the root.
func (v *views) file(name, lead string) string {
	dir := v.folder
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, name = v.root+name[:i], name[i+1:]
	}
	return v.r.files.First(path.Join(dir, lead+name+".json.jbuilder"), path.Join(dir, lead+name+".jbuilder"))
}

func (v *views) read(file string, depth int) *bodies.Shape {
	if file == "" || depth > maxViews {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(v.r.files.Text(file))) {
		lines = append(lines, strings.TrimSpace(line))
	}
	s, _ := v.block(lines, depth)
	return s
}

// block reads lines up to the end of a block, and tells how many.
func (v *views) block(lines []string, depth int) (*bodies.Shape, int) {
	out := &bodies.Shape{}
	nested := 0
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "end" {
			if nested == 0 {
				return out, i
			}
			nested--
			continue
		}
		m := viewLine.Get().FindStringSubmatch(line)
		opens := strings.HasSuffix(line, " do") || strings.Contains(line, " do |")
		if m == nil {
			if opens || strings.HasPrefix(line, "if ") || strings.HasPrefix(line, "unless ") {
				nested++
			}
			continue
		}
		var inner *bodies.Shape
		if opens {
			var n int
			inner, n = v.block(lines[i+1:], depth)
			i += n + 1
		}
		v.line(out, m[1], m[2], inner, opens, depth)
	}
	return out, len(lines)
}

// line adds what one line of a view writes.
func (v *views) line(out *bodies.Shape, word, rest string, inner *bodies.Shape, opens bool, depth int) {
	var included *bodies.Shape
	if p := partial.Get().FindStringSubmatch(rest); p != nil {
		included = v.read(v.file(p[1]+p[2], "_"), depth+1)
	} else if i := strings.Index(rest, "partial:"); i >= 0 {
		if p := partial.Get().FindStringSubmatch(rest[i:]); p != nil {
			included = v.read(v.file(p[1], "_"), depth+1)
		}
	}
	switch word {
	case "(", "extract!":
		for _, m := range symbolName.Get().FindAllStringSubmatch(rest, -1) {
			out.Fields = append(out.Fields, bodies.Field{Name: v.key(m[1])})
		}
	case "partial!", "merge!":
		if included != nil {
			out.Fields = append(out.Fields, included.Fields...)
		}
	case "array!":
		if included == nil {
			included = inner
		}
		out.Elem = included
	case "cache!", "cache_if!", "set!", "ignore_nil!", "key_format!", "child!":
		if inner != nil {
			out.Fields = append(out.Fields, inner.Fields...)
		}
	default:
		f := bodies.Field{Name: v.key(word), Shape: included}
		if opens {
			f.Shape = inner
			if strings.HasPrefix(rest, "@") || rest != "" && !strings.HasPrefix(rest, "do") {
				f.Shape = &bodies.Shape{Elem: inner}
			}
		}
		out.Fields = append(out.Fields, f)
	}
}

func (v *views) key(s string) string {
	if !v.camel {
		return s
	}
	c := outline.Camel(s)
	return strings.ToLower(c[:1]) + c[1:]
}
