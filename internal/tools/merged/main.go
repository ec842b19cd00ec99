// Command merged says what merge checks add to what svc tells of breaks: it
// merges the pairs of a judged sample (the rows of internal/tools/proof) and has
// the languages' own checkers look, as svc check --against does.
//
//	go run ./internal/tools/merged rows.tsv clones
//
// The folder has working clones as owner/name, with what their checkers need
// (node_modules, fetched crates and modules). Their code is trusted: run it only
// on what you would build.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/mergecheck"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: merged ROWS CLONES")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run checks every row and prints it, and at the end how many breaks were told.
func run(ctx context.Context, rows, clones string) error {
	data, err := os.ReadFile(rows)
	if err != nil {
		return err
	}
	reports := map[string]*mergecheck.Report{}
	told, of := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(data)) {
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(c) < 6 || strings.HasPrefix(line, "#") {
			continue
		}
		key := strings.Join(c[:4], " ")
		r := reports[key]
		if r == nil {
			if r, err = check(ctx, filepath.Join(clones, filepath.FromSlash(c[0])), c[2], c[3]); err != nil {
				r = &mergecheck.Report{Skipped: []string{err.Error()}}
			}
			reports[key] = r
		}
		verdict := c[5]
		of[verdict]++
		said := about(r, c[4])
		if said != "" {
			told[verdict]++
		}
		fmt.Printf("%s\t%s\t%s\t%s\tran %q, skipped %q, told %d\t%s\n", c[0], c[4], verdict, c[3][:8], r.Checkers, r.Skipped, len(r.New), said)
	}
	for verdict, n := range of {
		fmt.Printf("%s: told %d of %d\n", verdict, told[verdict], n)
	}
	return nil
}

// about is the first thing that a report says of a definition.
func about(r *mergecheck.Report, definition string) string {
	name := definition[strings.LastIndexAny(definition, "#.:")+1:]
	for _, f := range r.New {
		if strings.Contains(f.Text, name) {
			return f.String()
		}
	}
	return ""
}

// check merges two commits of a clone.
func check(ctx context.Context, clone, a, b string) (*mergecheck.Report, error) {
	repo, ok := gitrepo.At(clone)
	if !ok {
		return nil, fmt.Errorf("%s is no clone", clone)
	}
	objects, err := os.MkdirTemp("", "svc-merged-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(objects)
	ctx = gitrepo.WithObjects(ctx, objects)
	base, err := repo.MergeBase(ctx, a, b)
	if err != nil || base == "" {
		return nil, fmt.Errorf("no common history: %w", err)
	}
	c := mergecheck.Check{
		Repo:    repo,
		Objects: objects,
		Heads:   [2]string{a, b},
		Dir:     filepath.Join(clone, ".git", "svc-merged"),
		Trusted: true,
		Timeout: 15 * time.Minute,
	}
	for i, head := range c.Heads {
		if c.Changed[i], err = repo.Changed(ctx, base, head); err != nil {
			return nil, err
		}
	}
	return mergecheck.Run(ctx, c)
}
