package analysis

import (
	"slices"
	"testing"
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
	var keys []string
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
	if !slices.Contains(keys, "z.js http:GET /two") {
		t.Errorf("the call in z.js is not among %v", keys)
	}
}
