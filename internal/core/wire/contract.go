package wire

import "github.com/svc-hq/svc/internal/core/coord"

// LookUpContract asks what is known of a contract.
type LookUpContract struct {
	Key       *string `json:"key" query:"key" minLength:"1" maxLength:"1024" form:"lookup" doc:"A contract key, or a route such as GET /users/{id}"`
	Symbol    *string `json:"symbol" query:"symbol" minLength:"1" maxLength:"1024" form:"lookup" doc:"sym:<lang>:<path>#<name> or <path>#<name>"`
	Path      *string `json:"path" query:"path" minLength:"1" maxLength:"1024" form:"file or route" doc:"A file, or a route if it starts with /"`
	SessionID *string `json:"session_id" query:"session_id" format:"uuid"`
	Repo      *string `json:"repo" query:"repo" maxLength:"500" form:"repo or empty"`
}

// A ContractPicture is what is known of one or more contracts.
type ContractPicture struct {
	Repo      coord.RepoName   `json:"repo"`
	Contracts []ContractRecord `json:"contracts"`
	// Limits says what the index cannot know.
	Limits []string `json:"limits" peer:"clean" doc:"What this answer cannot know"`
}

// A ContractRecord is one contract: who provides it, who uses it, who is
// changing it.
type ContractRecord struct {
	Key           string           `json:"key" peer:"line"`
	Signature     *string          `json:"signature" peer:"line"`
	SignatureHash *string          `json:"signature_hash" peer:"line"`
	Providers     []ContractPlace  `json:"providers"`
	Users         []ContractUse    `json:"users"`
	Criticality   Criticality      `json:"criticality"`
	InFlight      []ContractChange `json:"in_flight" doc:"Changes that are being made right now"`
}

// A ContractPlace is where a contract is provided or used.
type ContractPlace struct {
	Repo coord.RepoName `json:"repo"`
	Path string         `json:"path" peer:"line"`
	Line int            `json:"line"`
}

// A ContractUse is where a contract is used, and how that place stands to what
// becomes of it. A hook and a conflict go by the same.
type ContractUse struct {
	Repo     coord.RepoName    `json:"repo"`
	Path     string            `json:"path" peer:"line"`
	Line     int               `json:"line"`
	State    coord.UseState    `json:"state" doc:"fails, may_fail or fits where a change of the contract breaks those who use it; moving where work on the file leaves the old form; moved where merged work of the last two weeks left it"`
	Probable bool              `json:"probable" doc:"Found by a text alone, or by a route that differs in what stands before it"`
	Apart    bool              `json:"apart" doc:"No project links its repo with one that provides the contract, so it is not checked"`
	Owner    *coord.User       `json:"owner" doc:"Who is at work on the file, else who changed the line last; null if that is not known"`
	By       *coord.User       `json:"by" doc:"Who moves it off the old form, or moved it; null otherwise, as are the next three"`
	Intent   *coord.IntentName `json:"intent"`
	Branch   *string           `json:"branch" peer:"line"`
	Since    *coord.Time       `json:"since"`
}

// Criticality tells how much hangs on a contract.
type Criticality struct {
	Level     string      `json:"level" enum:"unused,low,medium,high"`
	Users     int         `json:"users"`
	Repos     int         `json:"repos"`
	Changes   int         `json:"changes" doc:"How often its signature changed"`
	ChangedBy *coord.User `json:"changed_by"`
}

// A ContractChange is a change of a contract in flight.
type ContractChange struct {
	Repo          coord.RepoName      `json:"repo"`
	Path          string              `json:"path" peer:"line"`
	By            *coord.User         `json:"by"`
	Intent        *coord.IntentName   `json:"intent"`
	Branch        *string             `json:"branch" peer:"line"`
	Role          coord.ContractRole  `json:"role"`
	Change        coord.Change        `json:"change"`
	Compatibility coord.Compatibility `json:"compatibility"`
	Before        *string             `json:"before" peer:"line"`
	After         *string             `json:"after" peer:"line"`
	Detail        *string             `json:"detail" peer:"detail"`
	Since         coord.Time          `json:"since"`
}

// ListContracts asks for a repo's contracts.
type ListContracts struct {
	List
	Repo string             `query:"repo" maxLength:"500" form:"repo or empty"`
	Role coord.ContractRole `query:"role"`
}

// IndexFiles feeds a repo's contract index: what files provide and use, as the
// default branch has them.
type IndexFiles struct {
	Repo     string        `path:"repo"`
	Files    []IndexedFile `json:"files" maxItems:"500"`
	Removed  []string      `json:"removed" maxItems:"500" itemMaxLength:"1024" doc:"Files that are gone"`
	Complete bool          `json:"complete" doc:"The scan reached its end"`
}

// An IndexedFile is what one file provides and uses.
type IndexedFile struct {
	Path      string                `json:"path" minLength:"1" maxLength:"1024" form:"file"`
	Language  string                `json:"language,omitempty" maxLength:"40"`
	Contracts []coord.ContractFacts `json:"contracts" maxItems:"2000"`
	Unread    int                   `json:"unread,omitempty" minimum:"0" maximum:"100000" doc:"Places that look like a route or a call of one but could not be read"`
	Cut       int                   `json:"cut,omitempty" minimum:"0" maximum:"100000" doc:"Contracts that were left out because there are too many in one file"`
	// Candidates are texts in the shape of a path.
	Candidates []coord.Candidate `json:"candidates,omitempty" maxItems:"500" doc:"Texts in the shape of a path, as hashes: which of them are uses is found where routes are known"`
	Names      []string          `json:"names,omitempty" maxItems:"400" itemMaxLength:"20" doc:"Names of data in it: 8 hexadecimal digits of a hash, where it stands (m a member, o a type, r what is read; a capital in a file that a tool wrote) and the line"`
	Authors    []LineAuthor      `json:"authors,omitempty" maxItems:"2000" doc:"Who changed lines last on which it uses something, for as many as are known"`
}

// A LineAuthor is who changed a line last. Only a member is kept of it.
type LineAuthor struct {
	Line   int    `json:"line" minimum:"1"`
	Author string `json:"author" minLength:"64" maxLength:"64" doc:"SHA-256 of the address in lower case, as hex"`
}

// Gaps are what is not known of a repo's contracts, as far as that is known.
type Gaps struct {
	Unread int       `json:"unread" doc:"Places that look like a route or a call of one but could not be read"`
	Cut    int       `json:"cut" doc:"Contracts that were left out because there are too many in one file"`
	Files  []FileGap `json:"files" doc:"Where most of them are, at most twenty files"`
}

// A FileGap is what is not known of one file.
type FileGap struct {
	Path   string `json:"path" peer:"line"`
	Unread int    `json:"unread"`
	Cut    int    `json:"cut"`
}

// Indexed is the index after it was fed.
type Indexed struct {
	IndexVersion int `json:"index_version"`
	Files        int `json:"files"`
	Contracts    int `json:"contracts"`
}
