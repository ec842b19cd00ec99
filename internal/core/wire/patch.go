package wire

// Bounds of what machines hand each other.
const (
	MaxPatch      = 256 << 10
	MaxPatchFiles = 50
)

// ExchangePatches hands over the difference of a working copy's files from a
// commit that others have, and asks for that of related work.
type ExchangePatches struct {
	Repo string   `json:"repo" minLength:"1" maxLength:"500" form:"repo"`
	Copy string   `json:"copy" minLength:"1" maxLength:"64" doc:"Keyed hash of the working copy's path, as hook events have it"`
	Base string   `json:"base" maxLength:"64" doc:"The commit of the default branch that the difference is from"`
	Diff string   `json:"diff" maxLength:"262144" doc:"As git diff --binary writes it; empty if there is nothing that others do not have"`
	Of   []string `json:"of" maxItems:"5" itemMinLength:"1" itemMaxLength:"64" doc:"Working copies whose difference is wanted, as merge_checks named them"`
}

// Patches are the differences that were asked for, as far as they are there and
// the work is still related to the caller's.
type Patches struct {
	Allowed bool    `json:"allowed" doc:"The policy share_patches lets members' machines hand each other work; where not, nothing was kept"`
	Patches []Patch `json:"patches"`
}

// A Patch is what a working copy has that nobody else has.
type Patch struct {
	Copy string `json:"copy"`
	Base string `json:"base" doc:"The commit that it is to be applied to"`
	Diff string `json:"diff"`
}
