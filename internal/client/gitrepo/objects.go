package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// Objects reads objects through one git process, however many are asked for.
// It is not safe for concurrent use.
type Objects struct {
	ctx   context.Context
	root  string
	store *odb.Store // asked first; nil before the first question
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// NewObjects prepares to read objects of the repository at root. The process
// starts with the first question.
func NewObjects(ctx context.Context, root string) *Objects {
	return &Objects{ctx: ctx, root: root}
}

func (o *Objects) start() error {
	if o.cmd != nil {
		return nil
	}
	cmd := command(o.ctx, o.root, "cat-file", "--batch")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	o.cmd, o.stdin, o.out = cmd, stdin, bufio.NewReaderSize(stdout, 64<<10)
	return nil
}

// ask sends a name and returns the object's id, type and size; its content
// and a newline follow.
func (o *Objects) ask(name string) (id, kind string, size int64, err error) {
	if strings.ContainsAny(name, "\n\x00") {
		return "", "", 0, fmt.Errorf("%q: %w", name, odb.ErrMissing)
	}
	if err := o.start(); err != nil {
		return "", "", 0, err
	}
	if _, err := io.WriteString(o.stdin, name+"\n"); err != nil {
		return "", "", 0, gitError(o.ctx, "cat-file", "", err)
	}
	head, err := o.out.ReadString('\n')
	if err != nil {
		return "", "", 0, gitError(o.ctx, "cat-file", "", err)
	}
	f := strings.Fields(head)
	if len(f) != 3 || f[1] == "ambiguous" {
		return "", "", 0, fmt.Errorf("%q: %w", name, odb.ErrMissing)
	}
	if size, err = strconv.ParseInt(f[2], 10, 64); err != nil {
		return "", "", 0, fmt.Errorf("%q: %w", name, odb.ErrMissing)
	}
	return f[0], f[1], size, nil
}

// Blob returns the content of an object, or odb.ErrTooLarge when it has more than
// limit bytes.
func (o *Objects) Blob(name string, limit int64) ([]byte, error) {
	if data, err := o.stored(name, limit); err == nil {
		return data, nil
	}
	_, kind, size, err := o.ask(name)
	if err != nil {
		return nil, err
	}
	if size > limit || kind != "blob" {
		if _, err := io.CopyN(io.Discard, o.out, size+1); err != nil {
			return nil, gitError(o.ctx, "cat-file", "", err)
		}
		if kind != "blob" {
			return nil, fmt.Errorf("%q is a %s: %w", name, kind, odb.ErrMissing)
		}
		return nil, fmt.Errorf("%q has %d bytes: %w", name, size, odb.ErrTooLarge)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(o.out, data); err != nil {
		return nil, gitError(o.ctx, "cat-file", "", err)
	}
	return data[:size], nil
}

// stored reads a blob without git, if it can.
func (o *Objects) stored(name string, limit int64) ([]byte, error) {
	if o.store == nil {
		repo, ok := At(o.root)
		if !ok {
			if repo, ok = atGitDir(o.root); !ok {
				return nil, odb.ErrMissing
			}
		}
		o.store = repo.Store()
	}
	kind, data, err := o.store.Read(name, limit)
	if err == nil && kind != "blob" {
		err = odb.ErrMissing
	}
	return data, err
}

// Tree returns the id of the tree of a commit or tree.
func (o *Objects) Tree(treeish string) (string, error) {
	id, kind, size, err := o.ask(treeish + "^{tree}")
	if err != nil {
		return "", err
	}
	if _, err := io.CopyN(io.Discard, o.out, size+1); err != nil {
		return "", gitError(o.ctx, "cat-file", "", err)
	}
	if kind != "tree" {
		return "", fmt.Errorf("%q: %w", treeish, odb.ErrMissing)
	}
	return id, nil
}

// Close ends the process.
func (o *Objects) Close() error {
	if o.store != nil {
		o.store.Close()
		o.store = nil
	}
	if o.cmd == nil {
		return nil
	}
	o.stdin.Close()
	_, _ = io.Copy(io.Discard, o.out)
	err := o.cmd.Wait()
	o.cmd = nil
	if err != nil {
		return gitError(o.ctx, "cat-file", "", err)
	}
	return nil
}

// Entries lists the files of a tree, all or those under the given paths.
func Entries(ctx context.Context, root, treeish string, paths []string) ([]odb.Entry, error) {
	args := append([]string{"ls-tree", "-r", "-l", "-z", "--full-tree", treeish, "--"}, paths...)
	out, err := output(ctx, root, args...)
	if err != nil {
		return nil, err
	}
	var entries []odb.Entry
	for rec := range bytes.SplitSeq(out, []byte{0}) {
		head, path, ok := strings.Cut(string(rec), "\t")
		if !ok {
			continue
		}
		f := strings.Fields(head)
		if len(f) != 4 {
			return nil, fmt.Errorf("unexpected output of git ls-tree: %.80q", rec)
		}
		mode, err := strconv.ParseInt(f[0], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("unexpected output of git ls-tree: %.80q", rec)
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			size = -1
		}
		entries = append(entries, odb.Entry{Path: path, Mode: int(mode), ID: f[2], Size: size})
	}
	return entries, nil
}

// Files lists the paths that git keeps track of in a working tree.
func Files(ctx context.Context, root string) ([]string, error) {
	if repo, ok := At(root); ok {
		if files, err := repo.Indexed(); err == nil {
			return files, nil
		}
	}
	out, err := output(ctx, root, "ls-files", "-z", "--full-name")
	if err != nil {
		return nil, err
	}
	return nulTexts(out), nil
}
