// Contracts scores what svc finds of the contracts in public repositories whose
// truth is written elsewhere, and prints the tables of docs/lab/contracts.md.
//
//	go run ./internal/tools/contracts [-v] [-only TEXT] TRUTH MIRRORS
//	go run ./internal/tools/contracts -documents LIST TRUTH MIRRORS
//	go run ./internal/tools/contracts -strangers LIST TRUTH MIRRORS
//	go run ./internal/tools/contracts -calls TABLE TRUTH MIRRORS
//	go run ./internal/tools/contracts -keys OWNER/NAME TRUTH MIRRORS
//
// TRUTH holds three tables with a line of headings: routes.tsv (the routes of
// one public API: n, method, path, in_envelope, in_fields, out_envelope,
// out_fields), repos.tsv (repositories that serve or use it: repo, commit, role,
// lang, stack, prefix, and the numbers of the routes that it lacks), links.tsv
// (true links between services: system, user, user_commit, user_under, provider,
// provider_commit, provider_under, key). MIRRORS holds the repositories as
// owner/name.git.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/core/coord"
)

func main() {
	verbose := flag.Bool("v", false, "list what was missed and what is no route")
	fields := flag.Bool("fields", false, "with -v: also the fields that were missed")
	only := flag.String("only", "", "only repositories whose row contains this")
	documents := flag.String("documents", "", "score instead the repositories that this file lists against the API documents in them")
	strangers := flag.String("strangers", "", "count instead what meets between the repositories that this file lists, each another program")
	calls := flag.String("calls", "", "score instead what is told of the calls in this table (testdata/calls.tsv), all in one org")
	keep := flag.String("keep", "", "keep what is read of repositories in this folder, and take it from there the next time")
	keys := flag.String("keys", "", "list instead what is found in this repository, by file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	s := &score{ctx: ctx, truth: flag.Arg(0), mirrors: flag.Arg(1), verbose: *verbose, fieldsToo: *fields, only: *only, keep: *keep,
		read: map[string][]found{}, texts: map[string]map[string][]coord.Candidate{}}
	run := s.run
	if *documents != "" {
		run = func() error { return s.documents(*documents) }
	}
	if *strangers != "" {
		run = func() error { return s.strangers(*strangers) }
	}
	if *calls != "" {
		run = func() error { return s.calls(*calls) }
	}
	if *keys != "" {
		run = func() error { return s.list(*keys) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "contracts:", err)
		os.Exit(1)
	}
}

// A row is a line of a table by its headings.
type row map[string]string

// table reads a table: lines of fields separated by tabs, the first the
// headings. A line that begins with # is a comment.
func table(file string) ([]row, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var heads []string
	var out []row
	for scan := bufio.NewScanner(f); scan.Scan(); {
		line := scan.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if heads == nil {
			heads = fields
			continue
		}
		r := row{}
		for i, h := range heads {
			if i < len(fields) {
				r[h] = fields[i]
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// A found contract is one that svc sends for a file.
type found struct {
	coord.ContractFacts
	file string
}

// list prints what is found in a repository, to be read beside its code.
func (s *score) list(repo string) error {
	all, err := s.scan(repo, "HEAD")
	fmt.Fprintf(os.Stderr, "%s: %d files in %s, %d of them ended their reader\n", repo, len(s.texts[repo]), s.spent.Round(time.Second), s.died)
	for _, f := range all {
		fmt.Printf("%s\t%s\t%s\n", f.file, f.Role, f.Key)
	}
	return err
}

// scan reads one version of a repository as svc index does.
func (s *score) scan(repo, commit string) ([]found, error) {
	id := repo + "@" + commit
	if known, ok := s.read[id]; ok {
		return known, nil
	}
	if s.kept(repo, commit) {
		return s.read[id], nil
	}
	out, texts := []found{}, map[string][]coord.Candidate{}
	root := filepath.Join(s.mirrors, repo+".git")
	start := time.Now()
	err := analysis.Scan(s.ctx, root, analysis.ScanOptions{Version: commit, Budget: 10 * time.Minute}, func(b analysis.Batch) error {
		s.died += len(b.Died)
		for _, f := range b.Analysis.Files {
			texts[f.Path] = f.Candidates
			for _, c := range f.Contracts {
				out = append(out, found{c, f.Path})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", repo, err)
	}
	s.spent += time.Since(start)
	s.read[id], s.texts[repo] = out, texts
	return out, s.save(repo, commit)
}
