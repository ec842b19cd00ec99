package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
)

// Trees compares pairs of versions through one git process, however many
// pairs: a replay of a repository's history asks for thousands. It is not
// safe for concurrent use.
type Trees struct {
	ctx     context.Context
	root    string
	objects *Objects
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	out     *bufio.Reader
	stderr  bytes.Buffer
}

// pairEnd is a line that git diff-tree --stdin cannot read as an id. It
// echoes such a line and flushes, which tells us that a pair is done.
const pairEnd = "end of pair"

// NewTrees prepares to compare versions in the repository at root, reading
// ids through objects. The process starts with the first pair.
func NewTrees(ctx context.Context, root string, objects *Objects) *Trees {
	return &Trees{ctx: ctx, root: root, objects: objects}
}

func (t *Trees) start() error {
	if t.cmd != nil {
		return nil
	}
	args := append([]string{"diff-tree", "--stdin", "-r", "--no-commit-id"}, diff.MergeArgs...)
	cmd := command(t.ctx, t.root, args...)
	t.stderr.Reset()
	cmd.Stderr = &t.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("git diff-tree: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git diff-tree: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git diff-tree: %w", err)
	}
	t.cmd, t.stdin, t.out = cmd, stdin, bufio.NewReaderSize(stdout, 64<<10)
	return nil
}

// Deltas returns what differs from base to side, each a commit or a tree.
func (t *Trees) Deltas(base, side string) ([]diff.Delta, error) {
	from, err := t.objects.Tree(base)
	if err != nil {
		return nil, err
	}
	to, err := t.objects.Tree(side)
	if err != nil {
		return nil, err
	}
	if err := t.start(); err != nil {
		return nil, err
	}
	deltas, err := t.pair(from, to)
	if err != nil {
		// Git ends at an object that it cannot read, as in a partial clone:
		// the next pair gets a new process.
		if closeErr := t.Close(); closeErr != nil {
			err = closeErr
		}
		return nil, err
	}
	return deltas, nil
}

func (t *Trees) pair(from, to string) ([]diff.Delta, error) {
	if _, err := fmt.Fprintf(t.stdin, "%s %s\n%s\n", from, to, pairEnd); err != nil {
		return nil, fmt.Errorf("git diff-tree: %w", err)
	}
	if _, err := t.out.ReadString('\n'); err != nil { // git repeats the pair
		return nil, fmt.Errorf("git diff-tree: %w", err)
	}
	deltas, err := diff.Read(t.out, pairEnd)
	if err != nil {
		return nil, fmt.Errorf("git diff-tree: %w", err)
	}
	return deltas, nil
}

// Close ends the process.
func (t *Trees) Close() error {
	if t.cmd == nil {
		return nil
	}
	t.stdin.Close()
	_, _ = io.Copy(io.Discard, t.out)
	err := t.cmd.Wait()
	t.cmd = nil
	if err != nil {
		return gitError(t.ctx, "diff-tree", t.stderr.String(), err)
	}
	return nil
}
