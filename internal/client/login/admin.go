package login

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// adminName is the file of a login with more rights. It is not the config file,
// which hooks and svc mcp read.
const adminName = "admin.json"

// An Admin is a login that may do what a person's other one may not, for a few
// minutes.
type Admin struct {
	Server string    `json:"server"`
	Token  string    `json:"token"`
	Until  time.Time `json:"until"`
}

// SaveAdmin keeps such a login.
func (s Store) SaveAdmin(a Admin) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return s.WriteFile(adminName, data)
}

// LoadAdmin returns the one for a server, unless its time is over.
func (s Store) LoadAdmin(server string, now time.Time) (a Admin, ok bool) {
	data, err := s.ReadFile(adminName)
	if err != nil || json.Unmarshal(data, &a) != nil {
		return Admin{}, false
	}
	return a, sameServer(a.Server, server) && now.Before(a.Until) && ValidToken(a.Token)
}

// ForgetAdmin removes it.
func (s Store) ForgetAdmin() { _ = os.Remove(filepath.Join(s.Dir, adminName)) }
