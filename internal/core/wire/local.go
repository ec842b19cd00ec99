package wire

// What svc and the local service of one person say to each other beside the
// API: files in the service's folder, and three doors that no other has.

const (
	LocalLock    = "lock"         // held while the service runs
	LocalAddress = "address.json" // a LocalService, while it runs
	LocalToken   = "owner-token"
	LocalOff     = "off" // there after svc down: hooks start nothing

	LocalStopPath   = "/local/stop"
	LocalTicketPath = "/local/ticket"
	LocalEnterPath  = "/local/enter"
)

// LocalService says where the local service is.
type LocalService struct {
	Server  string `json:"server"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
}

// LocalTicket lets one browser in, once.
type LocalTicket struct {
	Ticket string `json:"ticket"`
}
