package wire

import "github.com/svc-hq/svc/internal/core/coord"

// CreateRepo registers a repository.
type CreateRepo struct {
	FullName      string         `json:"full_name" minLength:"1" maxLength:"300" doc:"owner/name"`
	Provider      coord.Provider `json:"provider" default:"github"`
	DefaultBranch string         `json:"default_branch" default:"main" minLength:"1" maxLength:"255"`
	Remotes       []string       `json:"remotes" maxItems:"20" itemMinLength:"1" itemMaxLength:"500" doc:"Remote URLs or fingerprints; default the provider's address of full_name"`
}

// CreateProject links repositories.
type CreateProject struct {
	Name  string   `json:"name" minLength:"1" maxLength:"100"`
	Repos []string `json:"repos" maxItems:"200" itemMinLength:"1" itemMaxLength:"500" doc:"Repo selectors: owner/name or a remote fingerprint"`
}

// AddProjectRepos puts repositories into a project.
type AddProjectRepos struct {
	ID    string   `path:"id"`
	Repos []string `json:"repos" required:"true" minItems:"1" maxItems:"200" itemMinLength:"1" itemMaxLength:"500"`
}

// ProjectRepo names a repository in a project.
type ProjectRepo struct {
	ID   string `path:"id"`
	Repo string `path:"repo"`
}
