package wire

import "github.com/svc-hq/svc/internal/core/coord"

// ListBranches asks for work of people who do not use svc.
type ListBranches struct {
	List
	Repo string `query:"repo" maxLength:"500" form:"repo or empty"`
}

// A Branch is work of people who do not use svc, as their git host shows it: an
// open pull request, or a branch that was pushed.
type Branch struct {
	ID       string         `json:"id"`
	Repo     coord.RepoName `json:"repo"`
	Branch   string         `json:"branch" peer:"line"`
	Base     string         `json:"base" peer:"line" doc:"The branch that it is to land on"`
	Outside  coord.Outside  `json:"outside"`
	User     *coord.User    `json:"user" doc:"The member who wrote it, if it is one; who that is is told nothing of it"`
	Files    int            `json:"files" doc:"Whose changed lines are known"`
	Cut      bool           `json:"cut" doc:"It changes more files than are looked at"`
	Since    coord.Time     `json:"since"`
	PushedAt coord.Time     `json:"pushed_at"`
}
