// Breaks makes breaking and compatible changes to public backends of one API at
// places drawn at random, plays each through the real hooks of a person whose
// colleague has a frontend of that API, and counts what is told.
//
//	go run ./internal/tools/breaks [-seed N] [-each N] [-only TEXT] [-v] TRUTH MIRRORS
//	go run ./internal/tools/breaks -calls TABLE [...] TRUTH MIRRORS
//
// TRUTH and MIRRORS are those of the contracts tool. A change is breaking by how
// it is made, whatever svc thinks of it: a field's name is replaced in the whole
// backend, or a part of a route's path. A compatible one replaces a name that is
// no word of the API, or adds a remark. With -calls the programs are those of a
// table of calls, as the contracts tool has them: servers and clients of several
// APIs, each pair by itself.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the places")
	each := flag.Int("each", 3, "breaking changes for each backend, and as many compatible ones")
	only := flag.String("only", "", "only backends whose row contains this")
	frontend := flag.String("frontend", "gothinkster/angular-realworld-example-app", "that uses the API")
	calls := flag.String("calls", "", "play instead the servers and clients of this table of calls")
	field := flag.String("field", "", "draw this field alone")
	verbose := flag.Bool("v", false, "say each change")
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	p := &play{truth: flag.Arg(0), mirrors: flag.Arg(1), each: *each, only: *only, frontend: *frontend, verbose: *verbose,
		chance: rand.New(rand.NewPCG(*seed, 1)), pathWord: pathWord, field: *field}
	run := p.run
	if *calls != "" {
		run = func() error { return p.pairs(*calls) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "breaks:", err)
		os.Exit(1)
	}
}

// A play is one run.
type play struct {
	truth, mirrors, only, frontend string
	field                          string
	each                           int
	verbose                        bool
	chance                         *rand.Rand
	words                          map[string]bool // of the API
	fields                         []string        // of replies
	rows                           []map[string]string
	pathWord                       *regexp.Regexp // a word of a route, as the second group
	every                          bool           // a route's word is changed wherever a route has it
}

// load reads the truth.
func (p *play) load() error {
	p.words = map[string]bool{}
	routes, err := table(filepath.Join(p.truth, "routes.tsv"))
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, r := range routes {
		for _, column := range []string{"in_envelope", "in_fields", "out_envelope", "out_fields"} {
			for w := range strings.FieldsSeq(strings.ReplaceAll(r[column], "?", "")) {
				p.words[strings.ToLower(w)] = true
				if column == "out_fields" && !seen[w] {
					seen[w] = true
					p.fields = append(p.fields, w)
				}
			}
		}
		for w := range strings.FieldsFuncSeq(r["path"], func(c rune) bool { return c == '/' || c == '{' || c == '}' }) {
			p.words[strings.ToLower(w)] = true
		}
	}
	p.rows, err = table(filepath.Join(p.truth, "repos.tsv"))
	return err
}

// table reads lines of fields separated by tabs, the first the headings.
func table(file string) ([]map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var heads []string
	var out []map[string]string
	for scan := bufio.NewScanner(f); scan.Scan(); {
		if scan.Text() == "" || strings.HasPrefix(scan.Text(), "#") {
			continue
		}
		fields := strings.Split(scan.Text(), "\t")
		if heads == nil {
			heads = fields
			continue
		}
		r := map[string]string{}
		for i, h := range heads[:min(len(heads), len(fields))] {
			r[h] = fields[i]
		}
		out = append(out, r)
	}
	return out, nil
}

func (p *play) run() error {
	if err := p.load(); err != nil {
		return err
	}
	st, err := newStage()
	if err != nil {
		return err
	}
	defer st.close()
	var front map[string]string
	for _, r := range p.rows {
		if r["repo"] == p.frontend {
			front = r
		}
	}
	if front == nil {
		return fmt.Errorf("%s is not among the repositories", p.frontend)
	}
	var all tally
	all.head("backend")
	for _, r := range p.rows {
		if r["role"] != "backend" || !strings.Contains(r["repo"]+r["stack"]+r["lang"], p.only) {
			continue
		}
		one, err := p.backend(st, r, front)
		if err != nil {
			return fmt.Errorf("%s: %w", r["repo"], err)
		}
		all.add(r["repo"], one)
	}
	all.end()
	return nil
}

// A tally counts what was told: of breaking changes, and of compatible ones.
type tally struct{ told, breaks, alarms, harmless int }

func (t *tally) head(what string) {
	fmt.Printf("| %s | breaking changes told | of | false alarms | of |\n|---|---|---|---|---|\n", what)
}

func (t *tally) add(what string, one tally) {
	fmt.Printf("| %s | %d | %d | %d | %d |\n", what, one.told, one.breaks, one.alarms, one.harmless)
	*t = tally{t.told + one.told, t.breaks + one.breaks, t.alarms + one.alarms, t.harmless + one.harmless}
}

func (t *tally) end() {
	fmt.Printf("| all | %d (%.0f %%) | %d | %d (%.0f %%) | %d |\n", t.told, share(t.told, t.breaks), t.breaks,
		t.alarms, share(t.alarms, t.harmless), t.harmless)
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
