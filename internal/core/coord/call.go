package coord

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// A Call is the form of a call: what decides whether it still works after the
// parameters of what it calls changed.
type Call struct {
	Args   int      `json:"args" minimum:"0" doc:"Arguments that go by position"`
	Named  []string `json:"named,omitempty" maxItems:"100" itemMaxLength:"200" doc:"Names of those that go by name; hashes in metadata_only"`
	Spread bool     `json:"spread,omitempty" doc:"Some come out of a list or map, so how many is not known"`
	Alone  bool     `json:"alone,omitempty" doc:"Nothing is done with the result"`
}

// A Param is a parameter as callers see it, without its type.
type Param struct {
	Name     string `json:"name,omitempty" maxLength:"200" doc:"Empty if callers cannot name it; a hash in metadata_only"`
	Optional bool   `json:"optional,omitempty"`
	Rest     bool   `json:"rest,omitempty" doc:"Takes any number"`
	Keyword  bool   `json:"keyword,omitempty" doc:"Goes by name only"`
	Moved    bool   `json:"moved,omitempty" doc:"Another one stood in its place before"`
	Changed  bool   `json:"changed,omitempty" doc:"What used to be given for it no longer fits"`
}

// A Fit tells whether a call works with parameters.
type Fit int

const (
	FitUnknown Fit = iota
	Fits
	Misfits
)

// Fit tells whether the call works with one of several lists of parameters,
// those of overloads.
func (c *Call) Fit(takes [][]Param) Fit {
	if c == nil || c.Spread {
		return FitUnknown
	}
	best := Misfits
	for _, params := range takes {
		switch c.fit(params) {
		case Fits:
			return Fits
		case FitUnknown:
			best = FitUnknown
		}
	}
	return best
}

// fit binds the arguments, first those by position.
func (c *Call) fit(params []Param) Fit {
	bound := make([]bool, len(params))
	left := c.Args
	for i, p := range params {
		if p.Keyword || left == 0 {
			continue
		}
		take := 1
		if p.Rest {
			take = max(0, left-required(params[i+1:]))
		}
		if take > 0 && (p.Moved || p.Changed) {
			return Misfits
		}
		bound[i] = true
		left -= take
	}
	if left > 0 {
		return Misfits // too many
	}
	for _, name := range c.Named {
		i := slices.IndexFunc(params, func(p Param) bool { return p.Name != "" && !p.Rest && sameName(p.Name, name) })
		switch {
		case i >= 0 && (params[i].Changed || bound[i]):
			return Misfits
		case i >= 0:
			bound[i] = true
		case slices.ContainsFunc(params, func(p Param) bool { return p.Keyword && p.Rest }):
		case !slices.ContainsFunc(params, func(p Param) bool { return p.Name != "" }):
			return FitUnknown // they may all go into one map, as in Ruby
		default:
			return Misfits
		}
	}
	for i, p := range params {
		if !bound[i] && !p.Optional && !p.Rest {
			return Misfits // too few
		}
	}
	return Fits
}

// required is how many arguments by position parameters cannot do without.
func required(params []Param) int {
	n := 0
	for _, p := range params {
		if !p.Keyword && !p.Optional && !p.Rest {
			n++
		}
	}
	return n
}

const hiddenMark = "#"

// HideName replaces a name by a hash, for metadata_only: two that were equal
// still are.
func HideName(name string) string {
	if name == "" || strings.HasPrefix(name, hiddenMark) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hiddenMark + hex.EncodeToString(sum[:8])
}

// sameName compares names of which one may be hidden.
func sameName(a, b string) bool {
	if strings.HasPrefix(a, hiddenMark) != strings.HasPrefix(b, hiddenMark) {
		return HideName(a) == HideName(b)
	}
	return a == b
}

// Hidden returns the call with hashes for names.
func (c *Call) Hidden() *Call {
	if c == nil || len(c.Named) == 0 {
		return c
	}
	out := *c
	out.Named = slices.Clone(c.Named)
	for i := range out.Named {
		out.Named[i] = HideName(out.Named[i])
	}
	return &out
}

// HideParams returns parameters with hashes for names.
func HideParams(takes [][]Param) [][]Param {
	if takes == nil {
		return nil
	}
	out := make([][]Param, len(takes))
	for i := range takes {
		out[i] = slices.Clone(takes[i])
		for k := range out[i] {
			out[i][k].Name = HideName(out[i][k].Name)
		}
	}
	return out
}

// String tells the form in words: "2 arguments and timeout=".
func (c *Call) String() string {
	words := fmt.Sprintf("%d arguments", c.Args)
	if c.Args == 1 {
		words = "1 argument"
	}
	if c.Spread {
		words = "any number of arguments"
	}
	for _, n := range c.Named {
		if !strings.HasPrefix(n, hiddenMark) {
			words += ", " + n + "="
		}
	}
	return words
}
