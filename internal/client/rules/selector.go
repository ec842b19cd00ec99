package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// What people's own rules say is checked where it is read: a selector that nobody
// knows finds nothing, and an expression that does not compile would end the
// reader. That svc's rules are right, a test says: hooks do not pay for it.

// check tells what in a rules file means nothing.
func check(file string, lines []Line, rules []*Rule) error {
	for _, l := range lines {
		for _, o := range l.Options {
			if err := checkOption(o); err != nil {
				return fmt.Errorf("%s:%d: %w", file, l.Number, err)
			}
		}
	}
	for _, r := range rules {
		if err := sound(r); err != nil {
			return fmt.Errorf("%s:%d: %w", file, r.Line, err)
		}
	}
	return nil
}

// selecting are the options whose values are selectors.
var selecting = []string{"path", "prefix", "name", "table", "column", "to", "out", "in", "var", "of", "version"}

// selector is one alternative of such a value; rules/README.md says what each
// finds.
var selector = lazy.Regexp(`^(?:=.*|app\+.+|-?\d+(?:\.[\w.*\[\]-]+)?|:[\w-]+(?:\.[\w.-]+)?|(?:inner|root|keys)\.-?\d*[\w.:-]*|` +
	`(?:chain|base)\.\w+|(?:class)?@\w+(?:[.:][\w.-]+)?|field:[\w.]+|type\d|part\d|verb\d?|` +
	`recv|args[01]?|joined1?|callee|after|chainverb|on|methods|named|pairs|snakes?|django|tablename)$`)

// numbered and patterns are the options that say a number, or an expression.
var (
	numbered = []string{"min"}
	patterns = []string{"match", "then", "under", "file", "like"}
)

func checkOption(o Option) error {
	switch {
	case slices.Contains(patterns, o.Key):
		if _, err := regexp.Compile(o.Value); err != nil {
			return fmt.Errorf("the pattern of %s= is none: %w", o.Key, err)
		}
	case slices.Contains(numbered, o.Key):
		if len(o.Value) != 1 || o.Value[0] < '0' || o.Value[0] > '9' {
			return fmt.Errorf("%s= wants a number of one digit, not %q", o.Key, o.Value)
		}
	case slices.Contains(selecting, o.Key):
		for alt := range strings.SplitSeq(o.Value, "|") {
			if !selector.Get().MatchString(alt) {
				return fmt.Errorf("nobody knows the selector %q of %s=", alt, o.Key)
			}
		}
	}
	return nil
}

// sound tells whether a rule's expressions have the groups that are read.
func sound(r *Rule) error {
	if r.Match != nil && r.Contract == "event" {
		if r.Match.Get().SubexpIndex("name") < 0 && r.Match.Get().SubexpIndex("text") < 0 {
			return errors.New("match= has no group called name or text")
		}
	} else if r.Match != nil && r.Match.Get().NumSubexp() != 2 && r.Match.Get().SubexpIndex("path") < 0 {
		return errors.New("match= has no group called path, nor two, a method and a path")
	}
	for key, e := range map[string]*lazy.Expr{"then": r.Then, "under": r.Under} {
		if e != nil && (e.Get().NumSubexp() != 1 || r.Match == nil && (key == "then" || r.Role != "uses")) {
			return fmt.Errorf("%s= wants one group, beside match= or at the call of a client", key)
		}
	}
	return nil
}
