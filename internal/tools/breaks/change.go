package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/svc-hq/svc/internal/client/rules"
)

// A change is a set of files with what they hold afterwards.
type change struct {
	what  string
	files map[string]string
}

// sources are the files of a backend that its program is made of.
func sources(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, file)
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		l := rules.LanguageOf(rel)
		if l.Grammar == "" && l.Name != "go" && !view(rel) || rules.TestPath(rel) || rules.GeneratedPath(rel) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err == nil {
			out[rel] = string(text)
		}
		return err
	})
	return out, err
}

// view tells the files that say what a reply has, in words of Ruby.
func view(file string) bool {
	return strings.HasSuffix(file, ".jbuilder") || strings.HasSuffix(file, ".rsb")
}

// replaced replaces a pattern in all files.
func replaced(all map[string]string, what, pattern, by string) (change, bool) {
	re := regexp.MustCompile(pattern)
	c := change{what: what, files: map[string]string{}}
	for file, text := range all {
		if now := re.ReplaceAllString(text, by); now != text {
			c.files[file] = now
		}
	}
	return c, len(c.files) > 0
}

// snake writes aB as a_b.
func snake(s string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(s, "${1}_$2"))
}

// most is how many files a change may reach: of a word that is in more, the
// half is something else.
const most = 30

// breaking draws a change that breaks users of the API.
func (p *play) breaking(all map[string]string) (change, bool) {
	for range 30 {
		if p.field == "" && p.chance.IntN(3) == 0 {
			if c, ok := p.route(all); ok && len(c.files) <= most {
				return c, true
			}
			continue
		}
		f := p.fields[p.chance.IntN(len(p.fields))]
		if p.field != "" {
			f = p.field
		}
		if len(f) < 5 { // bio and id are parts of too much else
			continue
		}
		upper := strings.ToUpper(f[:1]) + f[1:]
		pattern := `\b(` + f + `|` + snake(f) + `)\b`
		if c, ok := replaced(all, "field "+f, pattern, "${1}New"); ok && len(c.files) <= most {
			both := c
			if d, more := replaced(merged(all, c.files), "", `\b(`+upper+`|get`+upper+`|is`+upper+`)\b`, "${1}New"); more {
				for file, text := range d.files {
					both.files[file] = text
				}
			}
			return both, true
		}
	}
	return change{}, false
}

func merged(all, over map[string]string) map[string]string {
	out := map[string]string{}
	for f, t := range all {
		out[f] = t
	}
	for f, t := range over {
		out[f] = t
	}
	return out
}

var pathWord = regexp.MustCompile(`(["'/:])(favorite|follow|comments|login|feed|profiles|tags|articles)(["'/?:{ ]|$)`)

// routeLine tells lines that say something of a route.
var routeLine = regexp.MustCompile(`(?i)route|mapping|prefix|\.(get|post|put|delete|del)\(|@(get|post|put|delete|path)|` +
	`http(get|post|put|delete)|\b(get|post|delete|put)\b\s*["'({]|resources?\s|p"`)

// remark tells lines that are no route though they may look like one; label
// what stands before a word that only names a group in a document.
var (
	remark = regexp.MustCompile(`^\s*(\*|//|#[^[]|/\*)|\bimport\b|\brequire\b|@ApiOperation|@Api|RequestMethod\.`)
	label  = regexp.MustCompile(`tags=\[$`)
)

// route draws a part of a path and writes it otherwise where routes are.
func (p *play) route(all map[string]string) (change, bool) {
	type place struct {
		file string
		at   []int
	}
	var places []place
	for file, text := range all {
		at := 0
		for line := range strings.Lines(text) {
			isRoute := routeLine.MatchString(line)
			for _, m := range p.pathWord.FindAllStringSubmatchIndex(line, -1) {
				if isRoute && !remark.MatchString(line) && !label.MatchString(line[:m[0]]) {
					places = append(places, place{file, []int{at + m[4], at + m[5]}})
				}
			}
			at += len(line)
		}
	}
	if len(places) == 0 {
		return change{}, false
	}
	sort.Slice(places, func(i, j int) bool {
		return places[i].file < places[j].file || places[i].file == places[j].file && places[i].at[0] < places[j].at[0]
	})
	drawn := places[p.chance.IntN(len(places))]
	word := all[drawn.file][drawn.at[0]:drawn.at[1]]
	c := change{fmt.Sprintf("route part %s in %s", word, drawn.file), map[string]string{}}
	for _, at := range slices.Backward(places) { // from the end, so that the others stay where they are
		text := all[at.file]
		if text[at.at[0]:at.at[1]] != word || !p.every && (at.file != drawn.file || at.at[0] != drawn.at[0]) {
			continue
		}
		if now, ok := c.files[at.file]; ok {
			text = now
		}
		c.files[at.file] = text[:at.at[1]] + "x" + text[at.at[1]:]
	}
	return c, true
}

var fieldLine = regexp.MustCompile(`(?m)^([ \t]*)((?:private |public |pub )?(?:String |string )?["']?)` +
	`(title|username|slug|description)(["']?(?:\s*(?::|=>)\s*[^,{}()\n]+,|;|: [sS]tring;?))$`)

// added draws a field of an object or a class and adds another beside it.
func (p *play) added(file, text string) (change, bool) {
	found := fieldLine.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return change{}, false
	}
	m := found[p.chance.IntN(len(found))]
	line := text[m[2]:m[6]] + "extraInfo" + text[m[8]:m[9]]
	return change{"one more field in " + file, map[string]string{file: text[:m[1]] + "\n" + line + text[m[1]:]}}, true
}

var definition = regexp.MustCompile(`\b(?:function|def|fun|func|fn|const|let|val|var|class)\s+([a-z]\w{6,})\b`)

// actions are names that frameworks find methods by.
var actions = map[string]bool{"destroy": true, "retrieve": true, "partial_update": true, "perform_create": true}

// compatible draws a change that no user of the API notices.
func (p *play) compatible(all map[string]string) (change, bool) {
	files := make([]string, 0, len(all))
	for f := range all {
		files = append(files, f)
	}
	slices.Sort(files)
	for range 60 {
		file := files[p.chance.IntN(len(files))]
		if p.chance.IntN(3) == 0 && !view(file) {
			remark := "// a remark\n"
			if strings.HasSuffix(file, ".py") || strings.HasSuffix(file, ".rb") {
				remark = "# a remark\n"
			}
			return change{"remark in " + file, map[string]string{file: strings.TrimRight(all[file], "\n") + "\n" + remark}}, true
		}
		if c, ok := p.added(file, all[file]); ok && p.chance.IntN(2) == 0 {
			return c, true
		}
		found := definition.FindAllStringSubmatch(all[file], -1)
		if len(found) == 0 {
			continue
		}
		name := found[p.chance.IntN(len(found))][1]
		if actions[name] || p.words[strings.ToLower(name)] || p.words[strings.ToLower(strings.ReplaceAll(name, "_", ""))] {
			continue
		}
		if text := all[file]; regexp.MustCompile(`["'` + "`" + `:@#]` + name + `\b`).MatchString(text) {
			continue // it may be a name that others read
		}
		if c, ok := replaced(all, "name "+name, `\b`+name+`\b`, name+"Renamed"); ok {
			return c, true
		}
	}
	return change{}, false
}
