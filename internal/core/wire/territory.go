package wire

// GetTerritory asks where in a repo work happened of late.
type GetTerritory struct {
	Repo string `query:"repo" required:"true" minLength:"1" maxLength:"500" form:"repo"`
	Days int    `query:"days" minimum:"1" maximum:"90" default:"30"`
}

// A Territory is where in a repo work happened, the busiest places first.
type Territory struct {
	Items []Spot `json:"items"`
}

// A Spot is a file, a folder or a glob of a repo.
type Spot struct {
	Path     string `json:"path"`
	Touched  int    `json:"touched" doc:"Intents that claimed or changed it"`
	Collided int    `json:"collided" doc:"Conflicts there that warned or blocked"`
}
