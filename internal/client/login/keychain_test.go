package login

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestTheKeychainHoldsTheTokenInPlaceOfTheFile(t *testing.T) {
	keyring.MockInit() // the library's stand-in for the operating system
	s := Store{Dir: t.TempDir() + "/svc"}
	token := "svc_" + strings.Repeat("k", 43)
	if err := s.Save(Config{Server: "https://svc.example", Token: token, Keychain: true}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(s.Path()); err != nil || strings.Contains(string(data), "svc_") {
		t.Errorf("the file holds %s, %v", data, err)
	}
	c, err := s.Load()
	if err != nil || c.Token != token || !c.Keychain {
		t.Fatalf("loaded %+v, %v", c, err)
	}
	// Another login without the keychain takes the token out of it.
	again := Config{Server: "https://svc.example", Token: "svc_" + strings.Repeat("f", 43), MachineID: c.MachineID}
	if err := s.Save(again); err != nil {
		t.Fatal(err)
	}
	if _, err := keyring.Get(keychainService, keychainAccount(c)); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("the keychain still has it: %v", err)
	}
	if c, err := s.Load(); err != nil || c.Token != again.Token || c.Keychain {
		t.Errorf("loaded %+v, %v", c, err)
	}
	// And so does a logout.
	if err := s.Save(Config{Server: "https://svc.example", Token: token, Keychain: true, MachineID: c.MachineID}); err != nil {
		t.Fatal(err)
	}
	if had, err := s.Forget(); err != nil || !had {
		t.Errorf("forgot %v, %v", had, err)
	}
	if _, err := keyring.Get(keychainService, keychainAccount(c)); !errors.Is(err, keyring.ErrNotFound) {
		t.Errorf("after a logout the keychain still has it: %v", err)
	}
	if c, err := s.Load(); err != nil || c.Token != "" || c.Keychain {
		t.Errorf("after a logout: %+v, %v", c, err)
	}
}

func TestAKeychainThatForgotTheTokenIsSaid(t *testing.T) {
	keyring.MockInit()
	s := Store{Dir: t.TempDir() + "/svc"}
	c := Config{Server: "https://svc.example", Token: "svc_" + strings.Repeat("k", 43), MachineID: "m", Keychain: true}
	if err := s.Save(c); err != nil {
		t.Fatal(err)
	}
	if err := keyring.Delete(keychainService, keychainAccount(c)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(); err == nil || !strings.Contains(err.Error(), "svc login --keychain") {
		t.Errorf("err = %v", err)
	}
	keyring.MockInitWithError(errors.New("locked"))
	if _, err := s.Load(); err == nil || !strings.Contains(err.Error(), "locked") || !strings.Contains(err.Error(), "svc login") {
		t.Errorf("err = %v", err)
	}
	if err := s.Save(Config{
		Server:   "https://svc.example",
		Token:    c.Token,
		Keychain: true,
	}); err == nil || !strings.Contains(err.Error(), "without --keychain") {
		t.Errorf("err = %v", err)
	}
}
