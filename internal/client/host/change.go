package host

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/patch"
)

// A Change is what an edit tool is about to do to one file.
type Change struct {
	Path   string // as the host wrote it
	Whole  bool   // New is the whole content
	Delete bool
	Old    string // what is replaced, once or All over
	New    string
	All    bool
	Line   int          // insert New after this line, where Old is empty; -1 for no insertion
	Hunks  []patch.Hunk // of a patch
}

// Keys of what edits hold, over all hosts.
var (
	oldKeys   = []string{"old_string", "oldString", "old_str", "oldStr", "TargetContent", "old_text", "oldText", "search"}
	newKeys   = []string{"new_string", "newString", "new_str", "newStr", "ReplacementContent", "new_text", "newText", "replace"}
	wholeKeys = []string{"content", "file_text", "contents", "fileText", "CodeContent", "file_content", "text"}
	allKeys   = []string{"replace_all", "replaceAll", "AllowMultiple", "allow_multiple"}
	lineKeys  = []string{"insert_line", "insertLine"}
)

// changesOf reads what an edit tool's arguments say about contents. What it
// cannot read it leaves out.
func changesOf(tool string, input any) []Change {
	switch in := input.(type) {
	case string:
		return patchChanges(in)
	case map[string]any:
		path := payload(in).text(pathKeys)
		if tool == Delete && path != "" {
			return []Change{{Path: path, Delete: true, Line: -1}}
		}
		var out []Change
		for _, k := range listKeys {
			list, _ := in[k].([]any)
			for _, e := range list {
				if m, ok := e.(map[string]any); ok {
					if c, ok := oneChange(payload(m), path); ok {
						out = append(out, c)
					}
				}
			}
		}
		if len(out) > 0 {
			return out
		}
		if c, ok := oneChange(payload(in), path); ok {
			return []Change{c}
		}
		for _, k := range patchKeys {
			if s, ok := in[k].(string); ok {
				if out := patchChanges(s); len(out) > 0 {
					return out
				}
			}
		}
	}
	return nil
}

// oneChange reads a replacement, an insertion or a whole content.
func oneChange(p payload, path string) (Change, bool) {
	c := Change{Path: path, Line: -1}
	if own := p.text(pathKeys); own != "" {
		c.Path = own
	}
	if c.Path == "" {
		return c, false
	}
	old, hasOld := textAt(p, oldKeys)
	fresh, hasNew := textAt(p, newKeys)
	c.Old, c.New = old, fresh
	c.All = truthy(p.first(allKeys))
	if n, ok := p.first(lineKeys).(float64); ok && !hasOld {
		if text, ok := textAt(p, []string{"insert_text", "insertText"}); ok {
			c.New, hasNew = text, true
		}
		c.Line = int(n)
		return c, hasNew
	}
	if hasOld && hasNew {
		c.Whole = old == "" // how some hosts make a file
		return c, true
	}
	if text, ok := textAt(p, wholeKeys); ok && !hasOld {
		c.New, c.Whole = text, true
		return c, true
	}
	return c, false
}

// textAt returns the first of the keys that holds a string, empty or not.
func textAt(p payload, keys []string) (string, bool) {
	for _, k := range keys {
		if s, ok := p[k].(string); ok {
			return s, true
		}
	}
	return "", false
}

// patchChanges reads a patch of the kind that agents write.
func patchChanges(text string) []Change {
	var out []Change
	for _, f := range patch.Files(text) {
		c := Change{Path: f.Path, Line: -1, Hunks: f.Hunks, Delete: f.Delete, Whole: f.Add}
		if f.Add {
			c.New = f.Content
		}
		out = append(out, c)
	}
	return out
}

// Apply returns what a file would hold after the changes, and false if they do
// not fit it: then the tool will fail, or does what we cannot tell.
func Apply(content []byte, changes []Change) (out []byte, deleted, ok bool) {
	out = slices.Clone(content)
	for _, c := range changes {
		deleted = c.Delete
		switch {
		case c.Delete:
			out = nil
		case c.Whole:
			out = []byte(c.New)
		case c.Hunks != nil:
			if out, ok = patch.Apply(out, c.Hunks); !ok {
				return nil, false, false
			}
		case c.Line >= 0:
			if out, ok = insertAfter(out, c.Line, c.New); !ok {
				return nil, false, false
			}
		case c.Old == "" || !bytes.Contains(out, []byte(c.Old)):
			return nil, false, false
		case c.All:
			out = bytes.ReplaceAll(out, []byte(c.Old), []byte(c.New))
		default:
			out = bytes.Replace(out, []byte(c.Old), []byte(c.New), 1)
		}
	}
	return out, deleted, len(changes) > 0
}

func insertAfter(content []byte, line int, text string) ([]byte, bool) {
	at := 0
	for range line {
		n := bytes.IndexByte(content[at:], '\n')
		if n < 0 {
			return nil, false
		}
		at += n + 1
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return slices.Concat(content[:at], []byte(text), content[at:]), true
}
