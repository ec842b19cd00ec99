package api_test

import (
	"bufio"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/api"
)

var param = regexp.MustCompile(`:([A-Za-z]+)`)

// rows reads a file of testdata: its lines without comments and blanks.
func rows(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line, _, _ := strings.Cut(s.Text(), "#"); strings.TrimSpace(line) != "" {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// The contract is the specification's table. What is not built yet is in
// not_built.txt, which must shrink; what we offer beyond it in beyond.txt.
func TestTheTableIsTheContract(t *testing.T) {
	ops := map[string]api.Op{}
	for _, op := range api.Table {
		if op.Route == "" {
			continue
		}
		if _, twice := ops[op.Route]; twice {
			t.Errorf("%s is in the table twice", op.Route)
		}
		ops[op.Route] = op
	}
	notBuilt := rows(t, "not_built.txt")
	contract := map[string]bool{}
	for _, line := range rows(t, "endpoints.tsv")[1:] {
		f := strings.Split(line, "\t")
		route := f[0] + " " + param.ReplaceAllString(f[1], "{$1}")
		contract[route] = true
		op, built := ops[route]
		switch listed := slices.Contains(notBuilt, route); {
		case built && listed:
			t.Errorf("%s is built: take it out of testdata/not_built.txt", route)
		case !built && !listed:
			t.Errorf("%s is missing from the table", route)
		case built:
			compare(t, op, f)
		}
	}
	for _, route := range notBuilt {
		if !contract[route] {
			t.Errorf("testdata/not_built.txt has %s, which is not in the contract", route)
		}
	}
	beyond := rows(t, "beyond.txt")
	for route := range ops {
		if !contract[route] && !slices.Contains(beyond, route) {
			t.Errorf("%s is neither in the contract nor in testdata/beyond.txt", route)
		}
	}
	for _, route := range beyond {
		if _, ok := ops[route]; !ok || contract[route] {
			t.Errorf("testdata/beyond.txt has %s, which is not an operation of ours alone", route)
		}
	}
}

// compare holds a row of ours against one of the contract: method, path, auth,
// scope, personal, role, success.
func compare(t *testing.T, op api.Op, f []string) {
	t.Helper()
	check := func(what string, got, want any) {
		if got != want {
			t.Errorf("%s: %s = %v, the contract says %v", op.Route, what, got, want)
		}
	}
	check("public", op.Door == api.Public, f[2] == "none")
	check("personal", op.Personal, f[4] == "personal")
	check("success", strconv.Itoa(op.Success), f[6])
	if f[3] != "per-kind" {
		check("scope", joined(op.Scopes), strings.ReplaceAll(f[3], "-", ""))
	}
	switch roles := f[5]; roles {
	case "admin":
		check("role", joined(op.Roles), "owner|admin")
	case "-", "owner", "owner|admin|billing", "owner|billing":
		check("role", joined(op.Roles), strings.Trim(roles, "-"))
	default: // a rule about the object, which the operation checks and the row tells
		check("role", joined(op.Roles), "")
		check("a rule in words", op.Who != "", true)
	}
}

func joined[T ~string](vs []T) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = string(v)
	}
	return strings.Join(out, "|")
}

func TestEveryRowIsComplete(t *testing.T) {
	known := coord.EventTypes()
	for _, op := range api.Table {
		if op.Summary == "" && op.Route != "" {
			t.Errorf("%s has no summary", op.Key())
		}
		if op.Success < 200 || op.Success > 299 && op.Success != 302 {
			t.Errorf("%s succeeds with %d", op.Key(), op.Success)
		}
		for _, e := range op.Events {
			if !slices.Contains(known, e) {
				t.Errorf("%s emits %s, which is not an event type", op.Key(), e)
			}
		}
		for _, k := range op.Problems {
			if k.Status() == 0 {
				t.Errorf("%s fails with %s, which is not a kind", op.Key(), k)
			}
		}
	}
}

// A body as the document shows it is taken without the slow way of reading.
func TestExamplesAreAcceptedAtOnce(t *testing.T) {
	a := api.New(nil)
	for _, op := range api.Table {
		text, err := json.Marshal(a.Schemas.Example(a.Inputs(op).Body))
		if err != nil {
			t.Fatal(err)
		}
		if !a.Schemas.Accepts(a.Inputs(op).Body, text, shape.Strict) {
			t.Errorf("%s: %s", op.Key(), text)
		}
	}
}
