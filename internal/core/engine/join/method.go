package join

import "github.com/svc-hq/svc/internal/core/scope"

// agrees holds a route's method against what stands beside a text.
func agrees(method string, t *Text) Agreement {
	switch {
	case method == scope.AnyMethod, t.Method == method:
		return Stated
	case t.Method != "" && t.Method != scope.AnyMethod:
		return Contradicts
	case t.Guess == method:
		return Likely
	case t.Guess == "", wrote(t.Guess) && wrote(method):
		return Unknown
	}
	return Doubtful
}

// sureOf is how many others must agree before what goes without saying is
// taken for said.
const sureOf = 3

// method tells what a text says of a route's method, with the methods that its
// path has and with what others that go the same way mean when they say
// nothing.
func (w *way) method(method string, t *Text, siblings map[string]bool) Agreement {
	a := agrees(method, t)
	if a == Stated || a == Contradicts {
		return a
	}
	if len(siblings) == 1 {
		return Stated
	}
	if siblings[t.Guess] && t.Guess != method {
		return Doubtful // the path has the one that its name says
	}
	if w == nil {
		return a
	}
	if t.Guess != "" && w.right >= sureOf && w.right > 9*w.wrong {
		if a == Likely {
			return Stated
		}
		return a
	}
	all, top := 0, ""
	for m, n := range w.silent {
		if all += n; n > w.silent[top] || n == w.silent[top] && m < top {
			top = m
		}
	}
	switch n := w.silent[top]; {
	case n < sureOf || n*10 < all*9:
		if t.Guess == "" && method != "GET" && w.says > 0 {
			return Doubtful // others say when they do not read
		}
		return a
	case top == method:
		return Stated
	}
	return Doubtful
}

// saysWrites reports whether whoever writes says so: many do, or some where
// most say their method.
func (l *linkage) saysWrites() bool { return l.writes >= sureOf || l.writes > 0 && l.says > l.mute }

// wrote reports whether a method writes something that may go by several: what
// one calls an update, another posts.
func wrote(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// said reports whether a repository says elsewhere that it uses a route with its
// method.
func (o *Org) said(user, method string, form scope.Form, fit *Fit) (found bool) {
	c := o.repos[user]
	if c == nil {
		return false
	}
	filed(c.byWord, form, func(t *Text) {
		if found || t.Method == "" || t.Method != method && !(replaces(t.Method) && replaces(method)) {
			return
		}
		other, ok := Fits(form, t.Form)
		found = ok && other.shift == fit.shift && other.exact()
	})
	return found
}

// replaces tells the two methods that most servers take for one.
func replaces(method string) bool { return method == "PUT" || method == "PATCH" }
