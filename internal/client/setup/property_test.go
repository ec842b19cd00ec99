package setup

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
)

// gap draws white space and comments as people leave them between tokens.
func gap(t *rapid.T, nl string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"",
		"",
		" ",
		nl,
		nl + "  ",
		nl + nl,
		"\t",
		"/* c */",
		"// why" + nl,
	}), 0, 3).Draw(t, "gap")
	return strings.Join(parts, "")
}

// jsonc draws a value whose names are those that matter to us.
func jsonc(t *rapid.T, nl string, depth int, top bool) string {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if top {
		kind = 5
	}
	if depth == 0 && kind > 3 {
		kind = 0
	}
	if kind <= 3 {
		return rapid.SampledFrom([]string{`1`, `"x"`, `true`, `"//"`}).Draw(t, "scalar")
	}
	open, end := "[", "]"
	if kind == 5 {
		open, end = "{", "}"
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
		"hooks", "mcpServers", "mcp", "version", "PreToolUse", "preToolUse", "stop", "Stop", "other", "matcher", "command",
	}),
		0, 4, rapid.ID[string]).Draw(t, "names")
	var items []string
	for _, name := range names {
		item := gap(t, nl)
		if kind == 5 {
			item += `"` + name + `"` + gap(t, nl) + ":" + gap(t, nl)
		}
		items = append(items, item+jsonc(t, nl, depth-1, false)+gap(t, nl))
	}
	text := open + strings.Join(items, ",")
	if len(items) > 0 && rapid.Bool().Draw(t, "trailing comma") {
		text += ","
	}
	return text + gap(t, nl) + end
}

// Random bytes seldom make nested settings; these documents always do.
func TestJSONKeepsItsPromiseOnNestedDocuments(t *testing.T) {
	hosts := []string{"claude_code", "cursor", "kiro", "factory_droid", "antigravity", "crush", "gemini_cli"}
	tried := 0
	rapid.Check(t, func(rt *rapid.T) {
		nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "newline")
		text := gap(rt, nl) + jsonc(rt, nl, 4, true) + gap(rt, nl)
		h, _ := ByID(rapid.SampledFrom(hosts).Draw(rt, "host"))
		for i := range h.files {
			if out, ok := jsonMerger(&h.files[i], h.ID).check(rt, []byte(text)); ok {
				tried++
				sameBeside(rt, text, string(out))
			}
		}
	})
	if tried == 0 {
		t.Error("no document could be edited: the test tested nothing")
	}
}
