package hook

import (
	"context"
	"errors"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// The service asks for how the lines of two versions of a file go together,
// where work on both is to be compared. It is told with the next report: the
// agent does not wait for a second round.

// keepWants remembers what an answer asked for.
func (r *runner) keepWants(root string, wants []wire.WantedMap) {
	var asked []string
	for _, w := range wants {
		if !strings.ContainsAny(w.Ours+w.Theirs, " \n") {
			asked = append(asked, w.Ours+" "+w.Theirs)
		}
	}
	if len(asked) > 0 {
		r.spool.Put(wantsName(root), strings.Join(asked, "\n"))
	}
}

func wantsName(root string) string { return "wants-" + spool.Hash(root)[:24] }

// lineMaps returns what was asked for, as far as this repository has both
// versions. What it does not have is not looked for again in this session.
func (r *runner) lineMaps(ctx context.Context, root string) []coord.LineMap {
	asked := r.spool.Take(wantsName(root))
	if asked == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(statusTimeout))
	defer cancel()
	var out []coord.LineMap
	for pair := range strings.Lines(asked) {
		ours, theirs, ok := strings.Cut(strings.TrimSpace(pair), " ")
		missing := "nomap-" + spool.Hash(root, ours, theirs)[:24]
		if !ok || len(out) == maxLineMaps || r.spool.Has(missing) {
			continue
		}
		m, err := lines.Map(ctx, root, theirs, ours)
		if err != nil || len(m.Shifts) > coord.MaxAnalysisHunks {
			if !errors.Is(err, odb.ErrMissing) {
				r.log(err)
			}
			r.spool.Put(missing, "")
			continue
		}
		out = append(out, m)
	}
	return out
}

// maxLineMaps is how many the service takes at a time.
const maxLineMaps = 20
