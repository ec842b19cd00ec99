//go:build unix

package mergecheck_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/mergecheck"
	"github.com/svc-hq/svc/internal/gittest"
)

// The goal is two seconds of CPU for one related pair in a repository of a
// hundred thousand lines, once the caches are warm.

const (
	benchPackages = 200
	benchFiles    = 2
	benchBlocks   = 28 // of nine lines in each file
)

// goRepository is a hundred thousand lines of Go: packages in layers, each of
// which uses three of those below.
func goRepository() files {
	out := files{"go.mod": "module example.org/big\n\ngo 1.21\n"}
	for p := range benchPackages {
		for f := range benchFiles {
			var b strings.Builder
			fmt.Fprintf(&b, "package p%d\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n", p)
			uses := below(p)
			for _, u := range uses {
				fmt.Fprintf(&b, "\n\t\"example.org/big/p%d\"", u)
			}
			fmt.Fprintf(&b, "\n)\n")
			for i := range benchBlocks {
				call := "len(name)"
				if len(uses) > 0 {
					u := uses[i%len(uses)]
					call = fmt.Sprintf("p%d.Count%d_%d(name, %d)", u, f, i, i)
				}
				fmt.Fprintf(&b, "\n// Count%d_%d counts.\nfunc Count%d_%d(name string, from int) int {\n\ttotal := from\n"+
					"\tfor _, part := range strings.Split(fmt.Sprint(name, from), \",\") {\n"+
					"\t\ttotal += len(part) + %s\n\t}\n\treturn total\n}\n", f, i, f, i, call)
			}
			out[fmt.Sprintf("p%d/f%d.go", p, f)] = b.String()
		}
	}
	return out
}

// tsRepository is the same in TypeScript.
func tsRepository() files {
	out := files{".gitignore": "node_modules\n", "tsconfig.json": `{"compilerOptions": {"strict": true, "types": [], "target": "es2022", ` +
		`"module": "es2022", "moduleResolution": "bundler"}, "include": ["src"]}`}
	for p := range benchPackages {
		for f := range benchFiles {
			var b strings.Builder
			uses := below(p)
			for _, u := range uses {
				fmt.Fprintf(&b, "import * as p%d from \"../p%d/f%d\"\n", u, u, f)
			}
			for i := range benchBlocks {
				call := "name.length"
				if len(uses) > 0 {
					u := uses[i%len(uses)]
					call = fmt.Sprintf("p%d.count%d(name, %d)", u, i, i)
				}
				fmt.Fprintf(&b, "\n// count%d counts.\nexport function count%d(name: string, from: number): number {\n  let total = from\n"+
					"  for (const part of `${name} ${from}`.split(\",\").map((x) => x.trim())) {\n"+
					"    total += part.length + %s\n  }\n  return total\n}\n", i, i, call)
			}
			out[fmt.Sprintf("src/p%d/f%d.ts", p, f)] = b.String()
		}
	}
	return out
}

func below(p int) (out []int) {
	for _, u := range []int{p - 1, p / 2, p / 3} {
		if u >= 0 && u < p && (len(out) == 0 || out[len(out)-1] != u) {
			out = append(out, u)
		}
	}
	return out
}

// cpu is what this process, those it waited for and a compiler that stays have
// used, in seconds.
func cpu(b *testing.B) float64 {
	var total float64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err != nil {
			b.Fatal(err)
		}
		total += float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		b.Fatal("what a compiler uses that stays can only be told where there is /proc")
	}
	for _, name := range stats {
		data, _ := os.ReadFile(name)                                             // it may be gone
		words := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from the state on
		if len(words) > 12 && words[1] == strconv.Itoa(os.Getpid()) {
			user, _ := strconv.Atoi(words[11])
			system, _ := strconv.Atoi(words[12])
			total += float64(user+system) / 100
		}
	}
	return total
}

// BenchmarkMergeCheck checks pairs that are related: one side changes what
// others rely on in the middle of the repository, the other a file that uses it.
// Every time the changes are others, and the pair is fine, or broken.
func BenchmarkMergeCheck(b *testing.B) {
	for _, lang := range []struct {
		name    string
		base    files
		lib     string
		use     string
		text    string // of a new definition
		mention string // of the definition that the other side changed
		install func(t testing.TB, root string)
	}{
		{"Go", goRepository(), "p99/f0.go", "p100/f0.go", "\nfunc New%d() int { return %d }\n", "\nvar X%d = p99.Count0_0(\"a\", 1)\n", nil},
		{"TypeScript", tsRepository(), "src/p99/f0.ts", "src/p100/f0.ts", "\nexport function fresh%d(): number { return %d }\n",
			"\nexport const x%d = p99.count0(\"a\", 1)\n", installed("typescript", "web/node_modules")},
	} {
		p := newPair(b, lang.base, files{lang.lib: lang.base[lang.lib] + fmt.Sprintf(lang.text, 0, 0)},
			files{lang.use: lang.base[lang.use] + fmt.Sprintf(lang.text, 0, 0)})
		p.trusted, p.warm = true, time.Minute
		b.Cleanup(func() { mergecheck.Cool(filepath.Dir(p.dir)) })
		if lang.install != nil {
			lang.install(b, p.root)
		}
		p.check()
		lines := 0
		for _, text := range lang.base {
			lines += strings.Count(text, "\n")
		}
		again := 0
		for _, broken := range []bool{false, true} {
			b.Run(lang.name+map[bool]string{false: "/fine", true: "/broken"}[broken], func(b *testing.B) {
				var used float64
				for range b.N {
					again++
					for i, file := range []string{lang.lib, lang.use} {
						gittest.Run(b, p.root, "checkout", "-q", fmt.Sprintf("side%d", i))
						text := lang.base[file] + fmt.Sprintf(lang.text, again, again)
						if broken && i == 0 {
							text = strings.Replace(text, "from int)", "from string)", 1)
							text = strings.Replace(text, "from: number)", "from: string)", 1)
							text = strings.Replace(text, "total := from\n", "total := len(from)\n", 1)
							text = strings.Replace(text, "let total = from\n", "let total = from.length\n", 1)
						}
						if broken && i == 1 {
							text += fmt.Sprintf(lang.mention, again)
						}
						gittest.Write(b, p.root, file, text)
						gittest.Run(b, p.root, "commit", "-q", "-a", "-m", "more")
						p.heads[i] = gittest.Run(b, p.root, "rev-parse", "HEAD")
					}
					before := cpu(b)
					r := p.check()
					used += cpu(b) - before
					if len(r.Checkers) != 1 || broken != (len(r.New) > 0) {
						b.Fatalf("told %v, ran %q, skipped %q", r.New, r.Checkers, r.Skipped)
					}
				}
				b.ReportMetric(used/float64(b.N), "cpu-s/op")
				b.ReportMetric(float64(lines), "lines")
			})
		}
	}
}
