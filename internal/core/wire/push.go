package wire

import "github.com/svc-hq/svc/internal/core/coord"

// CheckPush asks whether commits may arrive on a branch of a git server.
type CheckPush struct {
	Repo   string   `json:"repo" minLength:"1" maxLength:"500" form:"repo" doc:"Name, id or remote of the repository"`
	Branch string   `json:"branch,omitempty" maxLength:"255" doc:"That is pushed to"`
	Pusher string   `json:"pusher,omitempty" maxLength:"320" doc:"Email or name of the member who pushes, as the git server has authenticated them"`
	Emails []string `json:"emails,omitempty" maxItems:"50" itemMaxLength:"320" doc:"Of the commits, where no pusher is known. Anybody can write any address into a commit"`
	Paths  []string `json:"paths" maxItems:"5000" itemMinLength:"1" itemMaxLength:"1024" form:"path" doc:"Files that the commits change, under their old and new names"`
	More   bool     `json:"more,omitempty" doc:"They change others as well, that are not listed: what anybody holds there counts as hit"`
}

// PushChecked is the answer.
type PushChecked struct {
	Decision Decision   `json:"decision"`
	Reason   string     `json:"reason" peer:"clean" doc:"Whose claims the commits meet and whom to ask"`
	Held     []PushHold `json:"held"`
}

// A PushHold is an exclusive claim that commits meet.
type PushHold struct {
	Intent *coord.IntentName `json:"intent" doc:"Null for a session without an intent"`
	Holder coord.User        `json:"holder"`
	Paths  []string          `json:"paths"`
	Untold bool              `json:"untold" doc:"The edit was made while the claim stood against it, and no hook had checked it"`
	Text   string            `json:"text" peer:"clean"`
}
