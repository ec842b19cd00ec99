package coord

// A Provider is where a repository is hosted.
type Provider string

const (
	GitHub    Provider = "github"
	GitLab    Provider = "gitlab"
	Bitbucket Provider = "bitbucket"
	Generic   Provider = "generic"
)

// Enum lists the values for validation and the API document.
func (Provider) Enum() []string {
	return enum([]Provider{GitHub, GitLab, Bitbucket, Generic})
}

// A Repo is a repository the service knows.
type Repo struct {
	ID            string   `json:"id"`
	FullName      string   `json:"full_name"`
	Provider      Provider `json:"provider"`
	DefaultBranch string   `json:"default_branch"`
	Remotes       []string `json:"remotes"`
	IndexVersion  int      `json:"index_version"`
	CreatedAt     Time     `json:"created_at"`

	HostID      *string    `json:"host_id" doc:"Its number at its host, which stays through renames: <host>#<number>"`
	FormerNames []string   `json:"former_names" doc:"Names it had before; they still lead to it"`
	SameAs      []RepoName `json:"same_as" doc:"Other records that are, or look like, the same repository; an admin merges them or keeps them apart"`
	ArchivedAt  *Time      `json:"archived_at" doc:"Since when nothing in it is watched"`
	RemovedAt   *Time      `json:"-"` // what happened in it is still told
}

// A RepoName is a repo where another record mentions it.
type RepoName struct {
	ID       string `json:"id"`
	FullName string `json:"full_name" peer:"line"`
}

// A Project is a set of repos whose contracts are checked against each other.
type Project struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Repos     []RepoName `json:"repos"`
	Prefixes  []Prefix   `json:"prefixes" doc:"What people say stands before routes of one repository as another calls them"`
	CreatedAt Time       `json:"created_at"`
	UpdatedAt Time       `json:"updated_at"`
}

// A Prefix is what stands before the routes of one repository as the other
// calls them, or the other way round, such as the path of a gateway.
type Prefix struct {
	Repo   RepoName `json:"repo"`
	Other  RepoName `json:"other"`
	Prefix string   `json:"prefix" peer:"line"`
}
