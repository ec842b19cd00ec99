package wire

import "github.com/svc-hq/svc/internal/core/coord"

// CreateRepo registers a repository.
type CreateRepo struct {
	FullName      string         `json:"full_name" minLength:"3" maxLength:"300" pattern:"^([.]{0,2}[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|[.]{3}[A-Za-z0-9_.~-]*)(/([.]{0,2}[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|[.]{3}[A-Za-z0-9_.~-]*))+$" example:"acme/shop" doc:"owner/name"`
	Provider      coord.Provider `json:"provider" default:"github"`
	DefaultBranch string         `json:"default_branch" default:"main" minLength:"1" maxLength:"255" format:"name"`
	Remotes       []string       `json:"remotes" maxItems:"20" itemMinLength:"1" itemMaxLength:"500" form:"remote" doc:"Remote URLs or fingerprints; default the provider's address of full_name"`
}

// PatchRepo changes what is known of a repository. What is left out stays.
type PatchRepo struct {
	Repo          string    `path:"repo"`
	FullName      *string   `json:"full_name,omitempty" minLength:"3" maxLength:"300" pattern:"^([.]{0,2}[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|[.]{3}[A-Za-z0-9_.~-]*)(/([.]{0,2}[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|[.]{3}[A-Za-z0-9_.~-]*))+$" example:"acme/shop" doc:"Its new name, owner/name; the old one still leads to it"`
	DefaultBranch *string   `json:"default_branch,omitempty" minLength:"1" maxLength:"255" format:"name"`
	Archived      *bool     `json:"archived,omitempty" doc:"true: nothing in it is watched any more, and it does not count for the plan"`
	Remotes       *[]string `json:"remotes,omitempty" maxItems:"20" itemMinLength:"1" itemMaxLength:"500" form:"remote" doc:"All its remotes, in place of those that are known"`
}

// NamedRepo names a repository in a path: its id, or owner/name escaped.
type NamedRepo struct {
	Repo string `path:"repo"`
}

// MergeRepo says into which record another is merged.
type MergeRepo struct {
	Repo     string  `path:"repo"`
	Into     string  `json:"into" minLength:"1" maxLength:"500" form:"repo" doc:"The record that stays: its id, owner/name or a remote"`
	FullName *string `json:"full_name,omitempty" minLength:"3" maxLength:"300" pattern:"^([.]{0,2}[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|[.]{3}[A-Za-z0-9_.~-]*)(/([.]{0,2}[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|[.]{3}[A-Za-z0-9_.~-]*))+$" example:"acme/shop" doc:"What it is called from now on; default its own name"`
}

// KeepRepoApart says which record is another repository than this one.
type KeepRepoApart struct {
	Repo  string `path:"repo"`
	Other string `json:"other" minLength:"1" maxLength:"500" form:"repo" doc:"Its id, owner/name or a remote"`
}

// CreateProject links repositories.
type CreateProject struct {
	Name  string   `json:"name" minLength:"1" maxLength:"100" format:"name"`
	Repos []string `json:"repos" maxItems:"200" itemMinLength:"1" itemMaxLength:"500" form:"repo" doc:"Repo selectors: owner/name or a remote fingerprint"`
}

// AddProjectRepos puts repositories into a project.
type AddProjectRepos struct {
	ID    string   `path:"id"`
	Repos []string `json:"repos" required:"true" minItems:"1" maxItems:"200" itemMinLength:"1" itemMaxLength:"500" form:"repo"`
}

// SetProjectPrefixes says which prefixes routes have between repositories of a
// project, in place of what was said before.
type SetProjectPrefixes struct {
	ID       string          `path:"id"`
	Prefixes []ProjectPrefix `json:"prefixes" required:"true" maxItems:"200"`
}

// A ProjectPrefix is a prefix that routes have between two repositories.
type ProjectPrefix struct {
	Repo   string `json:"repo" required:"true" minLength:"1" maxLength:"500" form:"repo" doc:"A repo selector: owner/name or a remote fingerprint"`
	Other  string `json:"other" required:"true" minLength:"1" maxLength:"500" form:"repo" doc:"Another; the two may stand in any order"`
	Prefix string `json:"prefix" required:"true" minLength:"2" maxLength:"200" example:"/api/v1" doc:"A path such as /api/v1 that one side has before its routes and the other has not"`
}

// ProjectRepo names a repository in a project.
type ProjectRepo struct {
	ID   string `path:"id"`
	Repo string `path:"repo"`
}
