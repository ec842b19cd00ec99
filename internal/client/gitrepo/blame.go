package gitrepo

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// Authors returns the addresses of those who changed lines of a file last, by
// line, as of a commit. Lines that the file does not have make it fail.
func Authors(ctx context.Context, root, commit, path string, lines []int) (map[int]string, error) {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	args := []string{"blame", "--line-porcelain", "--no-textconv"}
	for from, to := 0, 0; from < len(lines); from = to {
		for to = from + 1; to < len(lines) && lines[to] <= lines[to-1]+1; {
			to++
		}
		args = append(args, "-L", strconv.Itoa(lines[from])+","+strconv.Itoa(lines[to-1]))
	}
	out, err := output(ctx, root, append(args, commit, "--", path)...)
	if err != nil {
		return nil, err
	}
	authors := map[int]string{}
	line := 0
	for text := range strings.Lines(string(out)) {
		text = strings.TrimRight(text, "\n")
		switch f := strings.Fields(text); {
		case strings.HasPrefix(text, "\t"): // the line itself
			line = 0
		case line == 0 && len(f) >= 3 && odb.CommitID(f[0]) != "":
			line, _ = strconv.Atoi(f[2])
		case strings.HasPrefix(text, "author-mail "):
			authors[line] = strings.Trim(strings.TrimPrefix(text, "author-mail "), "<>")
		}
	}
	return authors, nil
}
