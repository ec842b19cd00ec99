package contract

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
)

func route(t *testing.T, key string, role coord.ContractRole, s Shape) Contract {
	t.Helper()
	c, ok := New(key, role, 3)
	if !ok {
		t.Fatalf("%s is no key", key)
	}
	c.Shape = s
	return c
}

// What a change of a route means to those who call it.
func TestWhatAChangeMeans(t *testing.T) {
	const key = "http:GET /users/{}"
	reply := func(ps ...Prop) Shape { return Shape{Out: ps} }
	takes := func(ps ...Prop) Shape { return Shape{In: ps} }
	name := Prop{Name: "name", Typ: "string", Required: true}
	for _, tt := range []struct {
		name     string
		old, new Shape
		want     coord.Compatibility
		says     string
	}{
		{"a field less", reply(name), reply(), coord.Breaking, "no longer has name"},
		{"a field more", reply(), reply(name), coord.Compatible, "now has name"},
		{"a field that may be missing", reply(name), reply(Prop{Name: "name", Typ: "string"}), coord.Breaking, "may now be missing"},
		{"another type", reply(name), reply(Prop{Name: "name", Typ: "integer", Required: true}), coord.Breaking, "was string, is integer"},
		{"a parameter that must be given", takes(), takes(name), coord.Breaking, "now requires name"},
		{"a parameter that may be given", takes(), takes(Prop{Name: "name"}), coord.Compatible, "may take name"},
	} {
		facts := Facts([]Contract{route(t, key, coord.Provides, tt.old)}, []Contract{route(t, key, coord.Provides, tt.new)}, false, false)
		if len(facts) != 1 || facts[0].Compatibility != tt.want || facts[0].Detail == nil || !strings.Contains(*facts[0].Detail, tt.says) {
			t.Errorf("%s: %+v, want %s, %q", tt.name, facts, tt.want, tt.says)
		}
	}
}

// In the middle of an edit nothing is said to be broken, and with metadata
// only no text leaves.
func TestHalfWrittenAndMetadataOnly(t *testing.T) {
	old := []Contract{route(t, "http:GET /a", coord.Provides, Shape{})}
	if f := Facts(old, nil, true, false); len(f) != 1 || f[0].Compatibility != coord.Unknown {
		t.Errorf("half written: %+v", f)
	}
	f := Facts(old, nil, false, true)
	if len(f) != 1 || f[0].Detail != nil || f[0].PreviousSignature != nil || f[0].Compatibility != coord.Breaking {
		t.Errorf("metadata only: %+v", f)
	}
}
