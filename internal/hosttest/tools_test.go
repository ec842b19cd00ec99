//go:build unix

package hosttest

import "strings"

// useTools has the host's model call a tool of ours, through svc mcp as svc
// init configured it and at the service itself, and reports which it could:
// the host must have told it of the tool, and it must read who holds what.
func (w *world) useTools(h row) result {
	w.t.Helper()
	seen := result{}
	var turns []turn
	look := func(string) {}
	play := func(c call, after func(fresh string)) {
		turns = append(turns, turn{look: look, call: c})
		look = after
	}
	for _, s := range []struct {
		server string
		shows  behaviour
	}{{"svc", bridged}, {"direct", direct}} {
		tool := strings.NewReplacer("$S", s.server, "$T", "scope_check").Replace(h.mcp)
		c := call{tool: tool, args: object{"paths": []string{claimed}, "repo": "acme/ledger"}, listed: true}
		told := true
		if h.invoke != "" {
			c = call{tool: h.invoke, args: object{"name": tool, "arguments": c.args}}
		}
		if h.find != nil {
			play(h.find(tool), func(fresh string) {
				told = h.invoke == "" || strings.Contains(fresh, `{"name":"`+tool+`","description"`)
			})
		}
		play(c, func(fresh string) {
			blocks := strings.Contains(fresh, "BLOCK: ") || strings.Contains(fresh, `"decision":"block"`) // in words, or as JSON
			seen[s.shows] = told && blocks && strings.Contains(fresh, w.claim.Ref)
		})
	}
	w.drive(h, append(turns, turn{look: look, call: call{text: "Somebody holds it."}}), h.direct)
	return seen
}
