//go:build !race

package post

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A field that is added to the request must not be forgotten here.
func TestEncodeAgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := rapid.Make[wire.HookRequest]().Draw(t, "request")
		got := encode(req)
		want, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := json.Unmarshal(want, &b); err != nil {
			t.Fatal(err)
		}
		dropEmpty(b)
		dropEmpty(a)
		if !reflect.DeepEqual(b, a) { // cmp takes five times as long to find no difference
			t.Errorf("-standard +ours\n%s", cmp.Diff(b, a))
		}
	})
}

// dropEmpty takes out the lists that the standard library writes as null.
func dropEmpty(v any) {
	dropLists(v.(map[string]any))
	if analysis, ok := v.(map[string]any)["analysis"].(map[string]any); ok {
		dropLists(analysis)
	}
	repo, _ := v.(map[string]any)["repo"].(map[string]any)
	if list, ok := repo["remote_fingerprints"].([]any); repo["remote_fingerprints"] == nil || ok && len(list) == 0 {
		delete(repo, "remote_fingerprints")
	}
}

// dropLists takes out the lists of facts that are empty or null.
func dropLists(v map[string]any) {
	for key, x := range v {
		list, isList := x.([]any)
		for _, e := range list {
			if o, ok := e.(map[string]any); ok {
				dropLists(o)
			}
		}
		switch key {
		case "files", "hunks", "symbols", "contracts", "references", "shifts":
			if x == nil || isList && len(list) == 0 {
				delete(v, key)
			}
		}
	}
}

func TestEveryFieldIsEncoded(t *testing.T) {
	req := filled(reflect.TypeFor[wire.HookRequest]()).Interface().(wire.HookRequest)
	got := encode(req)
	var back wire.HookRequest
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(req, back); diff != "" {
		t.Errorf("-sent +arrived\n%s", diff)
	}
}

// A field that is added to the answer must not be forgotten either.
func TestEveryFieldIsDecoded(t *testing.T) {
	want := filled(reflect.TypeFor[wire.HookReply]()).Interface().(wire.HookReply)
	want.Decision = wire.Warn
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-sent +read\n%s", diff)
	}
}

// filled returns a value of type t in which no field is empty.
func filled(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem())))
	case reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(filled(t.Field(i).Type))
		}
	}
	return v
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"decision":"block","reason":"r","inject_context":null}`))
	f.Add([]byte(`{"decision":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decode(data)
		var want wire.HookReply
		if err != nil || json.Unmarshal(data, &want) != nil {
			return
		}
		if got.Decision != want.Decision && want.Decision != "" && json.Valid(data) {
			// Keys that differ in case alone are one to the standard library.
			var m map[string]any
			_ = json.Unmarshal(data, &m)
			if m["decision"] != string(got.Decision) {
				t.Errorf("read %q, want %q", got.Decision, want.Decision)
			}
		}
	})
}
