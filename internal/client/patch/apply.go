package patch

import (
	"bytes"
	"strings"
)

// A File is what an envelope says about one file.
type File struct {
	Path    string
	Add     bool
	Delete  bool
	Content string // of a file that is added
	Hunks   []Hunk
}

// A Hunk replaces lines by others. Both have the lines around that stay.
type Hunk struct {
	Old, New []string
}

// Files reads the envelope that some models write: *** Begin Patch.
func Files(text string) []File {
	_, body, ok := strings.Cut(text, Begin)
	if !ok {
		return nil
	}
	var out []File
	var hunk *Hunk
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "*** ") {
			hunk = nil
			switch head, name, _ := strings.Cut(line[4:], ": "); head {
			case "Add File":
				out = append(out, File{Path: name, Add: true})
			case "Delete File":
				out = append(out, File{Path: name, Delete: true})
			case "Update File":
				out = append(out, File{Path: name})
			case "Move to":
				return nil // two files at once
			case "End Patch":
				return out
			}
			continue
		}
		if len(out) == 0 {
			continue
		}
		f := &out[len(out)-1]
		switch {
		case f.Add:
			f.Content += strings.TrimPrefix(line, "+") + "\n"
			continue
		case strings.HasPrefix(line, "@@"), hunk == nil:
			f.Hunks = append(f.Hunks, Hunk{})
			hunk = &f.Hunks[len(f.Hunks)-1]
			if strings.HasPrefix(line, "@@") {
				continue
			}
		}
		switch {
		case strings.HasPrefix(line, "+"):
			hunk.New = append(hunk.New, line[1:])
		case strings.HasPrefix(line, "-"):
			hunk.Old = append(hunk.Old, line[1:])
		default:
			line = strings.TrimPrefix(line, " ")
			hunk.Old, hunk.New = append(hunk.Old, line), append(hunk.New, line)
		}
	}
	return out
}

// Apply returns content after the hunks, each looked for after the one before,
// and false if one of them does not fit.
func Apply(content []byte, hunks []Hunk) ([]byte, bool) {
	var out bytes.Buffer
	for _, h := range hunks {
		if len(h.Old) == 0 && len(h.New) == 0 {
			continue
		}
		old := strings.Join(h.Old, "\n")
		at := find(content, old)
		if at < 0 || len(h.Old) == 0 {
			return nil, false
		}
		out.Write(content[:at])
		fresh := strings.Join(h.New, "\n")
		out.WriteString(fresh)
		content = content[at+len(old):]
		if len(h.New) == 0 && len(content) > 0 && content[0] == '\n' {
			content = content[1:] // the lines go with their ends
		}
	}
	out.Write(content)
	return out.Bytes(), true
}

// find returns where whole lines begin in content, or -1.
func find(content []byte, lines string) int {
	for from := 0; ; {
		at := bytes.Index(content[from:], []byte(lines))
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(lines)
		if (at == 0 || content[at-1] == '\n') && (end == len(content) || content[end] == '\n') {
			return at
		}
		from = at + 1
	}
}
