package shellscan

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
)

var vars = map[string]string{"HOME": "/home/dev", "GIT_ROOT": "/home/dev/repo"}

// A sample is one line of the corpus.
type sample struct {
	line       int
	command    string
	powershell bool
	want       []string
}

func corpus(t testing.TB) []sample {
	t.Helper()
	f, err := os.Open("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []sample
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		command, want, ok := strings.Cut(lines.Text(), " ⟶ ")
		if !ok {
			if text := lines.Text(); text != "" && !strings.HasPrefix(text, "#") {
				t.Fatalf("line %d has no ⟶: %s", n, text)
			}
			continue
		}
		s := sample{line: n, command: strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(command)}
		s.command, s.powershell = strings.CutPrefix(s.command, "PS> ")
		if want != "-" {
			s.want = strings.Split(want, "  ")
		}
		slices.Sort(s.want)
		out = append(out, s)
	}
	return out
}

// show writes a result as the corpus does.
func show(r Result) []string {
	var out []string
	for _, w := range r.Writes {
		p := w.Path
		switch w.Kind {
		case Tree:
			p += "/**"
		case Under:
			p += "/..."
		case Dirty:
			p = "!" + p
		case Patch:
			p = "@" + p
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (s sample) scan() Result {
	if s.powershell {
		return ScanPowerShell(s.command, vars)
	}
	return Scan(s.command, vars)
}

// beyondUs are the commands of the corpus that are not read rightly. All
// others are: a figure alone would let a rule go unnoticed.
var beyondUs = []string{
	`arr=(a b c); touch "${arr[0]}"`,
}

// Every command with a rule of its own is in the corpus, so that none can
// lose it unnoticed.
func TestEveryRuleIsInTheCorpus(t *testing.T) {
	var all strings.Builder
	for _, s := range corpus(t) {
		all.WriteString(" " + s.command + " ")
	}
	words := strings.FieldsFunc(all.String(), func(r rune) bool { return strings.ContainsRune(" \n\t;|&()'\"`/", r) })
	for name := range ruleTable() {
		if !slices.Contains(words, name) {
			t.Errorf("no line of the corpus has %s", name)
		}
	}
}

// The figure we publish: of the writes that commands do, how many are seen
// (recall), and of those reported, how many are real (precision).
func TestCoverageOfTheCorpus(t *testing.T) {
	samples := corpus(t)
	if len(samples) < 300 {
		t.Fatalf("the corpus has %d commands, want at least 300", len(samples))
	}
	var right, missed, invented, exact int
	for _, s := range samples {
		got := show(s.scan())
		switch right := slices.Equal(got, s.want); {
		case right && slices.Contains(beyondUs, s.command):
			t.Errorf("line %d: %q is read rightly now: take it off beyondUs", s.line, s.command)
		case right:
			exact++
		case !slices.Contains(beyondUs, s.command):
			t.Errorf("line %d: %q\n\tgot  %q\n\twant %q", s.line, s.command, got, s.want)
		}
		for _, p := range got {
			if slices.Contains(s.want, p) {
				right++
			} else {
				invented++
			}
		}
		for _, p := range s.want {
			if !slices.Contains(got, p) {
				missed++
			}
		}
	}
	recall := 100 * float64(right) / float64(right+missed)
	precision := 100 * float64(right) / float64(right+invented)
	t.Logf("%d commands, %d exactly right; recall %.1f %%, precision %.1f %%", len(samples), exact, recall, precision)
	if recall < 95 || precision < 95 {
		t.Errorf("recall %.1f %% and precision %.1f %% must both be at least 95 %%", recall, precision)
	}
}

// A command called read-only spares the look at the working tree afterwards,
// so it must never be one that writes.
func TestReadOnlyIsNeverSaidOfAWriter(t *testing.T) {
	for _, s := range corpus(t) {
		if s.scan().ReadOnly && len(s.want) > 0 {
			t.Errorf("line %d: %q is called read-only and writes %q", s.line, s.command, s.want)
		}
	}
	for _, c := range []string{"go test ./...", "make", "npm run build", "./script.sh", "python3 gen.py", "$CMD x", "source env.sh",
		"git checkout main", "git pull", "awk -f prog.awk x", "find . -exec ./x {} ;", "cat x | bash"} {
		if Scan(c, vars).ReadOnly {
			t.Errorf("%q may write and is called read-only", c)
		}
	}
	for _, c := range []string{"ls -la", "cat a | grep b | wc -l", "git status && git diff", "cd src && rg x", "echo hi && cat new.txt",
		"sed -n 1,5p a", "find . -name x", "go vet ./...", "for f in a b; do cat $f; done"} {
		if !Scan(c, vars).ReadOnly {
			t.Errorf("%q only reads", c)
		}
	}
}

func TestDetailsOfWrites(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command string
		want    Write
	}{
		{"a copy knows its name in a folder", "cp src/a.txt dest", Write{Path: "dest", Kind: File, Base: "a.txt"}},
		{"a copied tree knows its source", "cd x && cp -r gen out", Write{Path: "x/out", Kind: Tree, Base: "gen", From: "x/gen"}},
		{"wildcards are marked", "rm *.log", Write{Path: "*.log", Kind: File, Glob: true}},
		{"quoted wildcards are names", "rm '*.log'", Write{Path: "*.log", Kind: File}},
		{"a patch knows how many folders to drop", "patch -p2 < x.diff", Write{Path: "x.diff", Kind: Patch, Strip: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Scan(tt.command, vars).Writes; len(got) != 1 || got[0] != tt.want {
				t.Errorf("%q writes %+v, want %+v", tt.command, got, tt.want)
			}
		})
	}
}

// Whatever an agent types, scanning it must end soon, within bounds and
// without a crash.
func FuzzScan(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s.command)
	}
	f.Add("f() { f; f; }; f")
	f.Add("sed -i -E '/a/,$s|[^]a]*(b)|\\1&|g;2c x' a.txt b.txt")
	f.Add("for a in {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}; do for b in {1,2}{1,2}{1,2}{1,2}; do touch $a$b; done; done")
	f.Fuzz(func(t *testing.T, command string) {
		start := time.Now()
		for _, r := range []Result{Scan(command, vars), ScanPowerShell(command, vars)} {
			if len(r.Writes) > maxWrites || r.ReadOnly && len(r.Writes) > 0 {
				t.Errorf("%d writes, read-only %v", len(r.Writes), r.ReadOnly)
			}
			for _, w := range r.Writes {
				if w.Path == "" || w.Kind == "" {
					t.Errorf("incomplete write %+v", w)
				}
			}
			_, _, _ = Apply("one\ntwo a.b\n", r.Edits, func(string) (string, bool) { return "x", true })
		}
		if d := time.Since(start); d > await.Patience {
			t.Errorf("took %v", d)
		}
	})
}
