// Package verdict has the answers to a change, breaking, compatible or unknown,
// and the reason in words that fit the wire. It does not judge: symbols and
// contract do.
package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	// It comes after net/http in the order of initialising, and with it all
	// that imports it: by then a hook that reads no code is over. See
	// cmd/svc/internal/early.
	_ "text/tabwriter"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
)

// A Verdict is a compatibility with its reason in words.
type Verdict struct {
	Compat coord.Compatibility
	Detail string
}

var Rank = map[coord.Compatibility]int{coord.Compatible: 0, coord.Unknown: 1, coord.Breaking: 2}

// Worst joins verdicts: the gravest wins, and its reasons are told.
func Worst(vs []Verdict) Verdict {
	out := Verdict{coord.Compatible, ""}
	for _, v := range vs {
		if Rank[v.Compat] > Rank[out.Compat] {
			out.Compat = v.Compat
		}
	}
	var words []string
	for _, v := range vs {
		if v.Compat == out.Compat && v.Detail != "" && !slices.Contains(words, v.Detail) {
			words = append(words, v.Detail)
		}
	}
	out.Detail = strings.Join(words, "; ")
	return out
}

func OrNone(s string) string {
	if s == "" {
		return "not typed"
	}
	return s
}

func Clip(s string) string {
	if len(s) > 80 {
		return excerpt.Bytes(s, 77) + "..."
	}
	return s
}

const (
	maxSignature = 4000
	maxDetail    = 500
)

func SetSignatures(text, hash **string, s string) {
	h := HashText(s)
	*hash = &h
	if len(s) > maxSignature {
		s = excerpt.Bytes(s, maxSignature)
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	*text = &s
}

func HashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func Detail(s string) *string {
	if len(s) > maxDetail {
		s = excerpt.Bytes(s, maxDetail-3) + "..."
	}
	return &s
}
