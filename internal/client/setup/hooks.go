package setup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A hookTable is what one host's hook file must hold.
type hookTable struct {
	at     []string // keys that lead to the table of events
	list   bool     // the table is one list whose entries name their event
	render func(host string, e hookEvent) object
	events []hookEvent // of several with one name, each has an entry, in this order
	with   *field      // what the host demands beside the table, such as "version": 1
}

// A hookEvent is one event of a host that svc listens to.
type hookEvent struct {
	name    string
	matcher string // tools, in the host's own matcher language
	seconds int    // after which the host gives up
}

// apply makes the events of the table ours and current.
func (t *hookTable) apply(d *jsonDoc, host string) (warning string, err error) {
	box, err := d.findBox(!t.list, t.at...)
	if err != nil {
		return "", err
	}
	if box == nil {
		return "", t.create(d, host)
	}
	if t.with != nil {
		if v, err := d.find(t.with.key); err != nil {
			return "", err
		} else if v == nil {
			warning = fmt.Sprintf("has no %q, without which the host ignores the file; add it", t.with.key)
		}
	}
	t.sweep(d, func(event string) int { return t.nth(len(t.events), event) })
	for i := range t.events {
		if err := t.applyEvent(d, host, i); err != nil {
			return "", err
		}
	}
	return warning, nil
}

// create writes the whole table. What the host wants beside it comes after it:
// that is how remove knows that it was not there before.
func (t *hookTable) create(d *jsonDoc, host string) error {
	root, _ := d.box(&d.root)
	d.insert(root, t.at[0], t.value(host))
	if t.with == nil {
		return nil
	}
	root, _ = d.box(&d.root)
	n, err := d.member(root, t.with.key)
	if n < 0 && err == nil {
		d.insert(root, t.with.key, t.with.val)
	}
	return err
}

// value is the table with only our entries in it.
func (t *hookTable) value(host string) any {
	if t.list {
		var all []object
		for _, e := range t.events {
			all = append(all, t.render(host, e))
		}
		return all
	}
	var all object
	for i, e := range t.events {
		if t.nth(i, e.name) > 0 {
			continue
		}
		var entries []object
		for _, same := range t.events[i:] {
			if same.name == e.name {
				entries = append(entries, t.render(host, same))
			}
		}
		all = append(all, field{e.name, entries})
	}
	return all
}

// nth counts the events of a name before the i-th of all.
func (t *hookTable) nth(i int, name string) (n int) {
	for _, e := range t.events[:i] {
		n += count(e.name == name)
	}
	return n
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (t *hookTable) applyEvent(d *jsonDoc, host string, i int) error {
	e := t.events[i]
	keys := t.at
	if !t.list {
		keys = append(slices.Clone(t.at), e.name)
	}
	list, err := d.findBox(false, keys...)
	if err != nil {
		return err
	}
	want := t.render(host, e)
	if list == nil {
		table, err := d.findBox(true, t.at...)
		if err != nil {
			return err
		}
		d.insert(*table, e.name, []object{want})
		return nil
	}
	before := t.nth(i, e.name)
	for _, it := range list.items {
		ours, _ := t.ours(it.val, e.name)
		if before -= count(ours); !ours || before >= 0 {
			continue
		}
		if !sameJSON(it.val, want) {
			d.replace(it.val, want)
		}
		return nil
	}
	d.insert(*list, "", want)
	return nil
}

// ours reports whether an entry for the event is all ours, or which of its
// handlers are.
func (t *hookTable) ours(v *hujson.Value, event string) (all bool, some []int) {
	m, _ := decode(v).(map[string]any)
	if t.list && m["trigger"] != event {
		return false, nil
	}
	group, ok := m["hooks"].([]any)
	if !ok {
		return isOurHandler(m), nil
	}
	for i, h := range group {
		if isOurHandler(h) {
			some = append(some, i)
		}
	}
	return len(some) > 0 && len(some) == len(group), some
}

// sweep removes our entries, except the first few of each event, as keep says.
func (t *hookTable) sweep(d *jsonDoc, keep func(event string) int) {
	for {
		path := t.stray(d, keep)
		if path == nil {
			return
		}
		d.remove(path...)
	}
}

// stray returns the path of the last entry that sweep must remove, or nil. The
// last goes first, so that the blank line before the first is seen when its
// container has become empty.
func (t *hookTable) stray(d *jsonDoc, keep func(string) int) []int {
	if d.gone {
		return nil
	}
	path, box := d.indexPath(t.at...)
	if box == nil || box.object == t.list {
		return nil
	}
	if t.list {
		return t.strayIn(path, *box, d, keep)
	}
	for i := len(box.items) - 1; i >= 0; i-- {
		list, ok := d.box(box.items[i].val)
		if !ok || list.object {
			continue
		}
		name := box.items[i].key
		if found := t.strayIn(append(slices.Clone(path), i), list, d, func(string) int { return keep(name) }); found != nil {
			return found
		}
	}
	return nil
}

func (t *hookTable) strayIn(path []int, list jsonBox, d *jsonDoc, keep func(string) int) []int {
	event := func(it jsonItem) string {
		m, _ := decode(it.val).(map[string]any)
		s, _ := m["trigger"].(string)
		return s
	}
	kept := map[string]int{}
	drop := -1
	var inside []int
	for i, it := range list.items {
		name := event(it)
		all, some := t.ours(it.val, name)
		switch {
		case all && kept[name] < keep(name):
			kept[name]++
		case all:
			drop, inside = i, nil
		case len(some) > 0:
			drop, inside = i, some
		}
	}
	if drop < 0 {
		return nil
	}
	path = append(slices.Clone(path), drop)
	if inside != nil {
		group, _ := d.box(list.items[drop].val)
		n, err := d.member(group, "hooks")
		if err != nil {
			return nil
		}
		path = append(path, n, inside[len(inside)-1])
	}
	return path
}

// remove takes all our entries out again.
func (t *hookTable) remove(d *jsonDoc) {
	none := func(string) int { return 0 }
	if t.with != nil {
		after := &jsonDoc{text: d.text, nl: d.nl, unit: d.unit}
		after.mustParse()
		t.sweep(after, none)
		if path, box := after.indexPath(t.at...); box == nil || path == nil {
			t.removeCompanion(d)
		}
	}
	t.sweep(d, none)
}

// removeCompanion removes what create put beside the table: it directly
// follows it.
func (t *hookTable) removeCompanion(d *jsonDoc) {
	root, _ := d.box(&d.root)
	for i := 1; i < len(root.items); i++ {
		if root.items[i-1].key == t.at[0] && root.items[i].key == t.with.key && sameJSON(root.items[i].val, t.with.val) {
			d.remove(i)
			return
		}
	}
}

// lacks says what is missing of the table, one phrase each; present whether
// any of it is there.
func (t *hookTable) lacks(d *jsonDoc, host string) (present bool, missing []string) {
	shared := map[string]int{} // a cause that entries have in common is told once
	for i, e := range t.events {
		entry := t.entry(d, i)
		switch {
		case entry == nil:
			missing = append(missing, t.absent(i))
		case !sameJSON(entry, t.render(host, e)):
			present = true
			if cause := unlike(decode(entry), t.render(host, e)); cause != "" {
				shared[cause]++
			} else {
				missing = append(missing, t.difference(entry, e))
			}
		default:
			present = true
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(shared)) {
		missing = append(missing, fmt.Sprintf("%d of %d hooks %s", shared[cause], len(t.events), cause))
	}
	return present, missing
}

func (t *hookTable) entry(d *jsonDoc, i int) *hujson.Value {
	e := t.events[i]
	keys := t.at
	if !t.list {
		keys = append(slices.Clone(t.at), e.name)
	}
	list, err := d.findBox(false, keys...)
	if err != nil || list == nil {
		return nil
	}
	before := t.nth(i, e.name)
	for _, it := range list.items {
		all, some := t.ours(it.val, e.name)
		ours := all || len(some) > 0
		if before -= count(ours); ours && before < 0 {
			return it.val
		}
	}
	return nil
}

// absent says that there is no entry for the i-th event.
func (t *hookTable) absent(i int) string {
	if e := t.events[i]; t.nth(i, e.name) > 0 {
		return fmt.Sprintf("the hook on %s lacks %s", e.name, strings.Join(alternatives(e.matcher), ", "))
	}
	return "no hook on " + t.events[i].name
}

// difference names the tools that the matcher in the file misses, or says that
// the entry is of another version.
func (t *hookTable) difference(entry *hujson.Value, e hookEvent) string {
	m, _ := decode(entry).(map[string]any)
	have, _ := m["matcher"].(string)
	if have != "" && have != e.matcher {
		var lost []string
		for _, tool := range alternatives(e.matcher) {
			if !slices.Contains(alternatives(have), tool) {
				lost = append(lost, tool)
			}
		}
		if len(lost) > 0 {
			return fmt.Sprintf("the hook on %s lacks %s", e.name, strings.Join(lost, ", "))
		}
	}
	return fmt.Sprintf("the hook on %s is of another version", e.name)
}

// unlike says in which way the program or the time limit of an entry differs
// from what we write, for people; "" if it differs in another way.
func unlike(entry any, want object) string {
	have, text := shownStrings(entry), string(mustJSON(want))
	for _, s := range have.texts {
		if at := startedProgram.Get().FindStringSubmatch(s); at != nil && !strings.Contains(text, strings.Trim(string(mustJSON(at[1])), `"`)) {
			if _, err := os.Stat(at[1]); filepath.IsAbs(at[1]) && err != nil {
				return "start " + at[1] + ", which is not there"
			}
			return "start " + at[1] + ", which is not the svc that is set up now"
		}
	}
	var ours any
	if json.Unmarshal([]byte(text), &ours) != nil || have.timeout == nil ||
		fmt.Sprint(have.timeout) == fmt.Sprint(shownStrings(ours).timeout) {
		return ""
	}
	return fmt.Sprintf("have a time limit of %v, and svc writes %v", have.timeout, shownStrings(ours).timeout)
}

// startedProgram finds the program in a command of ours.
var startedProgram = lazy.Regexp(`(?:^|[;&{] *)['"]?([^\s'";&]*svc(?:\.exe)?)['"]? hook `)

// what an entry holds that people set: its texts, and its time limit.
type entryParts struct {
	texts   []string
	timeout any
}

func shownStrings(v any) (p entryParts) {
	switch x := v.(type) {
	case string:
		p.texts = []string{x}
	case []any:
		for _, sub := range x {
			in := shownStrings(sub)
			p.texts, p.timeout = append(p.texts, in.texts...), cmp.Or(p.timeout, in.timeout)
		}
	case map[string]any:
		for key, sub := range x {
			in := shownStrings(sub)
			if key == "timeout" || key == "timeoutSec" {
				in.timeout = sub
			}
			p.texts, p.timeout = append(p.texts, in.texts...), cmp.Or(p.timeout, in.timeout)
		}
	}
	return p
}

func mustJSON(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}

func alternatives(matcher string) []string {
	return strings.FieldsFunc(matcher, func(r rune) bool { return strings.ContainsRune("|^$()", r) })
}
