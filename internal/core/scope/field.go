package scope

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// FieldWord is the hash of a field's name, the same whatever way it is written.
func FieldWord(name string) string { return Form{WordOf(coord.FieldName(name))}.String() }

// OwnerName is what a type is called without what says only that it is one, or
// which way it goes: UserResponse and UserDto are user.
func OwnerName(name string) string {
	low := coord.FieldName(name)
	for cut := true; cut; {
		cut = false
		for _, end := range ownerEnds {
			if rest, ok := strings.CutSuffix(low, end); ok && len(rest) > 2 {
				low, cut = rest, true
			}
		}
	}
	return low
}

var ownerEnds = []string{"dto", "response", "request", "serializer", "schema", "model", "view", "resource", "entity", "payload", "json",
	"presenter", "record", "struct", "base", "details", "detail", "read", "out", "type", "data", "object", "item", "result", "reply"}

// Telling is how much a field's name says of what is meant.
func Telling(name string) int {
	words := fieldWords(name)
	switch {
	case plainFields.Has(coord.FieldName(name)):
		return 0
	case words > 1 && len(coord.FieldName(name)) >= 7:
		return 2
	case len(name) >= 4:
		return 1
	}
	return 0
}

// fieldWords counts the words of a name.
func fieldWords(name string) int {
	n, small := 1, false
	for i := range len(name) {
		c := name[i]
		switch {
		case (c == '_' || c == '-') && i > 0 && i < len(name)-1, c >= 'A' && c <= 'Z' && small:
			n++
		}
		small = c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
	}
	return n
}

// plainFields are names that the data of nearly every program has.
var plainFields = lazy.Words(`
	name title status type kind state email url path code text body content count total date time user users message
	error
	errors description label key token password username role items results result page limit offset size order sort filter
	query search image icon color version active enabled success amount price address phone comment comments tags author
	category createdat updatedat deletedat userid parent children index length width height start end method headers params
	options config settings default response request link links language locale file files format host port timeout`)
