//go:build unix

package analysis

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/kept"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
)

// benchLanguages name a fixture with ordinary code for each language.
var benchLanguages = []struct{ name, fixture string }{
	{"go", "go/functions"}, {"typescript", "typescript/types"}, {"tsx", "typescript/broken"},
	{"javascript", "typescript/express"}, {"python", "python/functions"},
	{"java", "java/classes"}, {"kotlin", "kotlin/classes"}, {"csharp", "csharp/classes"}, {"rust", "rust/items"}, {"ruby", "ruby/classes"},
	{"php", "php/classes"}, {"c", "c/source"}, {"cpp", "cpp/classes"}, {"swift", "swift/types"}, {"scala", "scala/types"},
}

// headLine is what a file has once, at its top.
var headLine = regexp.MustCompile(`(?m)^(package|import|use|using|namespace App;|#include|<\?php|require).*\n`)

// longFile repeats the base of a fixture up to n lines. Names are numbered, so
// that the copies are different definitions.
func longFile(tb testing.TB, fixture string, n int) (file string, source []byte) {
	ar, err := txtar.ParseFile(filepath.Join("testdata", fixture+".txtar"))
	if err != nil {
		tb.Fatal(err)
	}
	base := ar.Files[0]
	text := string(base.Data)
	var b strings.Builder
	for i := 0; strings.Count(b.String(), "\n") < n; i++ {
		part := text
		if i > 0 {
			part = headLine.ReplaceAllString(part, "")
		}
		b.WriteString(strings.NewReplacer("User", fmt.Sprintf("User%d", i), "load", fmt.Sprintf("load%d", i), "Parse",
			fmt.Sprintf("Parse%d", i)).Replace(part))
	}
	return strings.TrimPrefix(base.Name, "base/"), []byte(b.String())
}

// BenchmarkTwoThousandLines measures both sides of an edit: reading, facts
// and all, and as a ratio to the bare parse of the two sides.
func BenchmarkTwoThousandLines(b *testing.B) {
	for _, l := range benchLanguages {
		file, source := longFile(b, l.fixture, 2000)
		lang := rules.LanguageOf(file)
		if !outline.CanRead(lang) {
			continue
		}
		half := len(source)/2 + bytes.IndexByte(source[len(source)/2:], '\n')
		edited := append(append(append([]byte(nil), source[:half]...), "\n\n"...), source[half:]...)
		b.Run(l.name, func(b *testing.B) {
			r := references.Open(locate.OnDisk(b.Context(), b.TempDir(), &kept.Book{}), false)
			var parse, whole time.Duration
			for b.Loop() {
				start := ownCPU(b)
				for _, s := range [][]byte{source, edited} {
					bareParse(b, lang, file, s)
				}
				parse += ownCPU(b) - start
				start = ownCPU(b)
				x, y := &extract.Side{File: file, Lang: lang, Source: source}, &extract.Side{File: file, Lang: lang, Source: edited}
				if err := extract.ReadSides(x, y, time.Minute); err != nil {
					b.Fatal(err)
				}
				old, new := x.Version, y.Version
				f := lines.Facts(&diff.Delta{Path: file})
				f.Symbols = symbols.Facts(file, old.Outline, new.Outline, false)
				f.Contracts = contract.Facts(old.Contracts, new.Contracts, false, false)
				f.References = r.References(&f, old, new)
				whole += ownCPU(b) - start
			}
			b.ReportMetric(float64(whole.Microseconds())/1000/float64(b.N), "ms/edit")
			b.ReportMetric(float64(whole)/float64(parse), "x-parse")
		})
	}
}

func bareParse(b *testing.B, lang rules.Language, file string, source []byte) {
	if lang.Name == "go" {
		outline.ParseGo(source, file)
		return
	}
	if _, err := grammar.Parse(lang.Grammar, source, 0); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkWorkingTree measures a whole post_edit, git and all: wall time, and
// the CPU of this process without git's.
func BenchmarkWorkingTree(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(1000)) // as svc hook does for its short life
	for _, lines := range []int{200, 2000} {
		r := newRepo(b)
		file, source := longFile(b, "typescript/types", lines)
		r.write(file, string(source))
		base := r.commit()
		r.write(file, strings.Replace(string(source), "find(id: string)", "find(id: number)", 1))
		for _, tt := range []struct {
			name string
			opts Options
		}{{"whole", Options{}}, {"base given", Options{Base: base}}, {"lines only", Options{Base: base, LinesOnly: true}}} {
			b.Run(fmt.Sprintf("%d lines/%s", lines, tt.name), func(b *testing.B) {
				var cpu []time.Duration
				for b.Loop() {
					start := ownCPU(b)
					a, err := WorkingTree(b.Context(), r.root, []string{file}, tt.opts)
					if err != nil || len(a.Files) != 1 || len(a.Files[0].Hunks) != 1 {
						b.Fatal(a, err)
					}
					cpu = append(cpu, ownCPU(b)-start)
				}
				slices.Sort(cpu)
				b.ReportMetric(float64(cpu[len(cpu)/2].Microseconds())/1000, "p50-own-cpu-ms")
				b.ReportMetric(float64(cpu[len(cpu)*95/100].Microseconds())/1000, "p95-own-cpu-ms")
			})
		}
	}
}

func ownCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
