package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
)

// Unlike returns those of some files whose bytes are not the base's, gone ones
// and new ones that git does not ignore too. It asks git about new files alone,
// so what it costs does not grow with the repository. Where only git can tell it
// returns an error.
func Unlike(ctx context.Context, root, base string, paths []string) ([]string, error) {
	q, err := newQuick(ctx, root, base)
	if err != nil {
		return nil, err
	}
	defer q.store.Close()
	var out, fresh []string
	for _, p := range paths {
		entry, err := q.store.Entry(base, p)
		if err != nil {
			return nil, errSlow
		}
		if q.inOther(p) {
			continue
		}
		name := filepath.Join(root, filepath.FromSlash(p))
		switch info, err := os.Lstat(name); {
		case errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			if entry != nil {
				out = append(out, p)
			}
		case err != nil:
			return nil, errSlow
		case info.IsDir():
			if entry != nil {
				return nil, errSlow // a file has become a folder, or it is another repository
			}
		case entry == nil:
			fresh = append(fresh, p)
		default:
			same, err := q.same(name, info, entry)
			if err != nil {
				return nil, err
			}
			if !same {
				out = append(out, p)
			}
		}
	}
	ignored, err := q.repo.Ignored(ctx, fresh)
	if err != nil {
		return nil, err
	}
	for _, p := range fresh {
		if !ignored[p] {
			out = append(out, p)
		}
	}
	return out, nil
}

func (q *quick) same(name string, info os.FileInfo, entry *odb.Entry) (bool, error) {
	mode := 0o100644
	if info.Mode()&0o100 != 0 {
		mode = 0o100755
	}
	if !info.Mode().IsRegular() || info.Size() > maxQuick || entry.Mode != 0o100644 && entry.Mode != 0o100755 {
		return false, errSlow
	}
	content, err := plain.ReadHere(name, maxQuick)
	if err != nil {
		return false, errSlow
	}
	return entry.Mode == mode && q.store.BlobID(content) == entry.ID, nil
}

// Ignored returns those of some files that git ignores. Files that it keeps track
// of never are.
func (r *Repo) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	cmd := command(ctx, r.Root, "check-ignore", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1 is that none is
		return nil, gitError(ctx, "check-ignore", stderr.String(), err)
	}
	out := map[string]bool{}
	for _, p := range nulTexts(text) {
		out[p] = true
	}
	return out, nil
}
