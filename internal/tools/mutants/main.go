// Mutants makes small mistakes in the code, one at a time, and runs the tests
// that ought to notice:
//
//	go run ./internal/tools/mutants [-only engine] [-per 40] [-time 30m] [-seed 1]
//
// It takes a sample of the mistakes in each part, writes nothing into the
// repository (the mutant goes to go test as an overlay), and prints those that
// no test noticed. What docs/lab/mutants.md lists is known and explained there; it
// exits with 1 if something else survived. It is no part of CI: it takes long.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A part is code whose mistakes cost most, and the tests that watch over it.
type part struct {
	name  string
	files []string // patterns
	tests []string // arguments of go test
}

var parts = []part{
	{"engine", []string{"internal/core/engine/*.go"}, []string{"./internal/core/engine"}},
	{
		"settle",
		[]string{"internal/server/ops/*/settle.go"},
		[]string{"-run", "^(TestStories|TestWhatIsLive|TestTenDeclare)", "./internal/server/stories"},
	},
	{"live", []string{"internal/server/live/*.go"}, []string{"./internal/server/live"}},
	{
		"auth",
		[]string{"internal/server/auth/*.go"},
		[]string{"./internal/server/auth", "./internal/server/rest", "./internal/server/ops/people"},
	},
	{"jobs", []string{"internal/server/jobs/*.go"}, []string{"./internal/server/jobs"}},
	{"shellscan", []string{"internal/client/shellscan/*.go"}, []string{"./internal/client/shellscan"}},
}

func main() {
	only := flag.String("only", "", "one part: engine, settle, live, auth, jobs or shellscan")
	per := flag.Int("per", 40, "mutants of each part, at most")
	budget := flag.Duration("time", 30*time.Minute, "for everything")
	each := flag.Duration("each", 2*time.Minute, "for the tests of one mutant; one that hangs counts as noticed")
	seed := flag.Uint64("seed", 1, "of the sample")
	flag.Parse()
	ctx, stop := context.WithTimeout(context.Background(), *budget)
	defer stop()
	known, err := os.ReadFile("docs/lab/mutants.md")
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants: run it in the top folder of the repository:", err)
		os.Exit(2)
	}
	unknown := 0
	for _, p := range parts {
		if *only != "" && p.name != *only {
			continue
		}
		n, err := p.run(ctx, *per, *each, *seed, string(known))
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		unknown += n
	}
	if unknown > 0 {
		fmt.Printf("%d survived that docs/lab/mutants.md does not explain: write a test, or explain them there\n", unknown)
		os.Exit(1)
	}
}

// run tries a sample of a part's mutants and returns how many survived that
// nobody has explained.
func (p part) run(ctx context.Context, per int, each time.Duration, seed uint64, known string) (unknown int, err error) {
	all, err := p.mutants()
	if err != nil {
		return 0, err
	}
	if out, verdict := p.try(ctx, mutant{}, each); verdict != survived {
		return 0, fmt.Errorf("the tests of %s fail without a mutant:\n%s", p.name, out)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	tried, explained := 0, 0
	for _, m := range all {
		if tried == per || ctx.Err() != nil {
			break
		}
		switch _, verdict := p.try(ctx, m, each); {
		case verdict == invalid:
			continue
		case verdict == survived && strings.Contains(known, m.name()):
			explained++
		case verdict == survived:
			unknown++
			fmt.Printf("survived: %s:%d\n  %s\n", m.file, m.line, m.name())
		}
		tried++
	}
	fmt.Printf("%s: %d of %d mutants tried, %d survived, %d of them explained\n", p.name, tried, len(all), unknown+explained, explained)
	return unknown, nil
}

func (p part) mutants() (all []mutant, err error) {
	for _, pattern := range p.files {
		files, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			src, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			ms, err := mutate(filepath.ToSlash(f), src)
			if err != nil {
				return nil, err
			}
			all = append(all, ms...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no code to mutate: its files have moved", p.name)
	}
	return all, nil
}

type verdict int

const (
	killed   verdict = iota
	survived         // no test noticed
	invalid          // it does not build
)

// try runs the part's tests on a mutant; on the code as it is if m is empty.
func (p part) try(ctx context.Context, m mutant, each time.Duration) (string, verdict) {
	args := []string{"test", "-count=1", "-failfast", "-timeout", each.String()}
	if m.file != "" {
		overlay, done, err := m.overlay()
		if err != nil {
			return err.Error(), invalid
		}
		defer done()
		args = append(args, "-overlay", overlay)
	}
	ctx, stop := context.WithTimeout(ctx, each+time.Minute)
	defer stop()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append(args, p.tests...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	switch {
	case err == nil:
		return out.String(), survived
	case strings.Contains(out.String(), "[build failed]") || strings.Contains(out.String(), "[setup failed]"):
		return out.String(), invalid
	}
	return out.String(), killed
}

// overlay writes the file by which go test sees the mutant.
func (m mutant) overlay() (path string, done func(), err error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	file, err := filepath.Abs(m.file)
	if err != nil {
		return "", done, err
	}
	copy := filepath.Join(dir, filepath.Base(m.file))
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{file: copy}})
	if err != nil {
		return "", done, err
	}
	path = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(copy, m.text, 0o600); err != nil {
		return "", done, err
	}
	return path, done, os.WriteFile(path, text, 0o600)
}
