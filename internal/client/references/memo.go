package references

// A memo remembers answers that depend on each other. An answer is open while
// it is worked out, and known once it is. One that met an open answer on its way
// went in a circle there and was cut: it holds until the question that came
// first is answered, since another one would have cut the circle elsewhere. So
// no answer depends on the order in which files are asked for.
type memo[K comparable, V any] struct {
	known, cut map[K]V
	open       map[K]bool
	met        bool // an open answer, or one that was cut, since the innermost began
}

// get returns the answer to a question, or works it out by find. The answer is
// none, and false, if it is being worked out.
func (m *memo[K, V]) get(k K, find func() V) (v V, ok bool) {
	if v, ok = m.known[k]; ok {
		return v, true
	}
	if v, ok = m.cut[k]; ok {
		m.met = true
		return v, true
	}
	if m.open[k] {
		m.met = true
		return v, false
	}
	if m.open == nil {
		m.known, m.cut, m.open = map[K]V{}, map[K]V{}, map[K]bool{}
	}
	before := m.met
	m.met, m.open[k] = false, true
	v = find()
	delete(m.open, k)
	switch {
	case !m.met:
		m.known[k] = v
	case len(m.open) > 0:
		m.cut[k] = v
	}
	if m.met = m.met || before; len(m.open) == 0 {
		m.met = false
		clear(m.cut)
	}
	return v, true
}
