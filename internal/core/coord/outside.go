package coord

import "strconv"

// Outside is what is known of work whose people or agents do not use svc: a
// pull request of the git host, or a branch that was pushed there. Nobody
// declared anything there, and nobody hears of anything.
type Outside struct {
	Provider Provider `json:"provider"`
	Number   *int     `json:"number" doc:"Of the pull or merge request; null for a branch that was only pushed"`
	URL      string   `json:"url" peer:"line"`
	Author   string   `json:"author" peer:"person" doc:"Who wrote it, as the git host names them"`
	Fork     bool     `json:"fork,omitempty" doc:"The branch is in another repository"`
}

// Name is what people call it, but for the branch's own name.
func (o Outside) Name() string {
	switch {
	case o.Number == nil:
		return "a pushed branch"
	case o.Provider == GitLab:
		return "merge request !" + strconv.Itoa(*o.Number)
	}
	return "pull request #" + strconv.Itoa(*o.Number)
}
