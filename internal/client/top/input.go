package top

import "strings"

// An input is one line that the person types.
type input struct {
	label string
	text  []rune
	at    int
	done  func(string) // what Enter does
}

// key changes the line; it reports whether the key was for it.
func (in *input) key(name, typed string) {
	switch name {
	case "left", "ctrl+b":
		in.at = max(0, in.at-1)
	case "right", "ctrl+f":
		in.at = min(len(in.text), in.at+1)
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.text)
	case "backspace", "ctrl+h":
		if in.at > 0 {
			in.text = append(in.text[:in.at-1:in.at-1], in.text[in.at:]...)
			in.at--
		}
	case "delete", "ctrl+d":
		if in.at < len(in.text) {
			in.text = append(in.text[:in.at:in.at], in.text[in.at+1:]...)
		}
	case "ctrl+u":
		in.text, in.at = in.text[in.at:], 0
	case "ctrl+w":
		cut := len([]rune(strings.TrimRight(string(in.text[:in.at]), " ")))
		for cut > 0 && in.text[cut-1] != ' ' {
			cut--
		}
		in.text, in.at = append(in.text[:cut:cut], in.text[in.at:]...), cut
	default:
		in.insert(typed)
	}
}

// insert puts text at the cursor: what is typed or pasted, in one line.
func (in *input) insert(s string) {
	var add []rune
	for _, r := range strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(s) {
		if r >= ' ' && r != 0x7f {
			add = append(add, r)
		}
	}
	in.text = append(in.text[:in.at:in.at], append(add, in.text[in.at:]...)...)
	in.at += len(add)
}

// show returns the line within a width, with the cursor in sight, and where the
// cursor is.
func (in *input) show(width int) (line string, cursor int) {
	room := max(width-len([]rune(in.label))-1, 8)
	from := max(0, in.at-room+1)
	end := min(len(in.text), from+room)
	return in.label + string(in.text[from:end]), len([]rune(in.label)) + in.at - from
}
