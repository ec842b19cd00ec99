package wire

// Health tells that the process runs.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// Ready tells whether the service can do its work.
type Ready struct {
	Status string           `json:"status" enum:"ready,unavailable"`
	Checks map[string]Check `json:"checks"`
}

// A Check is one thing that readiness needs.
type Check struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	MS     int    `json:"ms"`
}
