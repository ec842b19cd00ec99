package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A Commit is one line of a history.
type Commit struct {
	ID        string
	Parents   []string
	Committed int64 // seconds since 1970
	Author    string
	Email     string
}

// Log hands every commit that is reachable from the given revisions to visit,
// each before its parents. Revisions may be options such as --glob=refs/x.
func (r *Repo) Log(ctx context.Context, revisions []string, visit func(Commit)) error {
	args := append([]string{"log", "--topo-order", "--no-show-signature", "--no-color", "--no-mailmap",
		"--format=tformat:%H%x00%P%x00%ct%x00%an%x00%ae"}, revisions...)
	cmd := r.bare(ctx, append(args, "--")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git log: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git log: %w", err)
	}
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	var bad error
	for s.Scan() {
		f := strings.Split(s.Text(), "\x00")
		if len(f) != 5 {
			bad = fmt.Errorf("unexpected output of git log: %.80q", s.Text())
			continue
		}
		at, _ := strconv.ParseInt(f[2], 10, 64)
		visit(Commit{ID: f[0], Parents: strings.Fields(f[1]), Committed: at, Author: f[3], Email: f[4]})
	}
	if err := s.Err(); err != nil {
		bad = err
	}
	if err := cmd.Wait(); err != nil {
		return gitError(ctx, "log", stderr.String(), err)
	}
	return bad
}

// Subjects returns the first lines of the messages of commits.
func (r *Repo) Subjects(ctx context.Context, ids []string) (map[string]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	cmd := r.bare(ctx, "log", "--no-walk=unsorted", "--stdin", "--no-color", "--no-show-signature", "--format=tformat:%H%x00%s")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, gitError(ctx, "log", stderr.String(), err)
	}
	subjects := make(map[string]string, len(ids))
	for line := range strings.Lines(string(out)) {
		id, subject, _ := strings.Cut(strings.TrimRight(line, "\n"), "\x00")
		subjects[id] = strings.ToValidUTF8(subject, "�")
	}
	return subjects, nil
}

// A NamedRef is a reference and the commit it leads to.
type NamedRef struct{ Name, Commit string }

// Refs returns the references that match any of the patterns of git
// for-each-ref and lead to a commit.
func (r *Repo) Refs(ctx context.Context, patterns []string) ([]NamedRef, error) {
	args := append([]string{
		"for-each-ref", "--format=%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)", "--",
	}, patterns...)
	out, err := run(ctx, "for-each-ref", r.bare(ctx, args...))
	if err != nil {
		return nil, err
	}
	var refs []NamedRef
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\x00")
		switch {
		case len(f) != 5:
			return nil, fmt.Errorf("unexpected output of git for-each-ref: %.80q", line)
		case f[1] == "commit":
			refs = append(refs, NamedRef{f[0], f[2]})
		case f[3] == "commit":
			refs = append(refs, NamedRef{f[0], f[4]})
		}
	}
	return refs, nil
}

// LastChange returns the last commit after base, up to tip, that changed a file,
// and its subject.
func (r *Repo) LastChange(ctx context.Context, base, tip, path string) (id, subject string) {
	out, err := run(ctx, "log", command(ctx, r.GitDir, "log", "-1", "--format=%H %s", base+".."+tip, "--", path))
	if err != nil {
		return tip, ""
	}
	id, subject, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	return id, subject
}

// Commit returns the id of the commit that a revision names.
func (r *Repo) Commit(ctx context.Context, revision string) (string, error) {
	if rest, ok := strings.CutPrefix(revision, "HEAD"); ok && r.plainJJ() {
		revision = r.Head().SHA + rest
	}
	out, err := run(ctx, "rev-parse", r.bare(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"))
	if err != nil {
		return "", fmt.Errorf("%s is no commit of this repository", revision)
	}
	return strings.TrimSpace(string(out)), nil
}
