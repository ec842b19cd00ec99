package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/patience"
)

// A file that is first reached at the end of a long chain of request functions
// is known as well as any other to who calls it directly: what is read does not
// depend on the order of files.
func TestScanKnowsWhatWasReachedFromAfar(t *testing.T) {
	r := newRepo(t)
	r.write("a.js", "import { apiB } from './b'\nexport const one = () => apiB('/one')\n")
	r.write("b.js", "import { apiC } from './c'\nexport function apiB(path) { return apiC(path) }\n")
	r.write("c.js", "import { apiD } from './d'\nexport function apiC(path) { return apiD(path) }\n")
	r.write("d.js", "import { request } from './request'\nexport function apiD(path) { return request(path) }\n")
	r.write("request.js", "export function request(path) { return fetch(path) }\n")
	r.write("z.js", "import { apiD } from './d'\nexport const two = () => apiD('/two')\n")
	r.commit()
	if keys := scanned(t, r); !slices.Contains(keys, "z.js http:GET /two") {
		t.Errorf("the call in z.js is not among %v", keys)
	}
}

// Nobody waits for a scan: a file that mounts routers may take its time, for
// what is in it or since the machine is busy.
func TestScanWaitsForWhoMounts(t *testing.T) {
	t.Setenv(patience.Variable, "1")
	r := newRepo(t)
	r.write("a/users.js", "const router = require('express').Router()\nrouter.get('/users', list)\nmodule.exports = router\n")
	lines := strings.Repeat("const settings = { a: [1, 2, { b: (c) => c.d(e, 'f').g }], h: `i ${j}` }\n", 1500)
	r.write("app.js", "const app = require('express')()\n"+lines+"app.use('/v2', require('./a/users'))\n")
	r.commit()
	if keys := scanned(t, r); !slices.Contains(keys, "a/users.js http:GET /v2/users") {
		t.Errorf("the route with its prefix is not among %v", keys)
	}
}

// scanned are the contracts that a scan finds, each behind its file.
func scanned(t *testing.T, r *testRepo) (keys []string) {
	t.Helper()
	if err := Scan(t.Context(), r.root, ScanOptions{}, func(b Batch) error {
		for _, f := range b.Analysis.Files {
			for _, c := range f.Contracts {
				keys = append(keys, f.Path+" "+c.Key)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return keys
}
