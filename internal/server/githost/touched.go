package githost

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/svc-hq/svc/internal/core/limit"
)

// maxTouched is how many files of a pull request GitHub lists at most.
const maxTouched = 3000

func addNames(out *limit.List[string], names ...string) {
	for _, n := range names {
		if n != "" {
			out.Add(2*maxTouched, n)
		}
	}
}

// Touched lists what GitHub does: no more than 3,000 files.
func (h onGitHub) Touched(ctx context.Context, repo string, number int) (out limit.List[string], err error) {
	files := 0
	for page, err := range pages[[]changed](ctx, h.GitHub, h.access, repoPath(repo)+"/pulls/"+strconv.Itoa(number)+"/files", url.Values{}) {
		if err != nil {
			return out, err
		}
		for _, f := range page {
			files++
			addNames(&out, f.Filename, f.Previous)
		}
	}
	out.Cut = out.Cut || files >= maxTouched
	return out, nil
}

// Touched lists the files of a merge request.
func (h onGitLab) Touched(ctx context.Context, repo string, number int) (out limit.List[string], err error) {
	for page := "1"; page != "" && !out.Cut; {
		var diffs []gitlabDiff
		header, err := h.call(ctx, h.access, http.MethodGet, project(repo)+"/merge_requests/"+strconv.Itoa(number)+"/diffs",
			url.Values{"per_page": {"100"}, "page": {page}}, nil, &diffs)
		if err != nil {
			return out, err
		}
		for _, d := range diffs {
			old := d.OldPath
			if old == d.NewPath {
				old = ""
			}
			addNames(&out, d.NewPath, old)
		}
		page = header.Get("X-Next-Page")
	}
	return out, nil
}
