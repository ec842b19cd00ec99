package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// maxGrep bounds what a search may find.
const maxGrep = 8 << 20

// Grep returns the files in which names stand as whole words, by name: of the
// working tree at root, untracked files too, or of a commit or tree. Only files
// with one of the endings are searched.
func Grep(ctx context.Context, root, treeish string, names, endings []string) (map[string][]string, error) {
	args := []string{"grep", "-I", "-o", "-w", "-F", "-z", "--full-name", "--no-color", "--no-recurse-submodules"}
	if treeish == "" {
		args = append(args, "--untracked")
	}
	for _, n := range names {
		args = append(args, "-e", n)
	}
	if treeish != "" {
		args = append(args, treeish)
	}
	args = append(args, "--")
	for _, e := range endings {
		args = append(args, "*"+e)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := command(ctx, root, args...)
	cmd.Env = append(cmd.Env, "GIT_LITERAL_PATHSPECS=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, gitError(ctx, "grep", "", err)
	}
	out, err := io.ReadAll(io.LimitReader(pipe, maxGrep))
	if len(out) == maxGrep {
		cancel()
		_ = cmd.Wait()
		return nil, odb.ErrTooLarge
	}
	var exit *exec.ExitError
	if waited := cmd.Wait(); err == nil && waited != nil && !(errors.As(waited, &exit) && exit.ExitCode() == 1) {
		err = waited // 1 is that nothing was found
	}
	if err != nil {
		return nil, gitError(ctx, "grep", stderr.String(), err)
	}
	return readGrep(string(out), treeish), nil
}

// readGrep reads lines of a path, a zero byte and what was found there.
func readGrep(out, treeish string) map[string][]string {
	found := map[string][]string{}
	for line := range strings.Lines(out) {
		file, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		if !ok {
			continue
		}
		if treeish != "" {
			file = strings.TrimPrefix(file, treeish+":")
		}
		if have := found[name]; len(have) == 0 || have[len(have)-1] != file {
			found[name] = append(have, file)
		}
	}
	return found
}
