package wire

// EdgeTree is the door of the local service at which hooks ask what changed in a
// working copy. It takes a TreeQuery, with the service's token, and answers
// TreeChanges.
const EdgeTree = "/edge/tree"

// MaxTreePaths is how many paths an answer has: of more, git is to be asked.
const MaxTreePaths = 500

// A TreeQuery asks what changed in a working copy since an answer before.
type TreeQuery struct {
	Root  string   `json:"root"`
	Since string   `json:"since,omitempty"` // token of that answer
	Skip  []string `json:"skip,omitempty"`  // folders below root that git ignores, with slashes
}

// TreeChanges are the files and folders of a working copy that may have changed.
// Unless Known, anything may. Without a token nobody watches, yet or at all.
type TreeChanges struct {
	Token string   `json:"token,omitempty"`
	Known bool     `json:"known"`
	Paths []string `json:"paths,omitempty"` // below root, with slashes
}
