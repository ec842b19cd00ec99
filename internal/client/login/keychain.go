package login

import (
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// The operating system's keychain (macOS Keychain, Windows Credential Manager,
// the Secret Service of a Linux desktop) keeps the token for those who want
// it there; the config file then only says so. It is not the default: every
// hook needs the token, and a keychain may be locked or not there at all.

// keychainService is the name under which the keychain shows our entries.
const keychainService = "svc"

// keychainPatience is how long a command waits for the keychain, which may be
// asking its user for a password.
const keychainPatience = 20 * time.Second

// keychainAccount tells the entries of several config folders apart.
func keychainAccount(c Config) string { return c.Server + " " + c.MachineID }

func (s Store) fromKeychain(c Config) (string, error) {
	type answer struct {
		token string
		err   error
	}
	got := make(chan answer, 1)
	go func() {
		token, err := keyring.Get(keychainService, keychainAccount(c))
		got <- answer{token, err}
	}()
	patience := s.Patience
	if patience == 0 {
		patience = keychainPatience
	}
	select {
	case a := <-got:
		if errors.Is(a.err, keyring.ErrNotFound) {
			return "", errors.New("the keychain no longer holds the token; run svc login --keychain")
		}
		if a.err != nil {
			return "", fmt.Errorf("the keychain, which holds the token, does not answer (%w); unlock it, or run svc login to keep the "+
				"token in a file", a.err)
		}
		return a.token, nil
	case <-time.After(patience):
		return "", errors.New("the keychain, which holds the token, does not answer in time; unlock it, or run svc login to keep the " +
			"token in a file")
	}
}

func toKeychain(c Config) error {
	if err := keyring.Set(keychainService, keychainAccount(c), c.Token); err != nil {
		return fmt.Errorf("no keychain takes the token (%w); log in without --keychain to keep it in a file that only you can read", err)
	}
	return nil
}

// leaveKeychain removes what an earlier login put there.
func leaveKeychain(c Config) error {
	err := keyring.Delete(keychainService, keychainAccount(c))
	if errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}
