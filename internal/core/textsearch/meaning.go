package textsearch

import (
	"strings"
	"sync"
)

// synonyms are words of software work that mean nearly the same, by line.
const synonyms = `add create introduce implement support allow enable provide include permit accept
remove delete drop strip clean cleanup discard eliminate unused obsolete destroy
fix bug repair resolve correct solve patch bugfix wrong incorrect broken break mistake error issue fail failure problem
update upgrade bump version
rename move relocate
improve enhance better optimize optimise performance perf speed fast slow
doc documentation readme comment docblock phpdoc docstring
test spec testing unittest
typo spelling misspelled grammar wording
config configuration setting option preference configurable configure
login signin logon auth authentication authenticate
crash panic segfault abort
hang freeze stuck deadlock timeout deadline
exception throw raise
refactor simplify restructure rework
deprecate deprecated deprecation
parameter param argument arg
function method func
image picture img icon
directory folder dir
dependency dep package lib library
color colour
button btn
message msg text string
null nil none undefined
check validate validation verify
warn warning notice
link url href anchor
example sample demo
missing absent lack
duplicate dup double
print output log display show
read load fetch get
write save store persist put
begin start init initialize initialise
end stop finish terminate close
repo repository
env environment
db database
js javascript
limit throttle cap quota
retry backoff reattempt
cache memoize memoise`

var meanings = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(synonyms) {
		words := strings.Fields(line)
		for _, w := range words {
			if s := stem(fold(w)); out[s] == "" {
				out[s] = words[0]
			}
		}
	}
	return out
})

// Meaning returns a word, as Words has it, in a form that it shares with words
// that mean nearly the same: its stem, or the first of its synonyms.
func Meaning(word string) string {
	s := stem(word)
	if same, ok := meanings()[s]; ok {
		return same
	}
	return s
}

// endings are what stem takes from a word, and what it puts there instead.
var endings = [][2]string{{"ization", "ize"}, {"isation", "ize"}, {"ation", "ate"}, {"ement", "e"}, {"ingly", ""}, {"ness", ""},
	{"edly", ""}, {"ies", "y"}, {"ie", "y"}, {"ing", ""}, {"ed", ""}}

// stem returns what a word has in common with its other forms, as far as its
// end tells.
func stem(w string) string {
	for _, e := range endings {
		if rest, ok := strings.CutSuffix(w, e[0]); ok && len(rest) >= 3 {
			w = rest + e[1]
			if n := len(w); e[1] == "" && n > 3 && w[n-1] == w[n-2] && w[n-1] != 'l' && w[n-1] != 's' {
				w = w[:n-1]
			}
			break
		}
	}
	if rest, ok := strings.CutSuffix(w, "ly"); ok && len(rest) > 3 {
		w = rest
	}
	if rest, ok := strings.CutSuffix(w, "e"); ok && len(rest) > 2 {
		w = rest
	}
	return w
}
