package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

func TestTheSamplesAreWhole(t *testing.T) {
	for name, s := range map[string]struct {
		text        string
		developedOn bool
		rows        int
	}{"seen": {seen, true, 50}, "held out": {heldOut, false, 50}, "fresh": {fresh, false, 60}} {
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

func TestEveryMadeHeadSaysOfWhat(t *testing.T) {
	rows, err := readSample(fresh)
	if err != nil {
		t.Fatal(err)
	}
	heads, err := readMade(fresh, "mirrors")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		i := slices.IndexFunc(heads, func(m made) bool { return m.head == r.changer })
		if i < 0 || heads[i].git != filepath.Join("mirrors", r.repo+".git") {
			t.Errorf("%s %s: nobody can make its head", r.repo, r.name)
		}
	}
	if _, err := readMade("# made\ta/b\n", ""); err == nil {
		t.Error("a head made of nothing was read")
	}
}

func TestHeadsAreMade(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\nfive\n"
	folder := t.TempDir()
	root := gittest.Init(t)
	commit := func(name, content string) string {
		gittest.Write(t, root, name, content)
		gittest.Run(t, root, "add", "-A")
		gittest.Run(t, root, "commit", "-q", "-m", name)
		return gittest.Run(t, root, "rev-parse", "HEAD")
	}
	commit("f", text)
	b := commit("f", text+"six\n")
	commit("other", "x\n")
	a := commit("f", "ONE\ntwo\nthree\nfour\nfive\nSIX\n")
	if err := os.MkdirAll(filepath.Join(folder, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, ".git"), filepath.Join(folder, "a", "b.git")); err != nil {
		t.Fatal(err)
	}
	for how, others := range map[bool]string{false: "f", true: "f other"} {
		m := made{git: filepath.Join(folder, "a", "b.git"), a: a, b: b, without: how}
		head, err := m.make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := gittest.Run(t, root, "show", head+":f"); got != "ONE\ntwo\nthree\nfour\nfive" {
			t.Errorf("without %t: %q", how, got)
		}
		if got := strings.Join(strings.Fields(gittest.Run(t, root, "ls-tree", "--name-only", head)), " "); got != others {
			t.Errorf("without %t: %q", how, got)
		}
	}
}
