package outline

// A Trail is what is being followed at the moment. Programs refer to
// themselves: names stand for each other, functions call themselves, files ask
// each other. Whoever follows them, without a text that gets shorter on the way,
// does so by Follow, which is what brings it to an end.
type Trail[K comparable] struct {
	on    map[K]bool
	steps int // since the first of on
}

const (
	maxFollowed = 500    // at once
	maxSteps    = 20_000 // until the first is done: names that name others twice double each time
)

// Follow runs fn and returns true, unless at is being followed already or there
// was too much of it: then there is nothing to be found out.
func (t *Trail[K]) Follow(at K, fn func()) bool {
	if t.on[at] || len(t.on) >= maxFollowed || t.steps >= maxSteps {
		return false
	}
	if t.on == nil {
		t.on = map[K]bool{}
	}
	t.on[at] = true
	t.steps++
	defer func() {
		if delete(t.on, at); len(t.on) == 0 {
			t.steps = 0
		}
	}()
	fn()
	return true
}
