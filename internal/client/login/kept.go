package login

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
)

// The login is kept twice. One that goes away without svc logout, or turns into
// another one without svc login, was changed by something else: an agent that
// wants to be rid of svc needs one line for it. It is put back, and told.

const (
	configCopy = "config.json.bak"
	configLock = "config.lock"
	lockWait   = 500 * time.Millisecond
)

// loggedIn reports whether a config holds a login.
func (c Config) loggedIn() bool { return c.Token != "" || c.Keychain }

// sameLogin reports whether two configs are of one login.
func (c Config) sameLogin(o Config) bool {
	return c.Server == o.Server && c.Token == o.Token && c.Keychain == o.Keychain && c.MachineID == o.MachineID
}

// kept returns what svc itself wrote last, if that was a login.
func (s Store) kept() (c Config, ok bool) {
	data, err := plain.ReadHere(filepath.Join(s.Dir, configCopy), plain.State)
	if err == nil {
		c, err = parse(data)
	}
	return c, err == nil && c.loggedIn()
}

// restore puts the login back that the file does not hold any more.
func (s Store) restore(now Config) Config {
	if was, ok := s.kept(); !ok || was.sameLogin(now) {
		return now
	}
	lock, ok := plain.LockWithin(filepath.Join(s.Dir, configLock), lockWait)
	if !ok {
		return now
	}
	defer lock.Close()
	was, ok := s.kept() // a login that was just under way is done
	again, err := s.readFile()
	if !ok || err != nil || was.sameLogin(again) || s.writeConfig(configName, was) != nil {
		return again
	}
	if s.Told != nil {
		s.Told(s.Path() + " was changed by something other than svc and has been restored, so that edits are checked as before. " +
			"To log out, run svc logout.")
	}
	return was
}

// writeConfig writes a config whole.
func (s Store) writeConfig(name string, c Config) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return s.WriteFile(name, append(data, '\n'))
}
