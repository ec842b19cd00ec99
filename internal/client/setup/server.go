package setup

import (
	"slices"
)

// An entry is one named object of ours in a host's file: the tool server, or
// where a host names hooks, our hooks.
type entry struct {
	at   []string // keys that lead to the objects
	name string
	val  object
	soft []string // written at first, then left to the user and the host
	ours func(any) bool
}

// apply makes the entry ours and current. Members that we do not know stay:
// hosts keep approvals and switches there.
func (e *entry) apply(d *jsonDoc) error {
	box, err := d.findBox(true, e.at...)
	if err != nil {
		return err
	}
	if box == nil { // at is one key then; the top is always there
		root, _ := d.box(&d.root)
		d.insert(root, e.at[0], object{{e.name, e.val}})
		return nil
	}
	n, err := d.member(*box, e.name)
	if err != nil {
		return err
	}
	if n < 0 {
		d.insert(*box, e.name, e.val)
		return nil
	}
	have := box.items[n]
	if !e.ours(decode(have.val)) {
		return atLine(lineOf(d.text, have.start), "%q is there already and not ours; rename it", e.name)
	}
	for _, f := range e.val {
		if slices.Contains(e.soft, f.key) {
			continue
		}
		entry, err := d.findBox(true, append(slices.Clone(e.at), e.name)...)
		if err != nil {
			return err
		}
		i, err := d.member(*entry, f.key)
		switch {
		case err != nil:
			return err
		case i < 0:
			d.insert(*entry, f.key, f.val)
		case !sameJSON(entry.items[i].val, f.val):
			d.replace(entry.items[i].val, f.val)
		}
	}
	return nil
}

// remove takes the entry out if it is ours.
func (e *entry) remove(d *jsonDoc) {
	if path, box := d.indexPath(e.at...); box != nil && box.object {
		n, err := d.member(*box, e.name)
		if err == nil && n >= 0 && e.ours(decode(box.items[n].val)) {
			d.remove(append(path, n)...)
		}
	}
}

// present reports whether the entry is there, and whether it is as we write it.
func (e *entry) present(d *jsonDoc) (present, current bool) {
	v, err := d.find(append(slices.Clone(e.at), e.name)...)
	if err != nil || v == nil || !e.ours(decode(v)) {
		return false, false
	}
	again := &jsonDoc{text: d.text, nl: d.nl, unit: d.unit}
	again.mustParse()
	return true, e.apply(again) == nil && string(again.text) == string(d.text)
}

// taken reports whether another has the entry's name.
func (e *entry) taken(d *jsonDoc) bool {
	v, err := d.find(append(slices.Clone(e.at), e.name)...)
	return err == nil && v != nil && !e.ours(decode(v))
}
