package main

import (
	"slices"
	"testing"
)

func TestTheSampleIsWhole(t *testing.T) {
	rows, err := readSample(sample)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[judged]bool{}
	breaks := 0
	for _, r := range rows {
		key := judged{repo: r.repo, changer: r.changer, user: r.user, file: r.file, name: r.name}
		if seen[key] {
			t.Errorf("%s %s is there twice", r.repo, r.name)
		}
		seen[key] = true
		if !slices.Contains(repositories, r.repo) || len(r.base) != 40 || len(r.changer) != 40 || len(r.user) != 40 || r.why == "" {
			t.Errorf("incomplete: %+v", r)
		}
		if r.breaks {
			breaks++
		}
	}
	if len(rows) < 30 || breaks == 0 {
		t.Errorf("%d rows, %d breaks", len(rows), breaks)
	}
	if _, err := readSample("a\tb\n"); err == nil {
		t.Error("a row without verdict was read")
	}
}
