package main

import (
	"slices"
	"testing"
)

func TestTheSamplesAreWhole(t *testing.T) {
	for name, s := range map[string]struct {
		text        string
		developedOn bool
		rows        int
	}{"seen": {seen, true, 50}, "held out": {heldOut, false, 50}} {
		rows, err := readSample(s.text)
		if err != nil {
			t.Fatal(name, err)
		}
		known := map[judged]bool{}
		breaks := 0
		for _, r := range rows {
			key := judged{repo: r.repo, changer: r.changer, user: r.user, file: r.file, name: r.name}
			if known[key] {
				t.Errorf("%s: %s %s is there twice", name, r.repo, r.name)
			}
			known[key] = true
			if len(r.base) != 40 || len(r.changer) != 40 || len(r.user) != 40 || r.why == "" {
				t.Errorf("%s: incomplete: %+v", name, r)
			}
			if !s.developedOn && slices.Contains(repositories, r.repo) {
				t.Errorf("%s: svc was developed on %s", name, r.repo)
			}
			if r.breaks {
				breaks++
			}
		}
		if len(rows) < s.rows || breaks == 0 {
			t.Errorf("%s: %d rows, %d breaks", name, len(rows), breaks)
		}
	}
	if _, err := readSample("a\tb\n"); err == nil {
		t.Error("a row without verdict was read")
	}
}
